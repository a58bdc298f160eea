"""One `aten` op per FX node: from a graph of AOTAutograd or torch.export to a module.

    %relu : f32[4] = torch.ops.aten.relu.default(%arg0_1)
    -->
    %relu = aten.relu.default(%arg0_1) {origin = "relu model.py:12"} : !aten.t<f32[4]>

Only metadata is read (`meta["val"]`); nothing is computed on tensors. Nodes on sizes become index
expressions, `getitem` picks a result, constants become `aten.constant` or arguments.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from minductor.dialects.aten.ops import AtenOp
from minductor.dialects.aten.schema import Schema
from minductor.dialects.aten.special import AssertOp, ConstantOp, PyOp, ScalarOp
from minductor.dialects.aten.symbols import used_symbols
from minductor.dialects.aten.verify import bound_symbols, op_binds, type_symbols
from minductor.dialects.expr import Expr
from minductor.dialects.types import AbsentType, IntType, TensorType
from minductor.lowering.fx_to_aten.arguments import Binder, fitting, schema_of
from minductor.lowering.fx_to_aten.corrections import corrected
from minductor.lowering.fx_to_aten.errors import ImportRefused
from minductor.lowering.fx_to_aten.float_sizes import FloatSizes
from minductor.lowering.fx_to_aten.higher_order import (
    import_higher_order,
    is_token,
    saved_state_device,
    state_words,
)
from minductor.lowering.fx_to_aten.meta import (
    TypeTable,
    location,
    origin,
    shape_env_of,
    storage_of,
)
from minductor.lowering.fx_to_aten.slices import define_slice
from minductor.lowering.fx_to_aten.symbols import SymbolTable

INLINE_ELEMENTS = 16
"""Constants of at most so many elements stand in the text; larger ones become arguments."""

PYTHON: dict[Any, str] = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "truediv",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.neg: "neg",
    operator.pow: "pow",
    operator.abs: "abs",
    torch.sym_float: "float",
    torch.sym_max: "max",
    torch.sym_min: "min",
}
"""Functions on Python numbers whose result is a run-time float."""

DROPPED = frozenset(
    {
        "sym_constrain_range",
        "sym_constrain_range_for_size",
        "_assert_tensor_metadata",
    }
)
"""Checks that the ShapeEnv has turned into facts on symbols, or that hold by the types."""

TOKENS = frozenset({"prims._make_token.default", "prims._sink_tokens.default"})
"""Tokens order effects; here the order of the ops does."""

RENAMED = {
    "aten._conj.default": "aten._conj_physical.default",
    "aten._neg_view.default": "aten.neg.default",
}
"""Lazy views that no tensor type can say, and the op that gives the same values."""


@dataclass(frozen=True)
class ArgInfo:
    """An argument of the imported function.

    name: FX name, or of the constant; desc: AOTAutograd's description, or None; constant: index in
    `Imported.constants` for a lifted constant; storage: a number that arguments which show the same
    storage share, or None.
    """

    name: str
    type: Attribute
    desc: Any = None
    constant: int | None = None
    storage: int | None = None

    @property
    def saved(self) -> bool:
        """A tensor of the graph's own signature."""
        return self.constant is None and isinstance(self.type, TensorType)


@dataclass
class Functions:
    """The functions of sub-graphs, `made` in order; one for each graph module."""

    made: list[FuncOp] = field(default_factory=list[FuncOp])
    of: dict[torch.fx.GraphModule, str] = field(default_factory=dict["torch.fx.GraphModule", str])


@dataclass
class Imported:
    """A graph as a module.

    constants: tensors and objects that the caller appends to the arguments of each call. outputs:
    for each output of the graph, the number of the function's result, or None where it gives None.
    """

    module: ModuleOp
    args: list[ArgInfo]
    constants: list[Any] = field(default_factory=list[Any])
    outputs: list[int | None] = field(default_factory=list["int | None"])


def import_graph(
    gm: torch.fx.GraphModule, name: str = "forward", eager_random: bool = False
) -> Imported:
    """The module of an FX graph. ImportRefused if something in it has no `aten` form.

    `eager_random`: random numbers that are drawn twice come from a saved generator's state, as
    eager draws them, and not from a seed of ours.
    """
    importer = GraphImporter(gm, name)
    importer.eager_random = eager_random
    return importer.run()


class GraphImporter:
    """Walks a graph once; `env` maps nodes to values, expressions or lists of them.

    The importer of a sub-graph has a `parent`, whose symbols and functions it shares. `decides`:
    its result says whether a loop goes on.
    """

    def __init__(
        self, gm: torch.fx.GraphModule, name: str, parent: GraphImporter | None = None
    ) -> None:
        self.gm = gm
        self.name = name
        self.symbols = SymbolTable(shape_env_of(gm)) if parent is None else parent.symbols
        self.types = TypeTable(self.symbols) if parent is None else parent.types
        self.functions = Functions() if parent is None else parent.functions
        self.eager_random = False if parent is None else parent.eager_random
        self.decides = False
        self.block = Block()
        self.env: dict[torch.fx.Node, Any] = {}
        self.args: list[ArgInfo] = []
        self.constants: list[Any] = []
        self.outputs: list[int | None] = []
        self.binder = Binder(self.env, self.symbols, self.scalar)
        self._scalars: dict[tuple[str, Any], SSAValue] = {}
        self._early: list[tuple[Any, Expr]] | None = []

    def run(self) -> Imported:
        """Import the graph."""
        func = self.function()
        functions = [func, *self.functions.made]
        return Imported(ModuleOp(functions), self.args, self.constants, self.outputs)

    def function(self, visibility: str | None = None) -> FuncOp:
        """The function of the graph."""
        around, self.symbols.on_float = self.symbols.on_float, self._float_size
        for node in self.gm.graph.find_nodes(op="placeholder"):
            self.types.number(node.meta.get("val"))
        for node in self.gm.graph.nodes:
            if node.op not in ("placeholder", "get_attr"):
                self._late_arguments()
            self.node(node)
        self.symbols.on_float = around
        _check_bound(self.block)
        last = self.block.last_op
        results = [v.type for v in last.operands] if last is not None else []
        inputs = [a.type for a in self.block.args]
        func = FuncOp(self.name, (inputs, results), Region(self.block), visibility)
        symbols = self.symbols.symbols_attr(used_symbols(self.block))
        if symbols is not None:
            func.attributes["symbols"] = symbols
        if self.name == "backward" and visibility is None:
            # what the forward saved: neither its own inputs nor what autograd hands over
            held = ("primals", "tangents")
            dying = [k for k, a in enumerate(self.args) if a.saved and not a.name.startswith(held)]
            if dying:
                func.attributes["dying"] = DenseArrayBase.from_list(i64, dying)
                first = {self.args[k].storage: k for k in reversed(dying)}
                shared = [k if (s := self.args[k].storage) is None else first[s] for k in dying]
                if shared != dying:
                    func.attributes["sharing"] = DenseArrayBase.from_list(i64, shared)
        return func

    def node(self, node: torch.fx.Node) -> None:
        """Import one node."""
        handlers: dict[str, Callable[[torch.fx.Node], None]] = {
            "placeholder": self._placeholder,
            "get_attr": self._get_attr,
            "call_function": self._call,
            "output": self._output,
        }
        handler = handlers.get(node.op)
        if handler is None:
            raise ImportRefused(f"a node of kind {node.op}", node.name)
        try:
            handler(node)
        except ImportRefused as refusal:
            raise ImportRefused(refusal.reason, refusal.node or node.name) from None

    def _float_size(self, e: Any, symbol: Expr) -> None:
        """Binds a size that float arithmetic gives: here, or once all arguments stand."""
        if self._early is not None:
            self._early.append((e, symbol))
            return
        sizes = FloatSizes(self.symbols, self.block.add_op, self.scalar)
        self._scalars.setdefault(("Expr", symbol), sizes.bind(e, symbol))

    def _late_arguments(self) -> None:
        early, self._early = self._early, None
        for e, symbol in early or ():
            self._float_size(e, symbol)

    # -- values -----------------------------------------------------------------------------------
    def add(self, op: Operation, node: torch.fx.Node) -> Operation:
        """Append an op with the location of a node."""
        op.location = location(node)
        self.block.add_op(op)
        return op

    def scalar(self, value: Any) -> SSAValue:
        """A Python number or an expression as an operand; one op for equal ones."""
        key = (type(value).__name__, value if isinstance(value, Expr) else repr(value))
        found = self._scalars.get(key)
        if found is None:
            op = ScalarOp.of(value)
            self.block.add_op(op)
            found = self._scalars[key] = op.results[0]
        return found

    def _new_arg(self, type_: Attribute, info: ArgInfo) -> SSAValue:
        arg = self.block.insert_arg(type_, len(self.block.args))
        arg.name_hint = _hint(info.name)
        self.args.append(info)
        return arg

    def constant_arg(self, name: str, type_: Attribute, value: Any) -> SSAValue:
        """An argument that the caller appends: a large tensor, an object."""
        info = ArgInfo(name, type_, constant=len(self.constants))
        self.constants.append(value)
        return self._new_arg(type_, info)

    # -- nodes ------------------------------------------------------------------------------------
    def _placeholder(self, node: torch.fx.Node) -> None:
        value = node.meta.get("val")
        if isinstance(value, bool | str) or is_token(node):
            # a constant of the signature, whose uses hold the value; of a token nobody needs it
            self.env[node] = value if isinstance(value, bool | str) else None
            self._new_arg(AbsentType(None), ArgInfo(node.name, AbsentType(None)))
            return
        seeded = saved_state_device(node)
        if seeded is None:
            type_ = self.types.of(value)
        else:
            type_ = TensorType.make("i64", [state_words(self, seeded)], device=seeded)
        info = ArgInfo(node.name, type_, node.meta.get("desc"), storage=storage_of(value))
        arg = self._new_arg(type_, info)
        self.env[node] = arg
        if isinstance(type_, IntType):
            self.env[node] = type_.data
            self._scalars.setdefault(("Expr", type_.data), arg)
        elif isinstance(type_, AbsentType):
            self.env[node] = None
        elif isinstance(value, torch.Tensor) and (value.is_conj() or value.is_neg()):
            self.env[node] = self._resolved(node, arg, value)

    def _resolved(self, node: torch.fx.Node, arg: SSAValue, value: torch.Tensor) -> SSAValue:
        """A lazily conjugated or negated input as eager's kernel writes it out: only torch's calls
        read the mark on such a tensor."""
        if any(getattr(user.target, "_opname", "") == "copy_" for user in node.users):
            raise ImportRefused("a write into a lazily conjugated or negated input")
        for lazy, name in ((value.is_conj(), "resolve_conj"), (value.is_neg(), "resolve_neg")):
            if lazy:
                op = AtenOp.make(f"{name}.default", {"self": arg}, [arg.type])
                arg = self.add(op, node).results[0]
        return arg

    def _get_attr(self, node: torch.fx.Node) -> None:
        value: Any = self.gm
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if isinstance(value, torch.fx.GraphModule):
            self.env[node] = value
            return
        if not isinstance(value, torch.Tensor):
            raise ImportRefused(f"a constant of type {type(value).__name__}")
        if isinstance(value, torch._subclasses.FakeTensor):
            raise ImportRefused("a constant whose content is not known")
        type_ = self.types.tensor(value)
        if (numbers := small_content(value)) is not None:
            op = self.add(ConstantOp.of(numbers, type_), node)
            op.results[0].name_hint = _hint(node.name)
            self.env[node] = op.results[0]
            return
        self.env[node] = self.constant_arg(node.name, type_, value)

    def _call(self, node: torch.fx.Node) -> None:
        target = node.target
        value = node.meta.get("val")
        if target is operator.getitem:
            self._getitem(node)
        elif isinstance(target, OpOverload) and target._opname == "_assert_scalar":
            self._assert(node)
        elif isinstance(value, int | torch.SymInt) and not isinstance(value, bool):
            self._known_int(node, value)
        elif isinstance(target, OpOverload):
            if (number := _conjugate(node)) is not None or str(target) in TOKENS:
                self.env[node] = number
            elif target._opname not in DROPPED:
                self._operator(node, target)
        elif isinstance(value, float | torch.SymFloat):
            self._python(node)
        elif isinstance(value, bool | torch.SymBool):
            self.env[node] = value
        elif isinstance(target, HigherOrderOperator):
            import_higher_order(self, node, target)
        else:
            raise ImportRefused(f"the function `{getattr(target, '__name__', target)}`")

    def _known_int(self, node: torch.fx.Node, value: Any) -> None:
        """A size: an expression; an op only where it brings a new symbol (`item`)."""
        e = self.symbols.size(value)
        self.env[node] = e
        target = node.target
        if not isinstance(target, OpOverload) or not _brings_symbol(node, e):
            return
        op = self._operator(node, target)
        self.env[node] = e
        self._scalars.setdefault(("Expr", e), op.results[0])

    def _getitem(self, node: torch.fx.Node) -> None:
        source, index = node.args
        assert isinstance(source, torch.fx.Node)
        items = self.env[source]
        if isinstance(items, dict):
            self.env[node] = items[index]
            return
        if not isinstance(items, list | tuple):
            raise ImportRefused("getitem of a value that is not a tuple")
        assert isinstance(index, int)
        picked: Any = items[index]
        self.env[node] = picked
        if isinstance(picked, OpResult):
            picked.name_hint = _hint(node.name)

    def _assert(self, node: torch.fx.Node) -> None:
        condition = node.args[0]
        message = str(node.args[1]) if len(node.args) > 1 else "assertion failed"
        value = self.env.get(condition) if isinstance(condition, torch.fx.Node) else condition
        if isinstance(value, bool | int):
            return
        expr = value.node.expr if isinstance(value, torch.SymBool) else None
        forms = None if expr is None else self.symbols.nonneg_form(expr)
        if forms is None:
            raise ImportRefused(f"an assertion on sizes, `{expr}`, that is not an inequality")
        for e in forms:
            if (e.as_int or 0) < 0 or e.as_int is None:
                self.add(AssertOp.of(e, message), node)

    def _python(self, node: torch.fx.Node) -> None:
        function = PYTHON.get(node.target) or _math_name(node.target)
        if function is None:
            raise ImportRefused(f"the Python function `{node.target}` on run-time numbers")
        operands: list[SSAValue] = []
        for arg in node.args:
            value = self.binder.value(arg)
            operands.append(value if isinstance(value, SSAValue) else self.scalar(value))
        op = self.add(PyOp.of(function, operands), node)
        op.results[0].name_hint = _hint(node.name)
        self.env[node] = op.results[0]

    def _operator(self, node: torch.fx.Node, target: OpOverload) -> Operation:
        define_slice(node, self.symbols, self.env)
        renamed = RENAMED.get(str(target))
        schema, custom = schema_of(str(target) if renamed is None else renamed, target)
        args = self.binder.bind(schema, node.args, node.kwargs)
        schema, custom = fitting(schema, custom, args)
        op = self.emit(node, schema, custom, args, node.meta.get("val"))
        picked = [_env_value(r) for r in op.results]
        many = isinstance(node.meta.get("val"), list | tuple)
        self.env[node] = picked if many else picked[0] if picked else None
        return op

    def emit(
        self, node: torch.fx.Node, schema: Schema, custom: bool, args: dict[str, Any], value: Any
    ) -> Operation:
        """The op of a schema whose results have the types of the fake `value`."""
        values: Sequence[Any] = value if isinstance(value, list | tuple) else [value]
        if not schema.returns:
            values = []
        types = corrected(schema.packet, args, [self.types.of(v) for v in values])
        text = origin(node, schema.packet)
        op = AtenOp.make(schema.overload, args, types, text, schema.text if custom else None)
        self.add(op, node)
        results = list(op.results)
        for i, result in enumerate(results):
            result.name_hint = _hint(node.name if len(results) == 1 else f"{node.name}_{i}")
        return op

    def _output(self, node: torch.fx.Node) -> None:
        outs: Any = node.args[0]
        results: list[SSAValue] = []
        for out in outs if isinstance(outs, list | tuple) else [outs]:
            value = self.binder.value(out)
            if value is None:
                self.outputs.append(None)
                continue
            self.outputs.append(len(results))
            if isinstance(value, torch.SymBool):
                results += self._truth(value)
                continue
            results.append(value if isinstance(value, SSAValue) else self.scalar(value))
        self.block.add_op(ReturnOp(*results))

    def _truth(self, value: torch.SymBool) -> list[SSAValue]:
        """The truth that a loop asks for: numbers that are all >= 0 where it holds."""
        forms = self.symbols.nonneg_form(value.node.expr) if self.decides else None
        if forms is None:
            raise ImportRefused("a result that is a truth value of sizes")
        return [self.scalar(form) for form in forms]


def _check_bound(block: Block) -> None:
    """Every symbol has an argument or an op that gives its value."""
    bound = {a for arg in block.args for a in bound_symbols(arg.type)}
    for op in block.ops:
        bound.update(op_binds(op))
        for result in op.results:
            for atom in type_symbols(result.type):
                if atom not in bound:
                    raise ImportRefused(f"no argument gives the size symbol {atom!r}")


def small_content(value: torch.Tensor) -> list[Any] | None:
    """The elements of a small constant in row-major order, or None when it is not small."""
    if value.numel() > INLINE_ELEMENTS or (value.dtype.itemsize == 1 and value.is_floating_point()):
        return None
    if value.is_quantized or value.device.type != "cpu":
        return None
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes(), torch.no_grad():
        return value.detach().reshape(-1).tolist()


def _brings_symbol(node: torch.fx.Node, e: Expr) -> bool:
    """An int that an op computes; a number read from a tensor is not always marked as one."""
    read = node.target is torch.ops.aten._local_scalar_dense.default and e.as_int is None
    return read or bool(node.meta.get("unbacked_bindings"))


def _env_value(value: SSAValue) -> Any:
    if isinstance(value.type, IntType):
        return value.type.data
    return None if isinstance(value.type, AbsentType) else value


def _math_name(target: Any) -> str | None:
    """`math.floor`, `torch._sym_acos`, ...: the name when `aten.py` has it."""
    from minductor.dialects.aten.special import PY_FUNCTIONS

    name = getattr(target, "__name__", "").removeprefix("_sym_").removeprefix("sym_")
    return name if name in PY_FUNCTIONS else None


def _conjugate(node: torch.fx.Node) -> complex | None:
    """The conjugate of a Python number, for which torch's operators want a tensor; else None."""
    given = node.args[0] if node.args and "_conj" in str(node.target) else None
    return given.conjugate() if isinstance(given, complex) else None


def _hint(name: str) -> str:
    """A name that the printer takes; FX names are identifiers, so only digits need a letter."""
    return f"_{name}" if name[:1].isdigit() else name
