"""Control flow with sub-graphs: each sub-graph becomes a private function of the module.

    %cond : tuple = torch.ops.higher_order.cond(%p, %true_graph_0, %false_graph_0, (%x,))
      -->
    %r = aten.control "minductor.cond"(%p, %x)
           args [#loop.arg<0>, @true_graph_0, @false_graph_0, [#loop.arg<1>]] : (..) -> ..
    func.func private @true_graph_0(%x: ..) -> .. { .. }

Results that are None are left out, of the call and of its functions. A region that is called once
where it stands (`invoke_subgraph`, `hints_wrapper`) is copied into the caller. `flex_attention` is
copied in as the plain arithmetic that eager runs, so it fuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from minductor.dialects.aten import AtenOp, ControlOp, is_view
from minductor.dialects.attrs import IndexAttr
from minductor.dialects.expr import ONE, ZERO, Expr
from minductor.dialects.pyattrs import ArgAttr, from_python
from minductor.dialects.types import IntType, ObjectType, TensorType
from minductor.lowering.decompositions import decompositions
from minductor.lowering.fx_to_aten.carried import CARRIED, steady
from minductor.lowering.fx_to_aten.errors import ImportRefused

if TYPE_CHECKING:
    from minductor.lowering.fx_to_aten.graph import GraphImporter


def import_control(importer: GraphImporter, node: torch.fx.Node, name: str) -> None:
    """`cond`, `while_loop`, `scan`, `map_impl` and their like, as an `aten.control`."""
    if any(value for value in node.kwargs.values()):
        raise ImportRefused(f"`{name}` that writes into its operands")
    packer = _Packer(importer, node)
    _prepare(importer, node, name, packer)
    args = [packer.attr(one) for one in node.args]
    value = node.meta.get("val")
    values: Sequence[Any] = value if isinstance(value, list | tuple) else [value]
    types = [importer.types.of(one) for one in values if one is not None]
    op = importer.add(ControlOp.of(f"minductor.{name}", packer.operands, args, {}, types), node)
    for i, result in enumerate(op.results):
        result.name_hint = f"{node.name}_{i}"
    given = iter(op.results)
    importer.env[node] = [None if one is None else _plain(next(given)) for one in values]


def _prepare(importer: GraphImporter, node: torch.fx.Node, name: str, packer: _Packer) -> None:
    """Of a loop: functions that take any step's values, and the one that says whether to go on."""
    place = CARRIED.get(name)
    if place is None:
        return
    functions: list[Any] = list(node.args[:place])
    carried = node.args[place]
    assert isinstance(carried, list | tuple)
    graphs = steady([_graph(importer, one) for one in functions], len(carried))
    for function, graph in zip(functions, graphs, strict=True):
        importer.env[function] = graph
    if place > 1:
        packer.deciding = graphs[0]


def call_region(importer: GraphImporter, node: torch.fx.Node, name: str) -> None:
    """`invoke_subgraph(graph, identifier, *operands)`: the graph's own nodes, in place."""
    graph, _, *operands = node.args
    importer.env[node] = inline(importer, _graph(importer, graph), operands)


def hints_region(importer: GraphImporter, node: torch.fx.Node, name: str) -> None:
    """`hints_wrapper(graph, operands, keywords, hints)`."""
    graph, operands, *_ = node.args
    assert isinstance(operands, list | tuple)
    importer.env[node] = inline(importer, _graph(importer, graph), operands)


def inline(importer: GraphImporter, gm: torch.fx.GraphModule, operands: Sequence[Any]) -> list[Any]:
    """Import the nodes of `gm` here, its placeholders bound to operands; what it gives."""
    given = iter(operands)
    outer, importer.gm = importer.gm, gm
    outs: Any = ()
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            importer.env[node] = importer.binder.value(next(given))
        elif node.op == "output":
            outs = node.args[0]
        else:
            importer.node(node)
    importer.gm = outer
    listed = outs if isinstance(outs, list | tuple) else [outs]
    return _tree(importer, listed)


def _tree(importer: GraphImporter, values: Sequence[Any]) -> list[Any]:
    """What a graph gives; lists stay lists."""
    return [
        _tree(importer, one) if isinstance(one, list | tuple) else importer.binder.value(one)
        for one in values
    ]


def _graph(importer: GraphImporter, value: Any) -> torch.fx.GraphModule:
    found = importer.env.get(value) if isinstance(value, torch.fx.Node) else value
    if not isinstance(found, torch.fx.GraphModule):
        raise ImportRefused("a sub-graph that is no graph")
    return found


def expand(importer: GraphImporter, node: torch.fx.Node, name: str) -> None:
    """The plain operators that eager runs for the op, traced on the node's fake operands."""
    leaves, spec = pytree.tree_flatten((node.args, node.kwargs))
    holes = [i for i, one in enumerate(leaves) if isinstance(one, torch.fx.Node)]
    known = {i: importer.env.get(leaves[i]) for i in holes}
    graphs = {i: one for i, one in known.items() if isinstance(one, torch.fx.GraphModule)}
    free = [i for i in holes if i not in graphs]

    def whole(*values: Any) -> Any:
        filled = {**graphs, **dict(zip(free, values, strict=True))}
        args, keywords = pytree.tree_unflatten(
            [filled.get(i, one) for i, one in enumerate(leaves)], spec
        )
        return EXPANSIONS[name]()(*args, **keywords)

    fakes = [leaves[i].meta["val"] for i in free]
    mode = next((one.fake_mode for one in fakes if isinstance(one, FakeTensor)), None)
    with nullcontext() if mode is None else mode:
        traced = make_fx(whole, decomposition_table=decompositions())(*fakes)
    for inner in traced.graph.nodes:
        inner.meta.setdefault("stack_trace", node.meta.get("stack_trace"))
    importer.env[node] = inline(importer, traced, [leaves[i] for i in free])


def _flex_attention() -> Callable[..., Any]:
    from torch._higher_order_ops.flex_attention import sdpa_dense

    return sdpa_dense


def _flex_attention_backward() -> Callable[..., Any]:
    from torch._higher_order_ops.flex_attention import sdpa_dense_backward

    return sdpa_dense_backward


EXPANSIONS: dict[str, Callable[[], Callable[..., Any]]] = {
    "flex_attention": _flex_attention,
    "flex_attention_backward": _flex_attention_backward,
}
"""Higher-order op -> eager's own arithmetic for it."""


class _Packer:
    """Turns arguments of a control op into attributes, and collects the operands they name."""

    def __init__(self, importer: GraphImporter, node: torch.fx.Node) -> None:
        self.importer = importer
        self.node = node
        self.operands: list[SSAValue] = []
        self.deciding: torch.fx.GraphModule | None = None

    def attr(self, value: Any) -> Attribute:
        """The attribute of an argument: functions, operands, lists of them, numbers."""
        if isinstance(value, list | tuple):
            return ArrayAttr([self.attr(one) for one in value])
        if isinstance(value, torch.fx.Node):
            graph = self.importer.env.get(value)
            if isinstance(graph, torch.fx.GraphModule):
                decides = graph is self.deciding
                return SymbolRefAttr(function_of(self.importer, graph, str(value.target), decides))
            if isinstance(graph, torch.SymBool):
                return self._truth(graph)
        found = self.importer.binder.value(value)
        if isinstance(found, SSAValue):
            if found not in self.operands:
                self.operands.append(found)
            return ArgAttr(self.operands.index(found))
        return from_python(found)

    def _truth(self, value: torch.SymBool) -> Attribute:
        """A relation of sizes: the expressions that are all >= 0 where it holds."""
        forms = self.importer.symbols.nonneg_form(value.node.expr)
        if forms is None:
            raise ImportRefused(f"a condition on sizes, `{value.node.expr}`, of no known form")
        return IndexAttr(tuple(forms))


def apply_object(importer: GraphImporter, node: torch.fx.Node, refusal: ImportRefused) -> None:
    """The node as a call of a Python object, which runs it as eager does.

    The object is an argument of the function: what it holds (a user's kernel, a sub-graph) stands
    nowhere in the text, so it may differ from process to process.
    """
    leaves, spec = pytree.tree_flatten((node.args, node.kwargs))
    values = {i: importer.env.get(one) for i, one in _nodes(leaves)}
    fixed = {i: one for i, one in values.items() if isinstance(one, torch.fx.GraphModule)}
    free = [i for i in values if i not in fixed]
    target: Any = node.target
    value = node.meta.get("val")
    results, result_spec = pytree.tree_flatten(value)
    kept = [i for i, one in enumerate(results) if one is not None]
    known = [None if i in free else fixed.get(i, one) for i, one in enumerate(leaves)]

    def run(operands: list[Any]) -> list[Any]:
        filled = dict(zip(free, operands, strict=True))
        operands.clear()
        args, keywords = pytree.tree_unflatten(
            [filled.get(i, one) for i, one in enumerate(known)], spec
        )
        flat = pytree.tree_leaves(target(*args, **keywords), is_leaf=lambda one: one is None)
        return [flat[i] for i in kept]

    name = getattr(target, "__name__", str(target))
    given = importer.constant_arg(f"{node.name}_object", ObjectType(name), run)
    packer = _Packer(importer, node)
    packer.operands.append(given)
    args = [ArgAttr(0), packer.attr([leaves[i] for i in free])]
    types = [importer.types.of(results[i]) for i in kept]
    op = importer.add(ControlOp.of("minductor.apply", packer.operands, args, {}, types), node)
    made: list[Any] = [None] * len(results)
    for i, result in zip(kept, op.results, strict=True):
        result.name_hint = f"{node.name}_{i}"
        made[i] = _plain(result)
    importer.env[node] = pytree.tree_unflatten(made, result_spec)


def _nodes(leaves: Sequence[Any]) -> list[tuple[int, torch.fx.Node]]:
    return [(i, one) for i, one in enumerate(leaves) if isinstance(one, torch.fx.Node)]


OPAQUE = frozenset(
    {
        "associative_scan",
        "call_torchbind",
        "cond",
        "flex_attention",
        "flex_attention_backward",
        "inline_asm_elementwise",
        "map_impl",
        "out_dtype",
        "scan",
        "triton_kernel_wrapper_functional",
        "while_loop",
    }
)
"""Functional higher-order ops that torch may run as they stand."""


def function_of(
    importer: GraphImporter, gm: torch.fx.GraphModule, wanted: str, decides: bool = False
) -> str:
    """The name of the private function of a sub-graph, which is imported when first met.

    One that `decides` whether a loop goes on may give a relation of numbers.
    """
    from minductor.lowering.fx_to_aten.graph import GraphImporter

    functions = importer.functions
    found = functions.of.get(gm)
    if found is not None:
        return found
    base = re.sub(r"\W", "_", wanted)
    name, count = base, 1
    while name in functions.of.values():
        name, count = f"{base}_{count}", count + 1
    functions.of[gm] = name
    inner = GraphImporter(gm, name, importer)
    inner.decides = decides
    try:
        func = inner.function("private")
        if inner.constants:
            raise ImportRefused("a large constant inside a sub-graph")
    except ImportRefused:
        del functions.of[gm]
        raise
    _own_results(func.body.block)
    func.update_function_type()
    functions.made.append(func)
    return name


def _own_results(block: Block) -> None:
    """Copies of the results that share memory with an argument or another result."""
    last = block.last_op
    assert isinstance(last, ReturnOp)
    taken: set[SSAValue] = set()
    for index, value in enumerate(list(last.operands)):
        if not isinstance(value.type, TensorType):
            continue
        root = _storage(value)
        if isinstance(root, BlockArgument) or root in taken:
            copy = AtenOp.make("clone.default", {"self": value}, [_dense(value.type)])
            block.insert_op_before(copy, last)
            last.operands[index] = root = copy.results[0]
        taken.add(root)


def _storage(value: SSAValue) -> SSAValue:
    """The value whose storage this one may show."""
    owner = value.owner
    while isinstance(owner, Operation) and is_view(owner) and owner.operands:
        value = owner.operands[0]
        owner = value.owner
    return value


def _dense(type_: TensorType) -> TensorType:
    """The type, contiguous where an element would be stored twice."""
    pairs = zip(type_.sizes, type_.strides, strict=True)
    if any(stride is ZERO and size is not ONE for size, stride in pairs):
        return TensorType.make(type_.dtype, type_.sizes, None, type_.device)
    return type_


def _plain(value: SSAValue) -> SSAValue | Expr:
    """What the environment holds for a result: an int is its expression."""
    return value.type.data if isinstance(value.type, IntType) else value


Handler = Callable[["GraphImporter", torch.fx.Node, str], None]

CONTROL_HANDLERS: dict[str, Handler] = {
    "cond": import_control,
    "while_loop": import_control,
    "while_loop_stack_output": import_control,
    "scan": import_control,
    "map_impl": import_control,
    "invoke_subgraph": call_region,
    "hints_wrapper": hints_region,
    **dict.fromkeys(EXPANSIONS, expand),
}
"""Higher-order op -> how it is imported."""
