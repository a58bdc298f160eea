"""Pointwise kernels as built C++: mixed dtypes, tails, address forms, conditions, scatters."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cpp_build import ISAS, bf16_bits, build, call, emit, from_bf16, kernel

N = 1003


def mixed(name: str, words: str) -> str:
    """Eight dtypes in one loop."""
    return kernel(
        name,
        f"read x bf16[{N}], read m bool[{N}], read k i64[{N}], read q i8[{N}], write o bf16[{N}], "
        f"write p bool[{N}], write r i64[{N}], write h f16[{N}], write d f64[{N}]",
        f"""kernel.parallel d0 : {N} {words} {{
        %a = kernel.load %x[d0] : bf16
        %b = scalar.cast %a : bf16 to f32
        %c = kernel.load %m[d0] : i1
        %z = scalar.constant -1.5 : f32
        %s = scalar.select %c, %b, %z : f32
        %e = scalar.exp %s : f32
        %t = scalar.cast %e : f32 to bf16
        kernel.store %t, %o[d0]
        %one = scalar.constant 1.0 : f32
        %g = scalar.gt %e, %one : f32
        %w = scalar.within d0 in 5 to 800
        %gw = scalar.and %g, %w : i1
        %gc = scalar.xor %gw, %c : i1
        kernel.store %gc, %p[d0]
        %kk = kernel.load %k[d0] : i64
        %i = scalar.index 3 * d0 + 1 : i64
        %ki = scalar.mul %kk, %i : i64
        %qq = kernel.load %q[d0] : i8
        %q2 = scalar.add %qq, %qq : i8
        %q6 = scalar.cast %q2 : i8 to i64
        %kq = scalar.add %ki, %q6 : i64
        kernel.store %kq, %r[d0]
        %hh = scalar.cast %e : f32 to f16
        kernel.store %hh, %h[d0]
        %qf = scalar.cast %q2 : i8 to f64
        %sd = scalar.cast %s : f32 to f64
        %dd = scalar.add %qf, %sd : f64
        kernel.store %dd, %d[d0] }}""",
    )


WORDS = {
    "mask": "<lanes 16, unroll 2, tail mask>",
    "scalar": "<lanes 16, unroll 2, tail scalar>",
    "wide": "<lanes 32, tail mask>",
    "plain": "",
}


@pytest.fixture(scope="module", params=ISAS)
def mixed_lib(request, tmp_path_factory):
    text = "".join(mixed(f"mixed_{name}", words) for name, words in WORDS.items())
    return build(emit(text), tmp_path_factory.mktemp("mixed"), request.param)


@pytest.mark.parametrize("name", WORDS)
def test_mixed_dtypes(mixed_lib, name):
    rng = np.random.default_rng(0)
    x = bf16_bits(rng.standard_normal(N))
    m = rng.integers(0, 2, N).astype(np.uint8)
    k = rng.integers(-(2**40), 2**40, N)
    q = rng.integers(-128, 128, N).astype(np.int8)
    o, p, r = np.zeros(N, np.uint16), np.full(N, 9, np.uint8), np.zeros(N, np.int64)
    h, d = np.zeros(N, np.float16), np.zeros(N)
    assert call(mixed_lib, f"mixed_{name}", [x, m, k, q, o, p, r, h, d]) == 0
    s = np.where(m != 0, from_bf16(x), np.float32(-1.5))
    e, i = np.exp(s.astype(np.float64)), np.arange(N)
    assert np.abs(from_bf16(o) / e - 1).max() < 2.0**-8 + 1e-6
    np.testing.assert_array_equal(p, ((e > 1) & (i >= 5) & (i < 800)) ^ (m != 0))
    q2 = (q + q).astype(np.int8)
    np.testing.assert_array_equal(r, k * (3 * i + 1) + q2)
    assert np.abs(h.astype(float) / e - 1).max() < 2.0**-11 + 1e-6
    np.testing.assert_array_equal(d, q2.astype(float) + s)


PLACES = kernel(
    "places",
    "read x f32[4096], read b f32[64], write o f32[4096], write p f32[4096], write q f32[4096], "
    "write r f32[4096]",
    """kernel.parallel d0 : 4096 <lanes 16, unroll 2, tail none> {
    %a = kernel.load %x[4095 - d0] : f32
    %c = kernel.load %b[d0 mod 64] : f32
    %d = kernel.load %b[d0 floordiv 64] : f32
    %s = scalar.add %a, %c : f32
    %t = scalar.add %s, %d : f32
    kernel.store %t, %o[d0]
    %e = kernel.load %x[64 * (d0 mod 64) + d0 floordiv 64] : f32
    kernel.store %e, %p[d0]
    %f = kernel.load %x[d0 floordiv 3] : f32
    kernel.store %f, %q[4095 - d0]
    kernel.store %a, %r[64 * (d0 mod 64) + d0 floordiv 64] }""",
)
CAT = kernel(
    "cat",
    "read x f32[s0 * 512], read y f32[s0 * 256 + 3], write o f32[s0 * 768], write p f32[s0 * 768]",
    """kernel.parallel d0 : s0 { kernel.parallel d1 : 768 <lanes 16, tail none> {
    %c = scalar.within d1 in 0 to 509
    %v = scalar.if %c -> f32 { %a = kernel.load %x[512 * d0 + d1] : f32   scalar.yield %a : f32 }
      else { %a = kernel.load %y[256 * d0 + d1 - 509] : f32   scalar.yield %a : f32 }
    %r = scalar.relu %v : f32
    kernel.store %r, %o[768 * d0 + d1]
    %z = scalar.constant -7.0 : f32
    %m = kernel.load %x[512 * d0 + d1] if %c else %z : f32
    kernel.store %m, %p[768 * d0 + d1] } }""",
    "s0",
)
ROWS = kernel(
    "rows",
    "read w f32[s1 * 64], read i i64[s0], write o f32[s0 * 64], write c f32[s0]",
    """kernel.parallel d0 : s0 <run threads> {
      %k = kernel.load %i[d0] : i64
      %j = scalar.bound %k to s1 wrap
      kernel.parallel d1 : 64 <lanes 16, unroll 2, tail none> {
        %a = kernel.load %w[64 * %j + d1] : f32
        kernel.store %a, %o[64 * d0 + d1] } }
    kernel.parallel d0 : s0 <run threads, lanes 16, tail mask> {
      %k = kernel.load %i[d0] : i64
      %j = scalar.bound %k to s1 wrap
      %a = kernel.load %w[64 * %j + 3] : f32
      kernel.store %a, %c[d0] }""",
    "s0, s1",
)
SCATTER = kernel(
    "scatter",
    "read b f32[s0 * 64], read i i64[s0], update o f32[s1 * 64], update p f32[s1], "
    "update q f32[s1], update u i64[s1]",
    """kernel.parallel d0 : s0 <run threads> {
      %k = kernel.load %i[d0] : i64
      %j = scalar.bound %k to s1 wrap
      kernel.parallel d1 : 64 <lanes 16, tail none> {
        %v = kernel.load %b[64 * d0 + d1] : f32
        kernel.store add %v, %o[64 * %j + d1] {by = "owner"} } }
    kernel.parallel d0 : s0 <run threads, lanes 16, tail mask> {
      %k = kernel.load %i[d0] : i64
      %j = scalar.bound %k to s1 wrap
      %v = kernel.load %b[64 * d0] : f32
      kernel.store add %v, %p[%j] {by = "atomic"}
      %one = scalar.constant 1 : i64
      kernel.store add %one, %u[%j] {by = "atomic"} }
    kernel.parallel d0 : s0 <run threads, lanes 16, tail mask> {
      %k = kernel.load %i[d0] : i64
      %j = scalar.bound %k to s1 wrap
      %v = kernel.load %b[64 * d0] : f32
      kernel.store add %v, %q[%j] {by = "owner"} }""",
    "s0, s1",
)
TILE = kernel(
    "staged",
    "read x f32[4096], write p f32[4096]",
    """kernel.parallel d2 : 4 <run threads> { kernel.for d3 : 4 {
      %t = kernel.local reg : !kernel.buf<f32[256]>
      kernel.for d0 : 16 { kernel.parallel d1 : 16 <lanes 16, tail none> {
        %v = kernel.load %x[1024 * d2 + 16 * d3 + 64 * d0 + d1] : f32
        kernel.store %v, %t[16 * d0 + d1] } }
      kernel.transpose %t[16, 16]
      kernel.for d1 : 16 { kernel.parallel d0 : 16 <lanes 16, tail none> {
        %c = kernel.load %t[16 * d1 + d0] : f32
        kernel.store %c, %p[1024 * d3 + 16 * d2 + 64 * d1 + d0] {nt} } } } }""",
)


def division(name: str, type_: str) -> str:
    """The four integer divisions."""
    lines = "".join(
        f"%{r} = scalar.{op} %a, %b : {type_}   kernel.store %{r}, %{out}[d0]\n"
        for r, op, out in (
            ("c", "floordiv", "o"),
            ("d", "truncdiv", "p"),
            ("e", "remainder", "q"),
            ("f", "fmod", "r"),
        )
    )
    buffers = ", ".join(
        f"{w} {{0}}".format(f"{v} {name}[s0]")
        for w, v in zip(["read", "read", *["write"] * 4], "xyopqr", strict=True)
    )
    return kernel(
        f"div_{name}",
        buffers,
        f"""kernel.parallel d0 : s0 <lanes 16, tail mask> {{
        %a = kernel.load %x[d0] : {type_}
        %b = kernel.load %y[d0] : {type_}
        {lines} }}""",
        "s0",
    )


INTS = {"i32": np.int32, "i64": np.int64, "i8": np.int8, "u8": np.uint8}


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    text = PLACES + CAT + ROWS + SCATTER + TILE
    text += "".join(division(n, "ui8" if n == "u8" else n) for n in INTS)
    return build(emit(text), tmp_path_factory.mktemp("pointwise"))


def test_address_forms(lib):
    rng = np.random.default_rng(1)
    x, b = rng.standard_normal(4096).astype(np.float32), rng.standard_normal(64).astype(np.float32)
    o, p, q, r = (np.zeros(4096, np.float32) for _ in range(4))
    assert call(lib, "places", [x, b, o, p, q, r]) == 0
    i = np.arange(4096)
    np.testing.assert_array_equal(o, (x[::-1] + b[i % 64]) + b[i // 64])
    np.testing.assert_array_equal(p, x.reshape(64, 64).T.ravel())
    np.testing.assert_array_equal(q[::-1], x[i // 3])
    np.testing.assert_array_equal(r.reshape(64, 64).T.ravel(), x[::-1])


def test_condition_and_masked_load(lib):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((5, 512)).astype(np.float32)
    y = rng.standard_normal(5 * 256 + 3).astype(np.float32)
    o, p = np.zeros((5, 768), np.float32), np.zeros((5, 768), np.float32)
    assert call(lib, "cat", [x, y, o, p], 5) == 0
    tails = np.stack([y[256 * k : 256 * k + 259] for k in range(5)])
    want = np.concatenate([x[:, :509], tails], 1)
    np.testing.assert_array_equal(o, np.maximum(want, 0))
    want[:, 509:] = -7
    np.testing.assert_array_equal(p, want)


def test_gather_and_fault(lib):
    rng = np.random.default_rng(3)
    w, i = rng.standard_normal((50, 64)).astype(np.float32), rng.integers(-50, 50, 77)
    o, c = np.zeros((77, 64), np.float32), np.zeros(77, np.float32)
    assert call(lib, "rows", [w, i, o, c], 77, 50) == 0
    np.testing.assert_array_equal(o, w[i])
    np.testing.assert_array_equal(c, w[i, 3])
    for bad in (50, -51):
        i[33] = bad
        assert call(lib, "rows", [w, i, o, c], 77, 50) == 1


def test_scatter_by_owner_and_atomic(lib):
    rng = np.random.default_rng(4)
    b, i = rng.standard_normal((777, 64)).astype(np.float32), rng.integers(-20, 20, 777)
    o, p, q = np.zeros((20, 64), np.float32), np.zeros(20, np.float32), np.zeros(20, np.float32)
    u = np.zeros(20, np.int64)
    assert call(lib, "scatter", [b, i, o, p, q, u], 777, 20) == 0
    want, count = np.zeros((20, 64)), np.zeros(20, int)
    np.add.at(want, i, b.astype(float))
    np.add.at(count, i, 1)
    np.testing.assert_allclose(o, want, atol=1e-4)
    np.testing.assert_allclose(p, want[:, 0], atol=1e-4)
    np.testing.assert_allclose(q, want[:, 0], atol=1e-4)
    np.testing.assert_array_equal(u, count)


def test_transpose_through_local(lib):
    x, p = np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32)
    assert call(lib, "staged", [x, p]) == 0
    np.testing.assert_array_equal(p.reshape(64, 64), x.reshape(64, 64).T)


@pytest.mark.parametrize("name", INTS)
def test_integer_division(lib, name):
    kind = INTS[name]
    rng, info, m = np.random.default_rng(5), np.iinfo(kind), 205
    x = rng.integers(info.min, info.max, m, dtype=kind, endpoint=True)
    y = rng.integers(info.min, info.max, m, dtype=kind, endpoint=True)
    y[:50] = rng.integers(1, 5, 50)
    y[y == 0] = 3
    if info.min < 0:
        y[60:90], x[3], y[3] = -3, info.min, 1
    outs = [np.zeros(m, kind) for _ in range(4)]
    assert call(lib, f"div_{name}", [x, y, *outs], m) == 0
    a, b = torch.from_numpy(x), torch.from_numpy(y)
    wants = [torch.floor_divide(a, b), torch.div(a, b, rounding_mode="trunc")]
    wants += [torch.remainder(a, b), torch.fmod(a, b)]
    for got, want in zip(outs, wants, strict=True):
        np.testing.assert_array_equal(got, want.numpy())
    y[200] = 0
    assert call(lib, f"div_{name}", [x, y, *outs], m) == 2
    if info.min < 0:
        x[200], y[200] = info.min, -1
        assert call(lib, f"div_{name}", [x, y, *outs], m) == 0
        assert outs[1][200] == info.min


def test_hoisted_indices_do_not_take_the_names_of_types(tmp_path):
    """More than 64 index expressions are named in one loop around a loop."""
    rows = "\n".join(
        f"%v{k} = load %x[((d0 * {k} + 1) floordiv 7) * 3 + d1] : f32 "
        f"%n{k} = scalar.cast %v{k} : f32 to i8 store %n{k}, %o[{3 * k} + 300 * d0 + d1]"
        for k in range(1, 71)
    )
    body = f"parallel d0 : 4 {{ parallel d1 : 3 {{ {rows} }} }}"
    source = emit(kernel("many", "read x f32[200], update o i8[1300]", body))
    lib = build(source, tmp_path)
    x, out = np.arange(200, dtype=np.float32) % 100, np.zeros(1300, np.int8)
    call(lib, "many", [x, out])
    for d0, k, d1 in ((0, 1, 0), (3, 70, 2), (2, 33, 1)):
        assert out[3 * k + 300 * d0 + d1] == int(x[(d0 * k + 1) // 7 * 3 + d1])
