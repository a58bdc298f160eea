"""retarget: a module for one device becomes a module for another, in text.

Before:
    func.func @f(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> { %y = aten.relu.default(%x) .. }

After, device=cuda:
    func.func @f(%x: !aten.t<f32[8]@cuda>) -> !aten.t<f32[8]@cuda> { .. }

Types and device arguments change; layouts stay. An op that only the old device has (`*_for_cpu`,
`mkldnn*`) is refused with a remark and an error: capture the graph on the new device instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import DiagnosticException

from minductor.dialects.pyattrs import DeviceAttr
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.remarks import sink_of

_CPU_ONLY = ("_for_cpu", "mkldnn", "onednn", "_mkl_")


@dataclass(frozen=True)
class RetargetPass(MiniPass):
    """Move a module of `aten` ops to another device.

    device: the new device ("cuda"); what is there already is left alone.
    """

    name = "retarget"
    needs = frozenset({"aten"})

    device: str = "cuda"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite all types and device arguments."""
        for inner in op.walk():
            word = next((w for w in _CPU_ONLY if w in inner.name), None)
            if word is not None and self._moves(inner):
                reason = f"`{inner.name}` exists on the CPU only"
                sink_of(ctx).refused(self.name, inner.name, reason)
                raise DiagnosticException(
                    f"{reason}; capture the graph on {self.device}, where PyTorch picks another op"
                )
        for inner in op.walk():
            self._retype(inner)

    def _moves(self, op: Operation) -> bool:
        return any(isinstance(v.type, TensorType) and v.type.device == "cpu" for v in op.operands)

    def _retype(self, op: Operation) -> None:
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
            new = self._attr(value.type)
            if new is not value.type:
                value._type = new  # pyright: ignore[reportPrivateUsage]
        for table in (op.properties, op.attributes):
            for key, attr in table.items():
                table[key] = self._attr(attr)
        if isinstance(op, func.FuncOp):
            old = op.function_type
            op.function_type = FunctionType.from_lists(
                [self._attr(t) for t in old.inputs], [self._attr(t) for t in old.outputs]
            )

    def _attr(self, attr: Attribute) -> Attribute:
        if isinstance(attr, TensorType):
            return attr.with_(device=self.device) if attr.device == "cpu" else attr
        if isinstance(attr, DeviceAttr):
            return DeviceAttr(self.device) if attr.data == "cpu" else attr
        if isinstance(attr, ArrayAttr):
            return ArrayAttr([self._attr(a) for a in attr])
        if isinstance(attr, DictionaryAttr):
            return DictionaryAttr({key: self._attr(a) for key, a in attr.data.items()})
        return attr
