"""Products of a few rows with a large matrix: loops that read the matrix once.

    %r = aten.mm.default(%x, %t)      %x: f32[4, 2048]   %t: a permute of %w, f32[2048, 2048]
      -->
    %buf0 = loop.nest (d0: 2048, d1: 4) reduce (d2: 2048) -> (%o : !aten.t<f32[4, 2048]>) {
      %0 = loop.load %x[d1, d2] : f32     %1 = loop.load %w[d0, d2] : f32
      %2 = scalar.mul %0, %1 : f32        %3 = loop.reduce add %2 : f32 -> f32
      loop.store %3, %o[d1, d0] }

Such a product moves the matrix and does little else. Libraries walk it once for up to three rows of
f32 and again for each few more; the nest walks it once for all (`kernel-jam`), and what comes after
is fused. Larger products, other dtypes and layouts stay calls.
"""

from __future__ import annotations

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import DTYPES
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower

FEW = 4
"""Rows from which on a library walks the matrix more than once."""
LARGE = 4 << 20
"""Bytes of a matrix that stays in no near cache."""
LONG = 256
"""Elements of a row for which a sum of vectors pays."""


@lower("mm.default")
def mm(call: Call) -> list[Result]:
    """A few rows by a large matrix that lies by columns."""
    x, w = call.ref("self"), call.ref("mat2")
    rows, inside, outside = x.sizes[0].as_int, x.sizes[1].as_int, w.sizes[1].as_int
    if call.type.device != "cpu" or call.type.dtype != "f32" or x.dtype != w.dtype:
        raise Declined("a library's product")
    if rows is None or inside is None or outside is None or not FEW <= rows <= call.fn.skinny:
        raise Declined("a library's product: not of a few rows")
    if inside < LONG or inside * outside * DTYPES["f32"].size < LARGE:
        raise Declined("a library's product: the matrix is small")
    if not _along(x, 1) or not _along(w, 0):
        raise Declined("a library's product: the matrix does not lie by columns")
    b = call.nest([w.sizes[1], x.sizes[0]], reduce=[x.sizes[1]])
    column, row = b.dims
    at = b.rdims[0]
    product = b.op("mul", b.load(x, [row, at]), b.load(w, [at, column]))
    b.store(b.reduce("add", product)[0], 0, [row, column])
    return call.done(b)


def _along(ref: Ref, dim: int) -> bool:
    """Elements along a dimension are neighbours."""
    return ref.type.strides[dim] is ex.ONE
