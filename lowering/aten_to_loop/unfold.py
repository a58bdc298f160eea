"""Backward of `unfold`, as a gather: each element sums the windows that hold it.

    %g = aten.unfold_backward(%grad, [10], 0, 4, 2)
      -->
    %buf0 = loop.nest (d0: 10) -> (%o : ..) origins ["unfold_backward"] {
      %0 = scalar.within (d0 floordiv 2) - 1 in 0 to 4
      %1 = scalar.if %0 -> f32 { loop.load %grad[(d0 floordiv 2) - 1, (d0 mod 2) + 2] .. }
      ..  loop.store %s, %o[d0] }

Overlap and add, the end of `torch.istft`, is this op too. Windows are added in ascending order, as
eager does (ATen/native/cpu/UnfoldBackwardKernel.cpp); half types in f32, rounded once.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import opmath
from minductor.lowering.aten_to_loop.refs import Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.slice_scatter import guarded, within_all

FEW = 8
"""Windows over one element that are written out; more are gathered by a loop."""


@lower("unfold_backward.default")
def unfold_backward(call: Call) -> list[Result]:
    """Gradient of the input, `input_sizes`, of windows of `size` elements every `step`."""
    grad, sizes = call.ref("grad_in"), call.type.sizes
    if not sizes:
        raise Declined("a window over no dimension")
    dim, size, step = call.dim("dim", len(sizes)), call.int_("size"), call.int_("step")
    others = [s for k, s in enumerate(grad.sizes[:-1]) if k != dim]
    if grad.sizes[-1] is not Expr.of(size) or others != [*sizes[:dim], *sizes[dim + 1 :]]:
        raise Declined("a gradient of another shape than that of windows of the input")
    over = max(1, -(-size // step))
    b = call.nest(reduce=(Expr.of(over),) if over > FEW else ())
    dtype = opmath(call.type.dtype)

    def window(back: Expr) -> SSAValue:
        at = b.ranges.simplify(ex.floordiv(b.dims[dim], step) - back)
        inside = b.ranges.simplify(ex.mod(b.dims[dim], step) + back * step)
        index = [*b.dims[:dim], at, *b.dims[dim + 1 :], inside]
        tests = within_all(b, [(at, 0, grad.sizes[dim]), (inside, 0, size)])
        read = lambda: b.cast(b.load(grad, index), dtype)  # noqa: E731
        return guarded(b, tests, read, lambda: b.const(0, dtype))

    b.store(_sum(b, over, window))
    return call.done(b)


def _sum(b: NestBuilder, over: int, window: Callable[[Expr], SSAValue]) -> SSAValue:
    """The windows from the farthest back to the nearest."""
    if b.rdims:
        return b.reduce("add", window(over - 1 - b.rdims[0]))[0]
    total = window(Expr.of(over - 1))
    for back in range(over - 2, -1, -1):
        total = b.op("add", total, window(Expr.of(back)))
    return total
