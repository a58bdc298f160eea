"""Reductions, scans, tiles and random numbers as built C++."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cpp_build import ISAS, build, call, emit, from_bf16, kernel

from minductor.dialects.scalar.philox import philox_array, philox_words, random_array

WORDS = {
    "16_4": "<lanes 16, unroll 4, tail mask>",
    "8_2": "<lanes 8, unroll 2, tail scalar>",
    "1_1": "",
    "1_4": "<unroll 4>",
}
TYPES = "f32, i64, f32, i64, f32, f32, f32, f32, f32, f32, f32, i1, i1, i32"


def all_kinds(name: str, words: str) -> str:
    """Every kind of reduction in one loop."""
    return kernel(
        f"red_{name}",
        "read x f32[s0 * s1], read y i32[s0 * s1], write o f32[s0 * 8], write i i64[s0 * 4]",
        f"""kernel.parallel d0 : s0 {{
        %v, %j, %v2, %j2, %mean, %m2, %n, %mx, %se, %pr, %mn, %an, %al, %xo =
          kernel.reduce d1 : s1 {words}
          [argmax, argmin, welford, max_sumexp, mul, min, any, all, xor] -> {TYPES} {{
            %a = kernel.load %x[s1 * d0 + d1] : f32
            %k = scalar.index d1 : i64
            %k2 = scalar.index s1 * d0 + d1 : i64
            %b = kernel.load %y[s1 * d0 + d1] : i32
            %z = scalar.constant 0 : i32
            %c = scalar.gt %b, %z : i32
            %h = scalar.constant 0.01 : f32
            %ah = scalar.mul %a, %h : f32
            %on = scalar.constant 1.0 : f32
            %f = scalar.add %ah, %on : f32
            kernel.yield %a, %k, %a, %k2, %a, %a, %f, %a, %c, %c, %b
              : f32, i64, f32, i64, f32, f32, f32, f32, i1, i1, i32 }}
        kernel.store %v, %o[8 * d0]       kernel.store %v2, %o[8 * d0 + 1]
        kernel.store %mean, %o[8 * d0 + 2] kernel.store %m2, %o[8 * d0 + 3]
        kernel.store %n, %o[8 * d0 + 4]   kernel.store %mx, %o[8 * d0 + 5]
        kernel.store %se, %o[8 * d0 + 6]  kernel.store %pr, %o[8 * d0 + 7]
        kernel.store %j, %i[4 * d0]       kernel.store %j2, %i[4 * d0 + 1]
        %xx = scalar.cast %xo : i32 to i64
        kernel.store %xx, %i[4 * d0 + 2]
        %aa = scalar.cast %an : i1 to i64
        %bb = scalar.cast %al : i1 to i64
        %two = scalar.constant 2 : i64
        %a2 = scalar.mul %aa, %two : i64
        %ab = scalar.add %a2, %bb : i64
        kernel.store %ab, %i[4 * d0 + 3] }}""",
        "s0, s1",
    )


def scan(name: str, words: str) -> str:
    """Running sum, maximum with index, and log of the running sum of exponentials."""
    return kernel(
        f"scan_{name}",
        "read x f32[s0 * s1], write o f32[s0 * s1], write v f32[s0 * s1], write i i64[s0 * s1], "
        "write l f32[s0 * s1]",
        f"""kernel.parallel d0 : s0 {{ kernel.scan d1 : s1 {words} [add, cummax, logaddexp] {{
          %a = kernel.load %x[s1 * d0 + d1] : f32
          %k = scalar.index d1 : i64
          kernel.yield %a, %a, %k, %a : f32, f32, i64, f32
        }} do (%p : f32, %m : f32, %j : i64, %q : f32) {{
          kernel.store %p, %o[s1 * d0 + d1]
          kernel.store %m, %v[s1 * d0 + d1]
          kernel.store %j, %i[s1 * d0 + d1]
          kernel.store %q, %l[s1 * d0 + d1] }} }}""",
        "s0, s1",
    )


WALL = kernel(
    "wall",
    "read x f32[s0], write o f32[s0], write r f32[1]",
    """%s, %j = kernel.reduce d0 : s0 <run threads, lanes 16, unroll 4, tail mask>
      [add, max] -> f32, f32 {
      %a = kernel.load %x[d0] : f32
      %b = scalar.sin %a : f32
      kernel.yield %b, %a : f32, f32 }
    kernel.barrier
    %half = scalar.constant 0.5 : f32
    %sh = scalar.mul %s, %half : f32
    kernel.store %j, %r[0]
    kernel.parallel d0 : s0 <run threads, lanes 16, unroll 4, tail mask> {
      %a = kernel.load %x[d0] : f32
      %b = scalar.sin %a : f32
      %c = scalar.add %b, %sh : f32
      kernel.store %c, %o[d0] }""",
    "s0",
)
TILE = kernel(
    "tile",
    "read x f32[s0 * s1], write o f32[s0 * s1], write c f32[s0 * s1], write t f32[s0]",
    """kernel.parallel d0 : s0 { kernel.tile d1 : s1 <lanes 64, tail mask> {
      %a = kernel.load %x[s1 * d0 + d1] : f32
      %m = kernel.fold max %a over d1 : f32 -> f32
      %b = scalar.sub %a, %m : f32
      %e = scalar.exp %b : f32
      %s = kernel.fold add %e over d1 : f32 -> f32
      %q = scalar.div %e, %s : f32
      kernel.store %q, %o[s1 * d0 + d1]
      %cc = kernel.cumfold add %a over d1 : f32 -> f32
      kernel.store %cc, %c[s1 * d0 + d1]
      kernel.store %m, %t[d0] } }""",
    "s0, s1",
)
COLUMNS = kernel(
    "columns",
    "read x f32[s0 * s1], write o f32[s1]",
    """kernel.parallel d1 : s1 <run threads, lanes 16, unroll 2, tail mask> {
      %t = kernel.reduce d0 : s0 <unroll 4> [add] -> f32 {
        %a = kernel.load %x[s1 * d0 + d1] : f32
        kernel.yield %a : f32 }
      kernel.store %t, %o[d1] }""",
    "s0, s1",
)
RANDOM = kernel(
    "random",
    "read seed i64[1], write o f32[s0], write p f64[s0], write q f32[s0], write r i64[s0], "
    "write u bf16[s0]",
    """%k = kernel.load %seed[0] : i64
    kernel.parallel d0 : s0 <lanes 16, unroll 2, tail scalar> {
      %a = scalar.random philox %k, 5 * d0 + 7 stream 3 -> f32
      kernel.store %a, %o[d0]
      %b = scalar.random philox %k, d0 stream 3 -> f64
      kernel.store %b, %p[d0]
      %c = scalar.random philox_normal %k, d0 stream 1 -> f32
      kernel.store %c, %q[d0]
      %d = scalar.random philox_bits %k, d0 stream 1 -> i64
      kernel.store %d, %r[d0]
      %e = scalar.random philox %k, d0 stream 3 -> bf16
      kernel.store %e, %u[d0] }""",
    "s0",
)


@pytest.fixture(scope="module", params=ISAS)
def lib(request, tmp_path_factory):
    text = "".join(all_kinds(n, w) for n, w in WORDS.items())
    if request.param == "native":
        text += "".join(scan(n, w) for n, w in WORDS.items() if n != "1_4")
    text += WALL + TILE + COLUMNS + RANDOM
    lib = build(emit(text), tmp_path_factory.mktemp("reduce"), request.param)
    lib.isa = request.param
    return lib


@pytest.mark.parametrize("m", [1, 7, 16, 100, 531])
@pytest.mark.parametrize("name", WORDS)
def test_every_kind(lib, name, m):
    rng = np.random.default_rng(m)
    x = np.round(rng.standard_normal((5, m)) * 4).astype(np.float32) / 2
    y = rng.integers(-5, 3, (5, m)).astype(np.int32)
    y[2], y[3], x[4] = 5, -1, -np.inf
    if m > 20:
        x[1, 17] = x[1, 19] = np.nan
    o, i = np.zeros((5, 8), np.float32), np.zeros((5, 4), np.int64)
    assert call(lib, f"red_{name}", [x, y, o, i], 5, m) == 0
    t = torch.from_numpy(x)
    np.testing.assert_array_equal(i[:, 0], torch.argmax(t, 1).numpy())
    np.testing.assert_array_equal(i[:, 1], torch.argmin(t, 1).numpy() + m * np.arange(5))
    np.testing.assert_array_equal(o[:, 0], x.max(1))
    np.testing.assert_array_equal(o[:, 1], x.min(1))
    np.testing.assert_array_equal(o[:, 5], x.max(1))
    finite = ~np.isinf(x).any(1)
    d, g = x.astype(float)[finite], o[finite]
    np.testing.assert_allclose(g[:, 2], d.mean(1), atol=1e-5)
    square = ((d - d.mean(1, keepdims=True)) ** 2).sum(1)
    np.testing.assert_allclose(g[:, 3], square, rtol=1e-4, atol=1e-4)
    assert (o[:, 4] == m).all()
    sumexp = np.exp(d - d.max(1, keepdims=True)).sum(1)
    np.testing.assert_allclose(g[:, 6], sumexp, rtol=1e-5)
    assert np.isnan(o[~finite, 6]).all()
    np.testing.assert_allclose(g[:, 7], (1 + d * np.float32(0.01)).prod(1), rtol=1e-4)
    np.testing.assert_array_equal(i[:, 2], np.bitwise_xor.reduce(y, 1))
    np.testing.assert_array_equal(i[:, 3], 2 * (y > 0).any(1) + (y > 0).all(1))


@pytest.mark.parametrize("name", [n for n in WORDS if n != "1_4"])
def test_scans(lib, name):
    if lib.isa != "native":
        pytest.skip("built for the native instruction set only")
    rng = np.random.default_rng(7)
    x = np.round(rng.standard_normal((4, 133)) * 3).astype(np.float32)
    x[1, 40] = np.nan
    o, v, l_ = (np.zeros_like(x) for _ in range(3))
    i = np.zeros(x.shape, np.int64)
    assert call(lib, f"scan_{name}", [x, o, v, i, l_], *x.shape) == 0
    t = torch.from_numpy(x)
    values, indices = torch.cummax(t, 1)
    np.testing.assert_allclose(o, np.cumsum(x.astype(float), 1), atol=1e-4)
    np.testing.assert_array_equal(v, values.numpy())
    np.testing.assert_array_equal(i, indices.numpy())
    np.testing.assert_allclose(l_, torch.logcumsumexp(t.double(), 1).numpy(), atol=1e-4)


@pytest.mark.parametrize("m", [0, 1, 5, 63, 1000, 100003])
def test_threaded_total_then_second_stage(lib, m):
    x = np.random.default_rng(8).standard_normal(m).astype(np.float32)
    o, r = np.zeros_like(x), np.zeros(1, np.float32)
    assert call(lib, "wall", [x, o, r], m) == 0
    s = np.sin(x.astype(float))
    np.testing.assert_allclose(o, s + s.sum() / 2, atol=2e-3)
    assert m == 0 or r[0] == x.max()


@pytest.mark.parametrize("m", [1, 5, 16, 33, 64])
def test_tile_folds(lib, m):
    x = np.random.default_rng(9).standard_normal((6, m)).astype(np.float32)
    o, c, top = np.zeros_like(x), np.zeros_like(x), np.zeros(6, np.float32)
    assert call(lib, "tile", [x, o, c, top], 6, m) == 0
    e = np.exp(x - x.max(1, keepdims=True).astype(float))
    np.testing.assert_allclose(o, e / e.sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(c, np.cumsum(x, 1), atol=1e-4)
    np.testing.assert_array_equal(top, x.max(1))


@pytest.mark.parametrize("shape", [(9, 1), (40, 33), (3, 100)])
def test_column_sums(lib, shape):
    x = np.random.default_rng(10).standard_normal(shape).astype(np.float32)
    o = np.zeros(shape[1], np.float32)
    assert call(lib, "columns", [x, o], *shape) == 0
    np.testing.assert_allclose(o, x.astype(float).sum(0), atol=1e-4)


def test_random_equals_the_reference(lib):
    m, seed = 101, np.array([-123456789012345], np.int64)
    o, p, q = np.zeros(m, np.float32), np.zeros(m), np.zeros(m, np.float32)
    r, u = np.zeros(m, np.int64), np.zeros(m, np.uint16)
    assert call(lib, "random", [seed, o, p, q, r, u], m) == 0
    i, s = np.arange(m), int(seed[0])
    np.testing.assert_array_equal(o, random_array("philox", "f32", s, 3, 5 * i + 7))
    np.testing.assert_array_equal(p, random_array("philox", "f64", s, 3, i))
    np.testing.assert_array_equal(r, random_array("philox_bits", "i64", s, 1, i))
    np.testing.assert_allclose(q, random_array("philox_normal", "f32", s, 1, i), atol=1e-5)
    np.testing.assert_array_equal(from_bf16(u), random_array("philox", "bf16", s, 3, i))
    words = tuple(int(v[0]) for v in philox_array(s, 3, np.array([7])))
    assert philox_words(s, 3, 7) == words
    assert o.min() >= 0
    assert o.max() < 1
