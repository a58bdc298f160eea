"""kernel-extern-out: extern calls write memory that the program plans.

Before:
    %r = kernel.extern "aten.mm.default"(%a, %b) args [#loop.arg<0>, #loop.arg<1>] : (T, T) -> T

After:
    %r = kernel.alloc : T
    kernel.extern "aten.mm.default"(%a, %b, %r) args [#loop.arg<0>, #loop.arg<1>] {out}
      : (T, T, T) -> ()

Done where torch has a kernel that writes the results of the op into given tensors (the `out` mark
of the schema table). The memory plan can then reuse dead buffers for the results, and a call need
not check what strides it got.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects.aten.table import lookup
from minductor.dialects.kernel.host import AllocOp, ExternOp
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelExternOutPass(MiniPass):
    """Give each call that has an `out=` kernel the memory of its results."""

    name = "kernel-extern-out"
    needs = frozenset({"kernel"})
    provides = frozenset({"extern-out"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the calls of every host program in the module."""
        calls = [inner for inner in op.walk() if isinstance(inner, ExternOp)]
        for call in calls:
            reason = refusal(call)
            if reason is None:
                _rewrite(call)
            else:
                sink_of(ctx).refused(self.name, call.callee.data, reason)


def refusal(call: ExternOp) -> str | None:
    """Why a call keeps its own results, or None when it can be given memory."""
    if call.out is not None:
        return "it writes given memory already"
    if call.regions or call.mutates is not None or call.aliases is not None:
        return "it mutates or aliases an operand, or has sub-graphs"
    if not call.results or not all(isinstance(r.type, TensorType) for r in call.results):
        return "not all of its results are tensors"
    schema = lookup(call.callee.data)
    if schema is None or "out" not in schema.tags:
        return "torch has no kernel that writes its results into given memory"
    if len(schema.returns) != len(call.results):
        return "some of its results are not asked for"
    if any(isinstance(v.type, TensorType) and v.type.numel.as_int == 0 for v in call.operands):
        return "an operand without elements, where some kernels check only the plain form"
    return None


def _rewrite(call: ExternOp) -> None:
    allocs: list[Operation] = []
    for result in call.results:
        assert isinstance(result.type, TensorType)
        alloc = AllocOp.of(result.type)
        alloc.location = call.location
        allocs.append(alloc)
    memory = [alloc.results[0] for alloc in allocs]
    new = ExternOp.create(
        operands=[*call.operands, *memory],
        properties={**call.properties, "out": UnitAttr()},
        attributes=dict(call.attributes),
    )
    new.location = call.location
    Rewriter.insert_op([*allocs, new], InsertPoint.before(call))
    for old, fresh in zip(call.results, memory, strict=True):
        fresh.name_hint = old.name_hint
        old.replace_all_uses_with(fresh)
    Rewriter.erase_op(call)
