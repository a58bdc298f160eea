"""Casts that the user wrote, copies, and reinterpretation of bits.

    %r = aten._to_copy(%x) {dtype = bf16}           %x: f32[8]
      -->
    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<bf16[8]>) origins ["_to_copy"] {
      %0 = loop.load %x[d0] : f32     %1 = scalar.cast %0 : f32 to bf16   loop.store %1, %o[d0] }

Such a cast has no `storage` mark: it rounds, always. A copy is a nest, since its result must not
share storage; later passes may prove that nobody can tell.
"""

from __future__ import annotations

from minductor.dialects.dtypes import DTYPES
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.support import as_dtype


def copied(call: Call, x: Ref) -> list[Result]:
    """A fresh tensor of the result's type with the elements of x, cast and broadcast."""
    if x.type.device != call.type.device:
        raise Declined("a copy between devices")
    b = call.nest()
    b.store(as_dtype(b, x, call.type.dtype))
    return call.done(b)


@lower("_to_copy.default")
def to_copy(call: Call) -> list[Result]:
    """A copy in another dtype or layout."""
    return copied(call, call.ref("self"))


@lower("prims.convert_element_type.default")
def convert_element_type(call: Call) -> list[Result]:
    """A copy in another dtype."""
    return copied(call, call.ref("a"))


@lower("clone.default", "lift_fresh_copy.default", "contiguous.default", "alias_copy.default")
def clone(call: Call) -> list[Result]:
    """A copy; the layout stands in the result's type."""
    return copied(call, call.ref("self"))


@lower("prims.clone.default")
def prims_clone(call: Call) -> list[Result]:
    """A copy."""
    return copied(call, call.ref("self" if "self" in call.args else "a"))


@lower("copy.default")
def copy(call: Call) -> list[Result]:
    """src broadcast to self's sizes, in self's dtype."""
    return copied(call, call.ref("src"))


@lower("view.dtype")
def view_dtype(call: Call) -> list[Result]:
    """The same bits as another dtype: a view where the width is the same."""
    x = call.ref("self")
    if DTYPES[x.dtype].size != call.type.info.size:
        raise Declined("a view in a dtype of another width")
    return [x.retyped(call.type)]
