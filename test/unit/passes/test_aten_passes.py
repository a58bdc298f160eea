"""The `aten` passes keep what a function computes, and which storages its caller can tell apart."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from minductor.dialects.aten import AtenOp, ScalarOp
from minductor.dialects.types import TensorType
from minductor.interpreters.aten import run_function
from minductor.passes.context import MiniContext
from minductor.passes.manager import PassManager
from minductor.passes.pipelines import ATEN, build_pipeline

SHORT = {torch.float32: "f32", torch.bfloat16: "bf16", torch.int64: "i64", torch.bool: "bool"}
FLOATS = [1.0, -0.0, 0.0, float("inf"), float("nan"), -2.5]


class Build:
    """Builds a function op by op, running each on real tensors to learn its type."""

    def __init__(self) -> None:
        self.inputs = [
            torch.tensor(FLOATS).reshape(2, 3),
            torch.tensor([1.5, -1.5, 0.0, -0.0, 3.0, 7.0]).reshape(2, 3).bfloat16(),
            torch.tensor([[1, -2, 0], [2**62, -(2**63), 5]]),
        ]
        self.block = Block(arg_types=[self.type(t) for t in self.inputs])
        self.values = list(zip(self.block.args, self.inputs, strict=True))

    @staticmethod
    def type(t: torch.Tensor) -> TensorType:
        return TensorType.make(SHORT[t.dtype], list(t.shape), list(t.stride()))

    def op(self, overload: str, tensors: dict, **rest) -> None:
        """Append an op on values by number; what torch refuses is left out."""
        packet, _, name = overload.partition(".")
        real = {k: self.values[v][1] for k, v in tensors.items()}
        args = {k: self.values[v][0] for k, v in tensors.items()}
        number = rest.pop("number", None)
        if number is not None:
            real["other"] = number
            scalar = ScalarOp.of(number)
            self.block.add_op(scalar)
            args["other"] = scalar.result
        torch_rest = {
            k: getattr(torch, v) if k in ("dtype", "memory_format") else v for k, v in rest.items()
        }
        try:
            out = getattr(getattr(torch.ops.aten, packet), name)(**real, **torch_rest)
        except (RuntimeError, IndexError):
            return
        if out.dtype not in SHORT:
            return
        made = AtenOp.make(overload, args | rest, [self.type(out)])
        self.block.add_op(made)
        self.values.append((made.results[0], out))

    def module(self, results: list[int], writes: list[tuple[int, int]]) -> ModuleOp:
        """The function that returns some values, and writes some into its arguments."""
        for place, source in writes:
            target, value = self.values[place], self.values[source]
            if value[1].shape == target[1].shape:
                self.op("copy_.default", {"self": place, "src": source})
        outs = [self.values[r % len(self.values)][0] for r in results]
        self.block.add_op(ReturnOp(*outs))
        types = ([a.type for a in self.block.args], [v.type for v in outs])
        return ModuleOp([FuncOp("f", types, Region(self.block))])


UNARY = ["neg.default", "relu.default", "abs.default", "exp.default", "alias.default"]
BINARY = ["add.Tensor", "sub.Tensor", "mul.Tensor"]
pick = st.integers(0, 60)
unary = st.tuples(st.just("unary"), st.sampled_from(UNARY), pick, pick)
binary = st.tuples(st.just("binary"), st.sampled_from(BINARY), pick, pick)
scalar = st.tuples(
    st.just("scalar"), st.sampled_from(BINARY), pick, st.sampled_from([0, 1, 0.0, -0.0, 1.0, 2])
)
cast = st.tuples(
    st.just("cast"), st.sampled_from(["float32", "bfloat16", "int64", "bool"]), pick, pick
)
view = st.tuples(
    st.just("view"),
    st.sampled_from(["permute", "view", "unsqueeze", "squeeze", "clone", "slice", "copy"]),
    pick,
    pick,
)
power = st.tuples(st.just("pow"), st.sampled_from([1, 2, 2.0, 0.5]), pick, pick)
steps = st.lists(st.one_of(unary, binary, scalar, cast, view, power), min_size=1, max_size=14)


def apply(build: Build, step: tuple) -> None:
    kind, what, a, b = step
    a %= len(build.values)
    match kind:
        case "unary":
            build.op(what, {"self": a})
        case "binary":
            build.op(what, {"self": a, "other": b % len(build.values)})
        case "scalar":
            build.op(what, {"self": a}, number=b)
        case "cast":
            build.op("_to_copy.default", {"self": a}, dtype=what)
        case "pow":
            build.op("pow.Tensor_Scalar", {"self": a}, exponent=what)
        case _:
            rank = build.values[a][1].dim()
            match what:
                case "permute":
                    build.op("permute.default", {"self": a}, dims=list(reversed(range(rank))))
                case "view":
                    build.op("view.default", {"self": a}, size=[[6], [3, 2], [2, 3]][b % 3])
                case "unsqueeze":
                    build.op("unsqueeze.default", {"self": a}, dim=b % (rank + 1))
                case "squeeze":
                    build.op("squeeze.dims", {"self": a}, dim=[b % max(rank, 1)])
                case "slice":
                    build.op("slice.Tensor", {"self": a}, dim=0, start=0, end=[2, 2**40][b % 2])
                case "copy":
                    build.op("copy.default", {"self": a, "src": b % len(build.values)})
                case _:
                    build.op("clone.default", {"self": a})


def observe(module: ModuleOp, inputs: list[torch.Tensor]) -> tuple[list, list]:
    """Bits of results and of arguments afterwards, and which of them share storage.

    Any NaN stands for any NaN: its sign depends on the order of an addition's operands.
    """
    args = [t.clone() for t in inputs]
    outs = run_function(module, args, check=True)
    everything = [*args, *outs]
    places = [t.untyped_storage().data_ptr() for t in everything]
    same = [t.nan_to_num(math.nan, math.inf, -math.inf).contiguous() for t in everything]
    bits = [(t.dtype, t.shape, t.view(torch.uint8).tolist()) for t in same]
    return bits, [places.index(p) for p in places]


@settings(max_examples=150, deadline=None)
@given(
    steps,
    st.lists(pick, min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20)), max_size=2),
)
def test_meaning_and_storages_stay(program, results, writes):
    build = Build()
    for step in program:
        apply(build, step)
    count = len(build.values)
    module = build.module(results, [(p, s % count) for p, s in writes])
    module.verify()
    before = observe(module, build.inputs)
    PassManager(build_pipeline(",".join(ATEN)), verify_each=True).run(MiniContext(), module)
    assert observe(module, build.inputs) == before


@pytest.mark.parametrize("name", ATEN)
def test_passes_are_quick(name):
    build = Build()
    for i in range(400):
        build.op("mul.Tensor", {"self": i % 3, "other": 0})
        build.op("neg.default", {"self": len(build.values) - 1})
    module = build.module([5], [])
    manager = PassManager(build_pipeline(name))
    manager.run(MiniContext(), module)
    # 0.04 ms a node for one of five passes; five times that, for a busy machine
    assert manager.timings[-1].seconds < 800 * 0.04e-3 * 5
