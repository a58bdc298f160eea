"""The printed host program runs: memory, lifetimes, mutation, externs, faults, sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minductor.codegen.wrapper.module import emit_wrapper
from minductor.codegen.wrapper.values import EmitError
from minductor.passes.context import MiniContext
from minductor.runtime import loader
from minductor.runtime.artifact import Artifact
from minductor.runtime.cache import Cache

CPP = """
extern "C" int shift(void *const *p, const long long *s) {
    const float *x = (const float *)p[0];
    float *o = (float *)p[1];
    if (s[0] > 1000) return 1;
    for (long long i = 0; i < s[0]; i++) o[i] = x[i] + 1.0f;
    return 0;
}
extern "C" int twice(void *const *p, const long long *s) {
    float *x = (float *)p[0];
    for (long long i = 0; i < s[0]; i++) x[i] *= 2.0f;
    return 0;
}
extern "C" int nothing(void *const *p, const long long *s) { return 0; }
"""
KERNELS = """
kernel.func @shift(read %x : !kernel.buf<f32[s0]>, write %o : !kernel.buf<f32[s0]>) [s0]
  config {target = "cpp"} {
}
kernel.func @twice(update %x : !kernel.buf<f32[s0]>) [s0] config {target = "cpp"} {
}
kernel.func @nothing(update %x : !kernel.buf<f32[s0]>) [s0] config {target = "cpp"} {
}
"""


def parse(text: str) -> ModuleOp:
    module = Parser(MiniContext(), text).parse_module()
    module.verify()
    return module


class Program:
    """Compile the text of a host program and call it."""

    def __init__(self, folder: Path) -> None:
        self._store = Cache(folder)

    def __call__(self, text: str, *args: Any) -> list[Any]:
        wrapper = emit_wrapper(parse(KERNELS + text))
        key = Cache.key([text])
        _, call = loader.produce(key, Artifact("inference", "cpp", wrapper, CPP), self._store)
        boxed = list(args)
        out = call(boxed)
        assert boxed == []
        return out


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


CHAIN = """
func.func @call(%n: !aten.int<s0>, %x: !aten.t<f32[s0]>) -> !aten.t<f32[s0]>
    attributes {symbols = #aten.symbols<s0 = [hint 8, min 0]>} {
  kernel.check %x : !aten.t<f32[s0]>
  %buf0 = kernel.alloc : !aten.t<f32[s0]>
  kernel.launch @shift(%x, %buf0)[s0]
  kernel.free %x
  kernel.launch @twice(%buf0)[s0]
  %buf1 = kernel.reuse %buf0 : !aten.t<f32[s0]> to !aten.t<f32[s0]>
  kernel.launch @shift(%buf1, %buf1)[s0]
  func.return %buf1 : !aten.t<f32[s0]>
}
"""


@pytest.mark.parametrize("n", [0, 1, 7, 500])
def test_kernels_in_order(program: Program, n: int) -> None:
    x = torch.rand(n)
    assert torch.equal(program(CHAIN, n, x)[0], (x + 1) * 2 + 1)


def test_offset_inputs(program: Program) -> None:
    x = torch.rand(20)[3:11]
    assert torch.equal(program(CHAIN, 8, x)[0], (x + 1) * 2 + 1)


def test_inputs_are_checked(program: Program) -> None:
    with pytest.raises(ValueError, match="x does not have the layout"):
        program(CHAIN, 8, torch.rand(9))
    with pytest.raises(ValueError, match="x does not have the layout"):
        program(CHAIN, 8, torch.rand(16)[::2])


def test_faults_surface(program: Program) -> None:
    with pytest.raises(IndexError, match="index out of range in kernel shift"):
        program(CHAIN, 2000, torch.rand(2000))


def test_mutation_of_an_input(program: Program) -> None:
    text = """
func.func @call(%x: !aten.t<f32[8]>) {
  kernel.check %x : !aten.t<f32[8]>
  kernel.launch @twice(%x)[8]
  func.return
}
"""
    x = torch.rand(8)
    before = x.clone()
    assert program(text, x) == []
    assert torch.equal(x, before * 2)


@pytest.mark.parametrize("start", [0, 1])
def test_an_aligned_copy_is_written_back(program: Program, start: int) -> None:
    text = """
func.func @call(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  kernel.check %x align 64 : !aten.t<f32[8]>
  kernel.launch @twice(%x)[8]
  func.return %x : !aten.t<f32[8]>
}
"""
    base = torch.rand(64)
    x = base[start : start + 8]
    before = x.clone()
    (out,) = program(text, x)
    assert out is x
    assert torch.equal(x, before * 2)


def test_strided_results_and_views(program: Program) -> None:
    text = """
func.func @call(%x: !aten.t<f32[4, 3]>)
    -> (!aten.t<f32[4, 3]:[1, 4]>, !aten.t<f32[3]:[4]>, !aten.t<i32[2]>) {
  %buf0 = kernel.alloc : !aten.t<f32[4, 3]:[1, 4]>
  kernel.launch @shift(%x, %buf0)[12]
  %row = kernel.reinterpret %buf0 offset 1 : !aten.t<f32[4, 3]:[1, 4]> to !aten.t<f32[3]:[4]>
  %bits = kernel.reinterpret %buf0 offset 2 : !aten.t<f32[4, 3]:[1, 4]> to !aten.t<i32[2]>
  func.return %buf0, %row, %bits
    : !aten.t<f32[4, 3]:[1, 4]>, !aten.t<f32[3]:[4]>, !aten.t<i32[2]>
}
"""
    x = torch.rand(4, 3)
    whole, row, bits = program(text, x)
    flat = x.flatten() + 1
    assert whole.stride() == (1, 4)
    assert torch.equal(whole, flat.as_strided((4, 3), (1, 4)))
    assert torch.equal(row, whole[1])
    assert row.data_ptr() == whole[1].data_ptr()
    assert torch.equal(bits, flat[2:4].view(torch.int32))


def test_externs(program: Program) -> None:
    text = """
func.func @call(%a: !aten.t<f32[4, 4]>, %b: !aten.t<f32[4]>)
    -> (!aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[2, 4]>, !aten.t<f32[2, 4]>) {
  %buf0 = kernel.alloc : !aten.t<f32[4, 4]>
  kernel.extern "aten.addmm.default"(%b, %a, %buf0)
    args [#loop.arg<0>, #loop.arg<1>, #loop.arg<1>] kwargs {alpha = 2 : i64} {out}
    : (!aten.t<f32[4]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>) -> ()
  %buf1 = kernel.extern "aten.add.Tensor"(%buf0, %b)
    args [#loop.arg<0>, #loop.arg<1>] kwargs {alpha = 3 : i64}
    : (!aten.t<f32[4, 4]>, !aten.t<f32[4]>) -> !aten.t<f32[4, 4]>
  %up, %down = kernel.extern "aten.split.Tensor"(%buf1) args [#loop.arg<0>, 2 : i64]
    {aliases = [#loop.index<[0, 0]>, #loop.index<[1, 0]>]}
    : (!aten.t<f32[4, 4]>) -> (!aten.t<f32[2, 4]>, !aten.t<f32[2, 4]>)
  func.return %buf0, %buf1, %up, %down
    : !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>, !aten.t<f32[2, 4]>, !aten.t<f32[2, 4]>
}
"""
    a, b = torch.rand(4, 4), torch.rand(4)
    first, second, up, down = program(text, a, b)
    assert torch.equal(first, torch.addmm(b, a, a, alpha=2))
    assert torch.equal(second, torch.add(first, b, alpha=3))
    assert torch.equal(torch.cat([up, down]), second)
    assert up.data_ptr() == second.data_ptr()


def test_seeds_and_unbacked_sizes(program: Program) -> None:
    text = """
func.func @call(%x: !aten.t<i64[6]>)
    -> (!aten.t<i64[1]>, !aten.t<i64[u0, 1]:[1, 6]>, !aten.t<f32[u0]>)
    attributes {symbols = #aten.symbols<u0 = [min 0]>} {
  %seed = kernel.extern "minductor.seed"() args [] kwargs {device = #aten.device<"cpu">} {random}
    : () -> !aten.t<i64[1]>
  %buf0 = kernel.extern "aten.nonzero.default"(%x) args [#loop.arg<0>]
    : (!aten.t<i64[6]>) -> !aten.t<i64[u0, 1]:[1, 6]>
  %buf1 = kernel.alloc : !aten.t<f32[u0]>
  func.return %seed, %buf0, %buf1 : !aten.t<i64[1]>, !aten.t<i64[u0, 1]:[1, 6]>, !aten.t<f32[u0]>
}
"""
    x = torch.tensor([0, 1, 0, 2, 3, 0])
    torch.manual_seed(3)
    seed, places, empty = program(text, x)
    torch.manual_seed(3)
    assert torch.equal(program(text, x)[0], seed)
    assert torch.equal(places, x.nonzero())
    assert empty.shape == (3,)


def test_choice_by_size(program: Program) -> None:
    text = """
func.func @call(%n: !aten.int<s0>, %x: !aten.t<f32[s0]>)
    attributes {symbols = #aten.symbols<s0 = [hint 8, min 0]>} {
  kernel.launch @twice(%x)[s0] when (s0 - 4) else @nothing
  func.return
}
"""
    small, large = torch.ones(4), torch.ones(5)
    program(text, 4, small)
    program(text, 5, large)
    assert torch.equal(small, torch.ones(4))
    assert torch.equal(large, torch.full((5,), 2.0))


def test_same_text_every_time() -> None:
    assert emit_wrapper(parse(KERNELS + CHAIN)) == emit_wrapper(parse(KERNELS + CHAIN))


def test_refusals() -> None:
    with pytest.raises(EmitError, match=r"no func\.func @call"):
        emit_wrapper(parse("func.func @forward() { func.return }"))
    with pytest.raises(EmitError, match="@absent, which is no kernel"):
        emit_wrapper(parse("func.func @call() { kernel.launch @absent()[]  func.return }"))


def test_names_that_python_cannot_have() -> None:
    text = """
func.func @call(%class: !aten.t<f32[2]>, %args: !aten.t<f32[2]>, %s1: !aten.t<f32[2]>)
    -> (!aten.t<f32[2]>, !aten.t<f32[2]>, !aten.t<f32[2]>) {
  func.return %class, %args, %s1 : !aten.t<f32[2]>, !aten.t<f32[2]>, !aten.t<f32[2]>
}
"""
    source = emit_wrapper(parse(text))
    assert "v_class, args_1, v_s1 = args" in source
    compile(source, "wrapper", "exec")
