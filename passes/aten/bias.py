"""Adds a bias where that costs least: in the matrix product, or in the kernel that reads the sum.

    before:
      %a = aten.addmm.default(%b, %x, %w) : !aten.t<f32[64, 256]>
      %c = aten.relu.default(%a) : !aten.t<f32[64, 256]>
      %d = aten.mm.default(%c, %v) : !aten.t<f32[64, 32]>
      %e = aten.add.Tensor(%d, %g) : !aten.t<f32[64, 32]>         // %g: 32 numbers
    after:
      %p = aten.mm.default(%x, %w) : !aten.t<f32[64, 256]>
      %a = aten.add.Tensor(%p, %b) : !aten.t<f32[64, 256]>        // fused into the relu
      %c = aten.relu.default(%a) : !aten.t<f32[64, 256]>
      %e = aten.addmm.default(%g, %c, %v) : !aten.t<f32[64, 32]>

On a CPU the library writes the bias into the result first, and then reads the result and writes it
again: for a result of N bytes that is 3 N, and a kernel that reads the sum comes on top. The
product alone writes N, and the kernel adds the bias as it reads. Where no kernel reads the sum,
adding it would be a kernel of its own that reads N and writes N: then the library does it. On CUDA
the library adds a row as it writes, at no cost.

The order of a sum is free, its roundings are not: half types stay as they are, since a product
that is rounded before the bias is added differs from one that is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from minductor.dialects.aten import AtenOp
from minductor.passes.aten._match import defined_by, result_type, tensor_type
from minductor.passes.aten._price import kernels_read, no_kernel_reads, traffic
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal, Rules, rewrite_module
from minductor.passes.base import MiniPass

FLOATS = ("f32", "f64")
VIEWS = ("aten.view.default", "aten._unsafe_view.default")


@dataclass(frozen=True)
class AtenBiasPass(MiniPass):
    """Adds a bias in the matrix product, or in the kernel that reads the sum."""

    name = "aten-bias"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_module(ctx, op, self.name, RULES)


def apart(op: AtenOp) -> Outcome:
    """addmm(bias, x, w) -> mm(x, w) + bias, for kernels to add."""
    result = result_type(op)
    if result is None or not kernels_read(op.results[0]):
        return None
    if result.dtype not in FLOATS:
        return Refusal(f"the product would be rounded to {result.dtype} before the bias is added")
    if result.device != "cpu":
        return Refusal("the library adds the bias as it writes: nothing is saved")
    if (op.arg("beta"), op.arg("alpha")) != (1, 1):
        return Refusal("beta or alpha scale the sum")
    bias, a, b = op.operands[:3]
    if tensor_type(bias) is None or not result.is_contiguous:
        return None
    name = "mm.default" if result.rank == 2 else "bmm.default"
    product = AtenOp.make(name, {"self": a, "mat2": b}, [result])
    total = AtenOp.make("add.Tensor", {"self": product.results[0], "other": bias}, [result])
    note = "the kernel that reads the sum adds the bias"
    return Ops((product, total), (total.results[0],), note, 2 * traffic(result))


def together(op: AtenOp) -> Outcome:
    """mm(x, w) + bias -> addmm(bias, x, w), where the sum would be a kernel of its own."""
    if op.arg("alpha") != 1 or len(op.operands) != 2:
        return None
    first, second = op.operands
    for product, bias in ((first, second), (second, first)):
        found = _product_of(product)
        if found is not None:
            return _joined(op, found, bias)
    return None


def _product_of(value: SSAValue) -> AtenOp | None:
    """The product that a value is, or that it shows with its rows arranged otherwise."""
    view = defined_by(value, *VIEWS)
    inner = value if view is None else view.operands[0]
    return defined_by(inner, "aten.mm.default", "aten.bmm.default")


def _joined(op: AtenOp, product: AtenOp, bias: SSAValue) -> Outcome:
    result, own, row = result_type(op), result_type(product), tensor_type(bias)
    if result is None or own is None or row is None or not no_kernel_reads(op.results[0]):
        return None
    if not (result.dtype == own.dtype == row.dtype) or result.dtype not in FLOATS:
        return Refusal(f"eager rounds the product to {own.dtype} before it adds the bias")
    if not product.results[0].has_one_use() or not _one_view(op, product):
        return Refusal("the product is used elsewhere too")
    if not own.is_contiguous or not result.is_contiguous or own.numel is not result.numel:
        return Refusal("the sum has other sizes than the product")
    if row.rank != 1 or row.sizes[0] is not own.sizes[-1] is not result.sizes[-1]:
        return Refusal("the summand is no row: the kernel that makes it can add it")
    name = "addmm.default" if own.rank == 2 else "baddbmm.default"
    names = ("mat1", "mat2") if own.rank == 2 else ("batch1", "batch2")
    args = dict(zip(names, product.operands, strict=True))
    whole = AtenOp.make(name, {"self": bias, **args}, [own])
    if own is result:
        return whole
    view = {"self": whole.results[0], "size": list(result.sizes)}
    return Ops.chain(whole, AtenOp.make("view.default", view, [result]))


def _one_view(op: AtenOp, product: AtenOp) -> bool:
    """Between the product and the sum there is one reader at most."""
    (use,) = product.results[0].uses
    return use.operation is op or use.operation.results[0].has_one_use()


RULES: Rules = {
    "aten.addmm.default": (apart,),
    "aten.baddbmm.default": (apart,),
    "aten.add.Tensor": (together,),
}
"""Op name -> its rules, tried in order."""
