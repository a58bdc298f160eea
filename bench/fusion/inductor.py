"""TorchInductor's kernels, read from what it logs.

`ir_post_fusion` gives the fused nodes: the loop body of each, as text, with its loads and stores
and their indices, and the layouts and users of the buffers made. `output_code` gives the wrapper:
which buffers it hands to a kernel, and with which arguments it calls the library. A buffer that no
kernel is handed, and that only its own node uses, lives in registers: its loads and stores are not
memory traffic.

TorchInductor prints several fused nodes into one C++ function where no call stands between them;
each counts as a kernel here, since between them data go through memory.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bench.fusion.account import Buffer, Call, Graph, Kernel, Touch
from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr

_PREFIX = re.compile(r"^[VIWE]\d{4} .*?\] (?:\[[\d/_]+\] )?\[__\w+\] ?")
_NODE = re.compile(r"^(\w+): (\w*SchedulerNode)\((.*)\)$")
_BODY = re.compile(r"^class (\w+)_loop_body:")
_LAYOUT = re.compile(r"^\s*(\w+?)(?:\.layout|_layout) = (.*)$")
_USERS = re.compile(r"^\s*(\w+)\.users = ")
_USER = re.compile(r"NodeUser\(node=(?:\w+\(name='(\w+)'\)|(\w+))")
_FIXED = re.compile(r"torch\.(\w+), size=\[(.*?)\], stride=\[(.*?)\]")

ITEMS = {
    "float64": 8, "int64": 8, "complex64": 8, "float32": 4, "int32": 4, "float16": 2,
    "bfloat16": 2, "int16": 2, "int8": 1, "uint8": 1, "bool": 1,
}  # fmt: skip


class LogError(ValueError):
    """The log is not as expected; the text names the line."""


@dataclass(frozen=True)
class Layout:
    """Element size, sizes and strides of a tensor."""

    item: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def span(self) -> int:
        """Elements from the first to the last."""
        if 0 in self.sizes:
            return 0
        return 1 + sum((n - 1) * s for n, s in zip(self.sizes, self.strides, strict=True))

    @property
    def bytes(self) -> int:
        """Bytes of distinct elements."""
        pairs = zip(self.sizes, self.strides, strict=True)
        return self.item * math.prod(n if s or not n else 1 for n, s in pairs)


@dataclass
class Body:
    """The loops of one node, and its lines."""

    loops: tuple[int, ...] = ()
    reduces: bool = False
    indices: dict[str, str] = field(default_factory=dict[str, str])
    names: tuple[str, ...] = ()
    lines: list[str] = field(default_factory=list[str])


@dataclass
class Node:
    """A node after fusion. `kind` is its class in the log."""

    name: str
    kind: str
    bodies: list[Body] = field(default_factory=list[Body])


@dataclass
class Section:
    """One graph of the log: its nodes, the layouts of buffers, the wrapper's text."""

    nodes: list[Node] = field(default_factory=list[Node])
    layouts: dict[str, Layout] = field(default_factory=dict[str, Layout])
    mutations: set[str] = field(default_factory=set[str])
    users: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    reading: str = ""
    """The buffer whose users the lines at hand list."""
    code: str = ""


def read_log(text: str) -> list[Graph]:
    """The graphs of a log, in the order in which they were compiled."""
    sections = split_log(line for line in map(_unprefixed, text.splitlines()))
    return [graph_of(one) for one in sections]


def _unprefixed(line: str) -> str:
    return _PREFIX.sub("", line, count=1)


# -- the log --------------------------------------------------------------------------------------
def split_log(lines: Iterable[str]) -> list[Section]:
    """The log by graphs."""
    sections: list[Section] = []
    code: list[str] | None = None
    for line in lines:
        if line.startswith("AFTER FUSION"):
            sections.append(Section())
            code = None
        elif line.startswith("Output code:"):
            code = []
        elif line.startswith("Output code written to"):
            if code is not None and sections:
                sections[-1].code = "\n".join(code)
            code = None
        elif code is not None:
            code.append(line)
        elif sections:
            _ir_line(sections[-1], line)
    return sections


def _ir_line(section: Section, line: str) -> None:
    """Take one line of the fused IR."""
    if found := _USERS.match(line):
        section.reading = found[1]
    if "NodeUser(" in line and section.reading:
        used = section.users.setdefault(section.reading, set())
        used.update(a or b for a, b in _USER.findall(line))
        return
    if found := _LAYOUT.match(line):
        layout = _layout(found[2])
        if layout is not None:
            section.layouts[found[1]] = layout
        if found[2].startswith("Mutation"):
            section.mutations.add(found[1])
        return
    if found := _NODE.match(line):
        if not (section.nodes and found[1] in section.nodes[-1].name.split("_")):
            section.nodes.append(Node(found[1], found[2]))
        return
    if not section.nodes:
        return
    node = section.nodes[-1]
    if _BODY.match(line):
        node.bodies.append(Body())
    elif node.bodies:
        _body_line(node.bodies[-1], line.strip())


def _layout(text: str) -> Layout | None:
    found = _FIXED.search(text)
    if found is None:
        return None
    return Layout(ITEMS[found[1]], _numbers(found[2]), _numbers(found[3]))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


def _body_line(body: Body, line: str) -> None:
    if line.startswith("var_ranges = "):
        pairs = [pair.split(": ") for pair in line.partition("{")[2].rstrip("}").split(", ")]
        pairs = [pair for pair in pairs if len(pair) == 2]
        body.names = tuple(name for name, _ in pairs)
        body.loops = tuple(int(extent) for _, extent in pairs)
    elif found := re.match(r"(index\d+) = (.*)$", line):
        body.indices[found[1]] = found[2]
    elif "=" in line:
        body.lines.append(line)
        body.reduces = body.reduces or "ops.reduction(" in line or "ops.store_reduction(" in line


# -- kernels --------------------------------------------------------------------------------------
def graph_of(section: Section) -> Graph:
    """The kernels and calls of one graph."""
    graph = Graph()
    handed = handed_over(section.code) | section.mutations
    for node in section.nodes:
        if node.bodies:
            kernel = kernel_of(node, section, handed)
            if kernel.touches:
                graph.kernels.append(kernel)
    graph.calls = list(calls_of(section))
    return graph


def handed_over(code: str) -> set[str]:
    """Buffers that the wrapper hands to kernels, or returns."""
    found: set[str] = set()
    for line in code.splitlines():
        if re.match(r"\s*(cpp_fused\w*|\w+\.run)\(", line) or line.strip().startswith("return ("):
            found.update(re.findall(r"[A-Za-z_]\w*", line))
    return found


def kernel_of(node: Node, section: Section, handed: set[str]) -> Kernel:
    """One fused node as a kernel."""
    kernel = Kernel(node.name, shared_rows([body.loops for body in node.bodies]))
    made: dict[str, int] = {}
    loops: dict[str, list[tuple[int, ...]]] = {}
    inside = set(re.findall(r"op\d+", node.name))
    for body in node.bodies:
        step = max((made.get(name, 0) for name in _loaded(body)), default=0)
        for touch in body_touches(body, section, step):
            if touch.store:
                made[touch.buffer.name] = step + body.reduces
            name = touch.buffer.name
            if name not in made or name in handed or section.users.get(name, inside) - inside:
                kernel.touches.append(touch)
                loops.setdefault(name, []).append(body.loops)
    kernel.shared = {name: shared_rows(found) for name, found in loops.items()}
    return kernel


def _loaded(body: Body) -> Iterator[str]:
    for line in body.lines:
        if found := re.search(r"ops\.load\('(\w+)'", line):
            yield found[1]


def shared_rows(loops: Sequence[tuple[int, ...]]) -> int:
    """Iterations of the outer loops that bodies share: the most that divides them all so. A body of
    one loop may be cut anywhere."""
    if len(loops) == 1:
        return math.prod(loops[0])
    common: set[int] | None = None
    for extents in loops:
        total = math.prod(extents)
        parts = {math.prod(extents[:k]) for k in range(len(extents) + 1)}
        if common is None:
            common = parts
        elif len(extents) == 1:
            common = {v for v in common if v and total % v == 0}
        else:
            common &= parts
    return max(common or {1})


_ACCESS = re.compile(r"(\w+) = ops\.(load|store|store_reduction)\('(\w+)', (\w+)(.*)\)$")
_GET = re.compile(r"(\w+) = self\.get_index\('(\w+)'\)")
_INDIRECT = re.compile(r"set_indirect(\d+) = self\.set_indirect(\d+)\((\w+)")


def body_touches(body: Body, section: Section, step: int) -> Iterator[Touch]:
    """The loads and stores of a body. Of a gather, the loops behind its data count as trips."""
    behind: dict[str, set[str]] = {}
    used: dict[str, str] = {}
    for line in body.lines:
        name = line.partition(" = ")[0]
        words = set(re.findall(r"\b[a-z]\w*\b", line.partition(" = ")[2]))
        behind[name] = set[str]().union(*(behind.get(w, set()) for w in words))
        if found := _GET.match(line):
            used[found[1]] = found[2]
            behind[name] = _variables(body.indices[found[2]], body, behind)
            continue
        if found := _INDIRECT.match(line):
            behind[f"indirect{found[2]}"] = behind.get(found[3], set())
            continue
        if found := _ACCESS.match(line):
            index = body.indices[used[found[4]]]
            combine = "atomic" in found[5]
            store = found[2] != "load"
            yield _touch(body, section, found[3], index, behind, step, store, combine)


def _variables(index: str, body: Body, behind: dict[str, set[str]]) -> set[str]:
    """Loop variables behind an index."""
    found: set[str] = set()
    for word in re.findall(r"[a-z]\w*", index):
        found |= {word} & set(body.names) | behind.get(word, set())
    return found


def _touch(
    body: Body,
    section: Section,
    name: str,
    index: str,
    behind: dict[str, set[str]],
    step: int,
    store: bool,
    combine: bool,
) -> Touch:
    layout = section.layouts.get(name)
    item = layout.item if layout else 4
    loops = tuple(ex.const(n) for n in body.loops)
    if "indirect" in index or "tmp" in index:
        variables = _variables(index, body, behind)
        trips = math.prod(body.loops[body.names.index(v)] for v in variables)
        numel = layout.span if layout else trips
        dense = any(re.search(rf"(?:^|[+(] ?){v}(?:$| [+-]|\))", index) for v in body.names)
        return Touch(Buffer(name, numel, item), None, loops, step, store, combine, trips, dense)
    flat = read_index(index, body.names)
    numel = layout.span if layout else _reach(flat, body.loops)
    return Touch(Buffer(name, numel, item), flat, loops, step, store, combine)


def _reach(flat: Expr, loops: Sequence[int]) -> int:
    """One more than the largest index of a linear expression."""
    return (
        1
        + flat.constant_term
        + sum(max(0, (flat.coeff(a).as_int or 0) * (loops[a.index] - 1)) for a in flat.vars("d"))
    )


def read_index(text: str, names: Sequence[str]) -> Expr:
    """An index as TorchInductor prints it, over d0, d1, .. for `names`."""
    return _read(ast.parse(text, mode="eval").body, names)


def _read(node: ast.expr, names: Sequence[str]) -> Expr:
    match node:
        case ast.Constant(value=int() as value):
            return ex.const(value)
        case ast.Name(id=name) if name in names:
            return ex.dim(names.index(name))
        case ast.UnaryOp(op=ast.USub(), operand=a):
            return -_read(a, names)
        case ast.BinOp(left=a, op=op, right=b):
            return _binary(type(op).__name__, _read(a, names), _read(b, names), node)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, [_read(one, names) for one in args], node)
        case _:
            raise LogError(f"an index has {ast.unparse(node)!r}")


def _binary(op: str, a: Expr, b: Expr, node: ast.expr) -> Expr:
    match op:
        case "Add":
            return a + b
        case "Sub":
            return a - b
        case "Mult":
            return a * b
        case "FloorDiv":
            return ex.floordiv(a, b)
        case "Mod":
            return ex.mod(a, b)
        case _:
            raise LogError(f"an index has {ast.unparse(node)!r}")


def _call(name: str, args: Sequence[Expr], node: ast.expr) -> Expr:
    match name:
        case "ModularIndexing":
            return ex.mod(ex.floordiv(args[0], args[1]), args[2])
        case "FloorDiv":
            return ex.floordiv(args[0], args[1])
        case "Mod" | "PythonMod":
            return ex.mod(args[0], args[1])
        case "Min":
            return ex.emin(args[0], args[1])
        case "Max":
            return ex.emax(args[0], args[1])
        case "Identity":
            return args[0]
        case _:
            raise LogError(f"an index has {ast.unparse(node)!r}")


# -- calls ----------------------------------------------------------------------------------------
def calls_of(section: Section) -> Iterator[Call]:
    """Calls of the library in the wrapper: all that is neither a kernel nor about memory."""
    layouts = dict(section.layouts)
    function = _call_function(section.code)
    if function is None:
        return
    layouts.update(_graph_inputs(section.code))
    layouts = _allocated(section.code) | layouts
    parts = _results(function)
    for statement in function.body:
        value = getattr(statement, "value", None)
        if not isinstance(value, ast.Call):
            continue
        name = ast.unparse(value.func)
        if not name.startswith(("extern_kernels.", "torch.ops.", "aten.")):
            continue
        moved: dict[str, int] = {}
        given = [*value.args, *(k.value for k in value.keywords)]
        for one in given:
            moved.update(_tensors(one, layouts))
        total = sum(moved.values())
        if isinstance(statement, ast.Assign):
            made = ast.unparse(statement.targets[0])
            for result in parts.get(made, [made]):
                total += layouts[result].bytes if result in layouts else 0
        yield Call(name.removeprefix("torch.ops.").removesuffix(".default"), total)


def _call_function(code: str) -> ast.FunctionDef | None:
    """The wrapper's `call`."""
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        raise LogError(f"the wrapper's text does not parse: {error}") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "call":
            return node
    return None


def _graph_inputs(code: str) -> dict[str, Layout]:
    """Layouts of a graph's inputs, from the wrapper's own benchmark at its end."""
    call = r"rand_strided\(\((.*?)\), \((.*?)\), device='\w+', dtype=torch\.(\w+)\)"
    return _layouts(call, code)


def _allocated(code: str) -> dict[str, Layout]:
    """Layouts of the buffers that the wrapper allocates: those of a cat stand nowhere else."""
    return _layouts(r"empty_strided_cpu\(\((.*?)\), \((.*?)\), torch\.(\w+)\)", code)


def _layouts(call: str, code: str) -> dict[str, Layout]:
    """Names that a call is assigned to; its groups are sizes, strides and dtype."""
    return {
        name: Layout(ITEMS[dtype], _numbers(sizes), _numbers(strides))
        for name, sizes, strides, dtype in re.findall(rf"(\w+) = {call}", code)
    }


def _results(function: ast.FunctionDef) -> dict[str, list[str]]:
    """Names of the parts that are taken of a call's results."""
    parts: dict[str, list[str]] = {}
    for statement in function.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=part)], value=ast.Subscript(value=ast.Name(id=whole))
            ):
                parts.setdefault(whole, []).append(part)
            case _:
                pass
    return parts


def _tensors(node: ast.expr, layouts: dict[str, Layout]) -> Iterator[tuple[str, int]]:
    """Tensors in an argument: text and bytes."""
    match node:
        case ast.Name(id=name) if name in layouts:
            yield name, layouts[name].bytes
        case ast.Call(func=ast.Name(id="reinterpret_tensor"), args=[base, sizes, strides, *_]):
            item = next((n for _, n in _items(base, layouts)), 4)
            shape = tuple(ast.literal_eval(sizes)), tuple(ast.literal_eval(strides))
            yield ast.unparse(node), Layout(item, *shape).bytes
        case ast.List() | ast.Tuple():
            for one in node.elts:
                yield from _tensors(one, layouts)
        case _:
            return


def _items(node: ast.expr, layouts: dict[str, Layout]) -> Iterator[tuple[str, int]]:
    """Element sizes of the tensors named in an expression."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id in layouts:
            yield one.id, layouts[one.id].item
