"""Gradients of embeddings, and bags of embeddings.

%g = aten.embedding_dense_backward(%dy, %i, 10, -1, false)
  -->  the rows of the gradient are added up where they were read
%buf0 = loop.nest (d0: 10, d1: 4) -> (%o : ..) .. 0.0 ..
%buf1 = loop.nest (d0: 6, d1: 4) -> (%o = %buf0 : ..) origins ["embedding_dense_backward"] {
  %0 = loop.load %i[d0] : i64   %1 = scalar.bound %0 to 10
  %2 = loop.load %dy[d0, d1] : f32   loop.store add %2, %o[%1, d1] }
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Expr
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import HALVES, require_scalar
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.scatter import scattered, zeros


def _frequencies(call: Call, indices: Ref, rows: Expr) -> Ref:
    """How often each row is read."""
    type_ = TensorType.make("f32", [rows], device=call.type.device)
    start = zeros(call, type_)
    b = call.nest(indices.sizes, types=[type_], updates={0: start.base})
    at = b.data(b.load(indices, b.dims), rows, wrap=False)
    b.store(b.const(1, "f32"), index=[at], combine="add")
    return Ref.of(call.fn.emit(b.finish()).results[0])


@lower("embedding_dense_backward.default")
def embedding_backward(call: Call) -> list[Result]:
    """Sums of the gradients of each row's reads; the padding row gets none."""
    grad, indices = call.ref("grad_output"), call.ref("indices")
    rows, padding = call.expr("num_weights"), call.expr("padding_idx")
    require_scalar([grad.dtype, indices.dtype])
    if DTYPES[indices.dtype].kind != "int":
        raise Declined(f"indices of {indices.dtype}")
    often = _frequencies(call, indices, rows) if call.flag("scale_grad_by_freq") else None

    def position(b: NestBuilder) -> list[Expr]:
        return [b.data(b.load(indices, b.dims[:-1]), rows, wrap=False), b.dims[-1]]

    def value(b: NestBuilder) -> SSAValue:
        found = b.load(grad, b.dims)
        at = position(b)[0]
        if often is not None:
            found = b.op("div", b.opmath(found), b.load(often, [at]))
            found = b.cast(found, grad.dtype)
        if padding.as_int is not None and padding.as_int < 0:
            return found
        real = b.op("ne", b.index(at), b.index(padding))
        return b.op("select", real, found, b.like(0, found))

    wide = call.type.device != "cpu" or grad.dtype in HALVES
    start = zeros(call, call.type)
    return [scattered(call, start, grad.sizes, position, value, "add", wide=wide)]
