"""Higher-order ops that wrap one operator: effects in order, and writes made functional.

    %1 = with_effects(%token, aten._linalg_check_errors.default, %info, "linalg.cholesky")
      -->
    aten._linalg_check_errors.default(%info, api_name = "linalg.cholesky", ..) {ordered}

    %1 = auto_functionalized_v2(mylib.inc.default, k = 1, _x_base_index = 0, _all_bases = [%y])
      -->
    %c = aten.clone.default(%y)
    aten.custom "mylib::inc(Tensor(a!) x, int k=1) -> ()"(%c)        later reads of %1 read %c

    %1 = run_and_save_rng_state(aten.rand_like.default, %x)      (state, numbers)
      -->
    %s = aten.seed : !aten.t<i64[1]>
    %r = aten.rand_like.default(%x, rng_seed = %s)               the recomputation takes %s as well

Control flow with sub-graphs (`cond`, `while_loop`, `scan`) is in control.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.aten.ops import AtenOp
from minductor.dialects.aten.schema import Arg, Schema
from minductor.dialects.aten.special import SeedOp
from minductor.dialects.aten.table import SEED
from minductor.dialects.expr import Expr
from minductor.dialects.types import IntType, TensorType
from minductor.lowering.fx_to_aten.arguments import schema_of
from minductor.lowering.fx_to_aten.control import CONTROL_HANDLERS, OPAQUE, apply_object
from minductor.lowering.fx_to_aten.errors import ImportRefused
from minductor.lowering.fx_to_aten.meta import device_text

if TYPE_CHECKING:
    from minductor.lowering.fx_to_aten.graph import GraphImporter


def import_higher_order(
    importer: GraphImporter, node: torch.fx.Node, target: HigherOrderOperator
) -> None:
    """Import the node; what has no form of its own, or a part of no form, torch runs as it is."""
    name = target.name()
    handler = HANDLERS.get(name)
    if handler is not None:
        handler(importer, node)
        return
    try:
        control = CONTROL_HANDLERS.get(name)
        if control is None:
            raise ImportRefused(f"the higher-order op `{name}` has no aten form")
        control(importer, node, name)
    except ImportRefused as refusal:
        if name not in OPAQUE:
            raise
        apply_object(importer, node, refusal)


def with_effects(importer: GraphImporter, node: torch.fx.Node) -> None:
    """The operator itself, marked as ordered; the token passes through."""
    token, target, *args = node.args
    if not isinstance(target, OpOverload):
        raise ImportRefused(f"effects of `{target}`, which is not an operator")
    schema, custom = schema_of(str(target), target)
    bound = importer.binder.bind(schema, args, node.kwargs)
    value = node.meta.get("val")
    results: Any = list(value[1:]) if isinstance(value, list | tuple) else []
    op = importer.emit(node, schema, custom, bound, results)
    op.attributes["ordered"] = UnitAttr()
    passed = importer.binder.value(token)
    importer.env[node] = [passed, *map(plain, op.results)]


def auto_functionalized(importer: GraphImporter, node: torch.fx.Node) -> None:
    """Version 1: each written argument is copied, the op writes into the copy."""
    target, schema, custom = _target(node)
    given: dict[str, Any] = dict(node.kwargs)
    written = [a.name for a in schema.args if a.written]
    copies: list[Any] = []
    for name in written:
        value = importer.binder.value(given[name])
        given[name] = None if value is None else _clone(importer, node, value)
        copies.append(given[name])
    _call(importer, node, target, (schema, custom), given, copies)


def auto_functionalized_v2(importer: GraphImporter, node: torch.fx.Node) -> None:
    """Version 2: the bases are copied, the op writes into views of the copies."""
    target, schema, custom = _target(node)
    given: dict[str, Any] = dict(node.kwargs)
    listed: Any = given.pop("_all_bases", ())
    bases = [_clone(importer, node, importer.binder.value(b)) for b in listed]
    given.pop("_only_clone_these_bases", None)
    views = _Views(importer, node, given, bases, [b.meta["val"].storage_offset() for b in listed])
    for arg in schema.args:
        if arg.written:
            given[arg.name] = views.argument(arg)
    _call(importer, node, target, (schema, custom), given, bases)


def _target(node: torch.fx.Node) -> tuple[OpOverload, Schema, bool]:
    target = node.args[0]
    if not isinstance(target, OpOverload):
        raise ImportRefused(f"functionalized `{target}`, which is not an operator")
    return target, *schema_of(str(target), target)


def _call(
    importer: GraphImporter,
    node: torch.fx.Node,
    target: OpOverload,
    schema: tuple[Schema, bool],
    given: dict[str, Any],
    copies: list[Any],
) -> None:
    value: Any = node.meta.get("val")
    count = len(target._schema.returns)
    bound = importer.binder.bind(schema[0], (), given)
    op = importer.emit(node, *schema, bound, list(value[:count]) if count else [])
    outs = [plain(r) for r in op.results] if count else [None]
    importer.env[node] = [*outs, *copies]


class _Views:
    """The views of copied bases that an operator writes into; takes their keys out of `given`."""

    def __init__(
        self,
        importer: GraphImporter,
        node: torch.fx.Node,
        given: dict[str, Any],
        bases: list[SSAValue],
        offsets: list[Any],
    ) -> None:
        self.importer = importer
        self.node = node
        self.given = given
        self.bases = bases
        self.offsets = offsets

    def argument(self, arg: Arg) -> Any:
        """What stands for a written argument."""
        if not arg.is_list:
            return self._view(f"_{arg.name}")
        length = self.given.pop(f"_{arg.name}_length")
        if length is None:
            return None
        return [self._view(f"_{arg.name}_{i}") for i in range(length)]

    def _view(self, prefix: str) -> SSAValue | None:
        parts = {key: value for key, value in self.given.items() if key.startswith(f"{prefix}_")}
        for key in parts:
            del self.given[key]
        part = {key.removeprefix(f"{prefix}_"): self._known(v) for key, v in parts.items()}
        index = part["base_index"]
        if index is None:
            return None
        base = self.bases[index]
        type_ = base.type
        assert isinstance(type_, TensorType)
        if "stride" in part:
            sizes, strides = list(part["size"]), list(part["stride"])
            offset = Expr.of(part["storage_offset"]) - self.importer.symbols.size(
                self.offsets[index]
            )
            args = {"self": base, "size": sizes, "stride": strides, "storage_offset": offset}
            made = TensorType.make(type_.dtype, sizes, strides, type_.device)
            return self._emit("as_strided.default", args, made)
        if "slice_dim" in part:
            dim = part["slice_dim"]
            # torch counts from the start of the storage, also where the base begins later
            before = ex.floordiv(
                self.importer.symbols.size(self.offsets[index]), type_.strides[dim]
            )
            start, end = (Expr.of(part[f"slice_{word}"]) - before for word in ("start", "end"))
            args = {"self": base, "dim": dim, "start": start, "end": end}
            sizes = list(type_.sizes)
            sizes[dim] = end - start
            made = TensorType.make(type_.dtype, sizes, type_.strides, type_.device)
            return self._emit("slice.Tensor", args, made)
        return base

    def _known(self, value: Any) -> Any:
        """A number or list of them; sizes as expressions."""
        if isinstance(value, list | tuple):
            return [self.importer.binder.value(one) for one in value]
        return self.importer.binder.value(value)

    def _emit(self, overload: str, args: dict[str, Any], type_: TensorType) -> SSAValue:
        op = AtenOp.make(overload, args, [type_])
        self.importer.add(op, self.node)
        return op.results[0]


def _clone(importer: GraphImporter, node: torch.fx.Node, value: Any) -> SSAValue:
    if not isinstance(value, SSAValue):
        raise ImportRefused("an operator writes into something that is not a tensor")
    op = AtenOp.make("clone.default", {"self": value}, [value.type])
    importer.add(op, node)
    return op.results[0]


def save_random(importer: GraphImporter, node: torch.fx.Node) -> None:
    """`run_and_save_rng_state(op, ..)`: the state is a fresh seed, the op draws from it."""
    target, *args = node.args
    device = _device_of(node, target, args)
    seed = SeedOp.of(device, state_words(importer, device))
    importer.add(seed, node)
    seed.result.name_hint = "seed"
    importer.env[node] = [seed.result, _drawn(importer, node, target, args, seed.result)]


def run_random(importer: GraphImporter, node: torch.fx.Node) -> None:
    """`run_with_rng_state(state, op, ..)`: the op draws from the seed that was saved."""
    state, target, *args = node.args
    importer.env[node] = _drawn(importer, node, target, args, importer.binder.value(state))


def state_words(importer: GraphImporter, device: str) -> int:
    """Elements of a saved random state: one for a seed of ours, else the bytes of eager's."""
    if importer.eager_random and device == "cpu":
        return torch.get_rng_state().numel() // 8
    return 1


def saved_state_device(node: torch.fx.Node) -> str | None:
    """The device of the seed that a placeholder holds when it is a saved random state."""
    for user in node.users:
        name = getattr(user.target, "__name__", "")
        if name == "run_with_rng_state" and user.args[0] is node:
            return _device_of(user, user.args[1], list(user.args[2:]))
    return None


def _drawn(
    importer: GraphImporter, node: torch.fx.Node, target: Any, args: list[Any], seed: SSAValue
) -> Any:
    schema, custom = schema_of(str(target), target)
    if SEED.name not in schema.by_name:
        raise ImportRefused(f"the random state of `{target}`, which is not a random operator")
    bound = importer.binder.bind(schema, args, node.kwargs)
    bound[SEED.name] = seed
    op = importer.emit(node, schema, custom, bound, _fake_results(node, target, args))
    outs = [plain(r) for r in op.results]
    return outs if len(outs) > 1 else outs[0]


def _fake_results(node: torch.fx.Node, target: Any, args: list[Any]) -> Any:
    """What the operator gives on the fake arguments: the node itself has no `val`."""

    def fake(value: Any) -> Any:
        return value.meta["val"] if isinstance(value, torch.fx.Node) else value

    plain_args: Any = torch.fx.map_arg(args, fake)
    plain_kwargs: Any = torch.fx.map_arg(dict(node.kwargs), fake)
    mode = next((v.fake_mode for v in plain_args if hasattr(v, "fake_mode")), None)
    with FakeTensorMode() if mode is None else mode:
        return target(*plain_args, **plain_kwargs)


def _device_of(node: torch.fx.Node, target: Any, args: list[Any]) -> str:
    results = _fake_results(node, target, args)
    first = results[0] if isinstance(results, list | tuple) else results
    return device_text(first.device)


def plain(value: SSAValue) -> Any:
    """The expression of an integer result, else the value."""
    return value.type.data if isinstance(value.type, IntType) else value


HANDLERS = {
    "with_effects": with_effects,
    "auto_functionalized": auto_functionalized,
    "auto_functionalized_v2": auto_functionalized_v2,
    "run_and_save_rng_state": save_random,
    "run_with_rng_state": run_random,
}
"""Higher-order op -> how it is imported."""


def is_token(node: torch.fx.Node) -> bool:
    """An input that does nothing but order effects; AOTAutograd may pass None for it."""
    return bool(node.users) and all(_orders(user, node) for user in node.users)


def _orders(user: torch.fx.Node, token: torch.fx.Node) -> bool:
    name = getattr(user.target, "name", None)
    return callable(name) and name() == "with_effects" and user.args[0] is token
