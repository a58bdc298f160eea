"""Takes a normalisation with known statistics into the convolution before it, where that pays.

    before:
      %a = aten.convolution.default(%x, %w, ..) : !aten.t<f32[8, 64, 56, 56]>
      %b = aten.sub.Tensor(%a, %mean)                     // [64, 1, 1], as all of these
      %c = aten.mul.Tensor(%b, %scale)
      %d = aten.add.Tensor(%c, %shift)
      %e = aten.convolution.default(%d, ..)
    after, on vectors of 64:
      %v = aten.mul.Tensor(%w, %scale4)                   // [64, .., .., ..]
      %s = aten.neg.default(%mean1), aten.mul.Tensor(.., %scale1), aten.add.Tensor(.., %shift1)
      %d = aten.convolution.default(%x, %v, %s, ..)
      %e = aten.convolution.default(%d, ..)

Any chain of sums and products with one number a channel is taken in, so batch norm with or without
weights, whatever its eps, and a convolution with or without a bias. Parameters are arguments of a
graph and may change between calls, so the weights are scaled in each call: that reads and writes
the weights, and saves reading and writing the result. It pays only where the norm would be a kernel
of its own: if kernels read the result (a relu, a sum), they take the norm along as they read, for
nothing, and the pass refuses.

Sums change their rounding, as a convolution's own do. Half types are refused: scaled weights would
be rounded once more. So are transposed convolutions, and a result that is used before the norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from minductor.dialects.aten import AtenOp
from minductor.dialects.attrs import SymbolsAttr
from minductor.dialects.expr import ONE, Atom, Expr
from minductor.dialects.types import TensorType
from minductor.passes.aten._match import defined_by, tensor_type
from minductor.passes.aten._price import no_kernel_reads, traffic
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal, Rewriter, Rules, functions
from minductor.passes.base import MiniPass
from minductor.passes.remarks import sink_of

STEPS = ("aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor")
HINT = 64
"""A size that nothing is known of, for prices."""


@dataclass(frozen=True)
class AtenConvNormPass(MiniPass):
    """Takes a normalisation with known statistics into the convolution before it."""

    name = "aten-conv-norm"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            symbols = func.attributes.get("symbols")
            hints = symbols.hints() if isinstance(symbols, SymbolsAttr) else {}

            def folded(last: AtenOp, hints: dict[Atom, int] = hints) -> Outcome:
                return _folded(last, hints)

            rules: Rules = dict.fromkeys(STEPS, (folded,))
            Rewriter(func.body.block, self.name, sink_of(ctx)).run(rules)


@dataclass(frozen=True)
class Step:
    """`x op vector`, one number a channel."""

    kind: str
    vector: SSAValue


def _folded(last: AtenOp, hints: dict[Atom, int]) -> Outcome:
    chain = _chain(last)
    if chain is None:
        return None
    conv, steps = chain
    result, weight = tensor_type(last.results[0]), tensor_type(conv.operands[1])
    if result is None or weight is None or _goes_on(last, result):
        return None
    why = _why_not(conv, last, result)
    if why is not None:
        return Refusal(why)
    saved = 2 * traffic(result) - 2 * traffic(weight)
    if _at_hints(saved, hints) <= 0:
        return Refusal("the weights are larger than the result")
    return _rebuilt(conv, steps, result, weight, saved)


def _at_hints(e: Expr, hints: dict[Atom, int]) -> int:
    return e.eval({atom: hints.get(atom, HINT) for atom in e.vars()})


def _chain(last: AtenOp) -> tuple[AtenOp, list[Step]] | None:
    """The convolution and the steps after it, `last` being the last one."""
    steps: list[Step] = []
    value, type_ = last.results[0], tensor_type(last.results[0])
    while type_ is not None and value.type is type_:
        op = defined_by(value, *STEPS, "aten.convolution.default")
        if op is None:
            return None
        if op.name == "aten.convolution.default":
            return (op, steps[::-1]) if steps else None
        step = _step(op, type_)
        if step is None:
            return None
        value, one = step
        steps.append(one)
    return None


def _step(op: AtenOp, type_: TensorType) -> tuple[SSAValue, Step] | None:
    kind = op.schema.packet
    if len(op.operands) != 2 or (kind != "mul" and op.arg("alpha") != 1):
        return None
    x, y = op.operands
    if x.type is type_ and _a_channel(y, type_):
        return x, Step(kind, y)
    if kind != "sub" and y.type is type_ and _a_channel(x, type_):
        return y, Step(kind, x)
    return None


def _a_channel(value: SSAValue, type_: TensorType) -> bool:
    """One number for each channel of `type_`: [C, 1, 1] or [1, C, 1, 1]."""
    own = tensor_type(value)
    if (
        type_.rank < 3
        or own is None
        or own.dtype != type_.dtype
        or not type_.rank - 1 <= own.rank <= type_.rank
    ):
        return False
    want = [ONE, type_.sizes[1], *[ONE] * (type_.rank - 2)]
    return list(own.sizes) == want[type_.rank - own.rank :]


def _goes_on(last: AtenOp, type_: TensorType) -> bool:
    """The chain has a further step: that one is looked at as the last."""
    uses = list(last.results[0].uses)
    op = uses[0].operation if len(uses) == 1 else None
    return isinstance(op, AtenOp) and op.name in STEPS and _step(op, type_) is not None


def _why_not(conv: AtenOp, last: AtenOp, result: TensorType) -> str | None:
    if not no_kernel_reads(last.results[0]):
        return "the kernel that reads the result takes the norm along for nothing"
    if result.dtype not in ("f32", "f64"):
        return f"the scaled weights would be rounded to {result.dtype}"
    if conv.arg("transposed"):
        return "a transposed convolution has its channels elsewhere"
    value: SSAValue = conv.results[0]
    while value is not last.results[0]:
        uses = list(value.uses)
        if len(uses) != 1:
            return f"%{value.name_hint} is used elsewhere too"
        value = uses[0].operation.results[0]
    return None


def _rebuilt(
    conv: AtenOp, steps: list[Step], result: TensorType, weight: TensorType, saved: Expr
) -> Outcome:
    made: list[Operation] = []
    line = TensorType.make(result.dtype, [result.sizes[1]], device=result.device)

    def add(overload: str, type_: TensorType, **args: Any) -> SSAValue:
        made.append(AtenOp.make(overload, {_NAMES.get(k, k): v for k, v in args.items()}, [type_]))
        return made[-1].results[0]

    scale: SSAValue | None = None
    shift: SSAValue | None = conv.bind()["bias"]
    for step in steps:
        vector = add("view.default", line, x=step.vector, size=list(line.sizes))
        if step.kind == "mul":
            scale = vector if scale is None else add("mul.Tensor", line, x=scale, y=vector)
            shift = None if shift is None else add("mul.Tensor", line, x=shift, y=vector)
        elif shift is None:
            shift = add("neg.default", line, x=vector) if step.kind == "sub" else vector
        else:
            shift = add(f"{step.kind}.Tensor", line, x=shift, y=vector)
    weights = conv.operands[1]
    if scale is not None:
        sizes = [line.sizes[0], *[ONE] * (weight.rank - 1)]
        wide = TensorType.make(line.dtype, sizes, device=line.device)
        row = add("view.default", wide, x=scale, size=sizes)
        weights = add("mul.Tensor", weight, x=weights, y=row)
    made.append(conv.with_args(weight=weights, bias=shift))
    note = "the norm goes into the weights of the convolution"
    return Ops(tuple(made), (made[-1].results[0],), note, saved)


_NAMES = {"x": "self", "y": "other"}
