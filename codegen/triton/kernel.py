"""One `kernel.func` as a Triton function and its row of LAUNCH.

Loops that say `run grid` become the program index; a loop with lanes is a block axis; all values of
a kernel have one rank, with size 1 along axes they do not vary with.
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Block, Operation, SSAValue

from minductor.codegen.triton import reduce as red
from minductor.codegen.triton.elementary import helpers_instead
from minductor.codegen.triton.points import define, joined, print_point, type_text
from minductor.codegen.triton.scope import (
    POINTERS,
    RESERVED,
    TYPES,
    Axis,
    EmitError,
    Scope,
    size_text,
)
from minductor.codegen.wrapper.names import Names
from minductor.dialects import expr as ex
from minductor.dialects.attrs import Words
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr import Expr
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import symbol_ranges
from minductor.dialects.scalar import ops as sc
from minductor.dialects.types import BufType

GridLoop = k.ParallelOp | k.ForOp | k.TileOp | k.ReduceOp
LOOPS = (k.ParallelOp, k.ForOp, k.TileOp, k.ReduceOp, k.ScanOp)


def rank_of(block: Block) -> int:
    """The largest number of block axes on a path of loops."""
    return max((rank_of_op(op) for op in block.ops), default=0)


def rank_of_op(op: Operation) -> int:
    """As `rank_of`, of one op with its regions."""
    own = isinstance(op, LOOPS) and op.words.data.lanes > 1
    return max((own + rank_of(region.block) for region in op.regions), default=0)


class KernelPrinter:
    """Prints one kernel."""

    def __init__(self, func: k.FuncOp):
        self.func = func
        self.name = func.sym_name.data.replace(".", "_")
        names = Names(set(RESERVED) | {str(e) for e in func.symbols.data})
        self.params = [names.define(a) for a in func.body.block.args]
        self.names = names
        self.wide = func.config.lookup("index", "i64") == "i64"
        self.ranges = symbol_ranges(func)
        self.grid: list[str] = []
        self.counts: list[str] = []
        self.faults = False
        self.blocks: dict[str, str] = {}  # loop variable -> the block that it was last
        self.given = False  # the program index is a parameter, of a function for one range of it

    def text(self) -> str:
        """The function's source."""
        ops = list(self.func.body.block.ops)
        loops = [op for op in ops if isinstance(op, LOOPS)]
        gridded = [
            op for op in loops if op.words.data.run == "grid" and not isinstance(op, k.ScanOp)
        ]
        sizes = [str(e) for e in self.func.symbols.data]
        head = f"@triton.jit\ndef {self.name}({', '.join([*self.params, *sizes])}):"
        if len(gridded) > 1 or (gridded and len(loops) > 1):
            if gridded != ops:
                raise EmitError(
                    f"{self.name}: a grid has no barrier, so what stands beside a top-level grid "
                    "loop is another one, independent of it; split the kernel"
                )
            return self._ranges(gridded, head, sizes)
        scope = self._scope(rank_of(self.func.body.block))
        self._block(scope, self.func.body.block)
        self._close(scope)
        return "\n".join([*_comments(self.func, self.name), head, *scope.lines])

    def _scope(self, rank: int) -> Scope:
        own = helpers_instead(self.func.config.lookup)
        return Scope(max(1, rank), self.names, [], wide=self.wide, ranges=self.ranges, instead=own)

    def _close(self, scope: Scope) -> None:
        """The programs of a finished function, and whether it checks indices."""
        self.counts.append(" * ".join(self.grid) or "1")
        self.grid = []
        self.faults = self.faults or bool(scope.faults)

    def _ranges(self, loops: list[GridLoop], head: str, sizes: list[str]) -> str:
        """Grid loops side by side: each a function of its own, with a range of the program index.

        Functions, since Triton wants a name to have one type in all branches.
        """
        self.given = True
        parts: list[str] = []
        wide = ".to(tl.int64)" if self.wide else ""
        body = [f"    pid = {_program(self.func)}{wide}"]
        before = "0"
        for number, op in enumerate(loops):
            used = {v for inner in op.walk() for v in inner.operands}
            pairs = zip(self.params, self.func.body.block.args, strict=True)
            params = ["pid", *(name for name, arg in pairs if arg in used), *sizes]
            name = f"{self.name}_part{number}"
            scope = self._scope(rank_of_op(op))
            self._grid(scope, op)
            parts.append(
                "\n".join([f"@triton.jit\ndef {name}({', '.join(params)}):", *scope.lines])
            )
            self._close(scope)
            args = [f"pid - ({before})", *params[1:]]
            before = " + ".join(self.counts)
            word = "if" if number == 0 else "elif"
            test = f"{word} pid < {before}:" if number < len(loops) - 1 else "else:"
            body += [f"    {test}", f"        {name}({', '.join(args)})"]
        self.counts = [before]
        return "\n\n\n".join([*parts, "\n".join([*_comments(self.func, self.name), head, *body])])

    # -- launch -----------------------------------------------------------------------------------
    def launch(self) -> dict[str, object]:
        """The kernel's row of LAUNCH."""
        func = self.func
        signature: dict[str, str] = {}
        for name, arg in zip(self.params, func.body.block.args, strict=True):
            signature[name] = POINTERS[cast(BufType, arg.type).dtype]
        sizes = [str(e) for e in func.symbols.data]
        signature |= dict.fromkeys(sizes, "i64" if self.wide else "i32")
        row: dict[str, object] = {
            "grid": (self.counts[0], "1", "1"),
            "sizes": tuple(sizes),
            "signature": signature,
            "divisible": tuple(self.params),
            "num_warps": func.config.lookup("warps", 4),
            "num_stages": func.config.lookup("stages", 1),
        }
        if self.faults:
            row["debug"] = True
        return row

    # -- blocks and loops -------------------------------------------------------------------------
    def _block(self, scope: Scope, block: Block) -> None:
        for op in block.ops:
            if print_point(scope, op):
                continue
            match op:
                case k.ParallelOp() | k.ForOp() | k.TileOp() | k.ReduceOp():
                    self._loop(scope, op)
                case k.FoldOp():
                    _fold(scope, op)
                case k.CumfoldOp():
                    _cumfold(scope, op)
                case k.ScanOp():
                    self._scan(scope, op)
                case k.BarrierOp():
                    scope.line("tl.debug_barrier()")
                case k.YieldOp():
                    pass
                case _:
                    raise EmitError(f"{self.name}: `{op.name}` has no Triton form")
        if len(scope.lines) == 0:
            scope.line("pass")

    def _loop(self, scope: Scope, op: GridLoop) -> None:
        words = op.words.data
        if words.run == "grid":
            self._grid(scope, op)
        elif isinstance(op, k.ReduceOp):
            self._reduce(scope, op)
        else:
            inner = self._enter(scope, op, single=isinstance(op, k.TileOp))
            self._block(inner, op.regions[0].block)

    def _grid(self, scope: Scope, op: GridLoop) -> None:
        """The program index counts the grid loops of a path, outermost slowest."""
        extent, words = op.extent.data, op.words.data
        blocks = ex.floordiv(extent + words.lanes - 1, words.lanes)
        pid = "pid"
        if not self.grid and not self.given:
            kind = ".to(tl.int64)" if scope.wide else ""
            scope.line(f"pid = {_program(self.func)}{kind}")
        self.grid.append(f"({size_text(blocks)})")
        inside = _programs(op)
        if inside is not ex.ONE:
            pid = f"({pid} // ({scope.index(inside, [])}))"
        if len(self.grid) > 1:
            pid = f"({pid} % ({scope.index(blocks, [])}))"
        inner = self._axis(scope, op, f"{pid} * {words.lanes}" if words.lanes > 1 else pid, False)
        self._block(inner, op.regions[0].block)

    def _axis(
        self, scope: Scope, op: Operation, base: str, deeper: bool, masked: bool = True
    ) -> Scope:
        """Define the loop's variable from the first index of its block."""
        assert isinstance(op, LOOPS)
        extent, words = op.extent.data, op.words.data
        inner = scope.inner((op.var.data, extent), deeper)
        var = f"d{op.var.data}"
        offset = self.blocks[var] = _offset(self.func, scope, words.lanes)
        if words.lanes == 1:
            inner.line(f"{var} = {base}")
            return inner
        position = len(scope.axes)
        inner.line(f"{var} = {offset}" if base == "0" else f"{var} = {base} + {offset}")
        mask = None
        if words.tail != "none" and masked:
            mask = f"m{op.var.data}"
            inner.line(f"{mask} = {var} < {scope.index(extent, [])}")
        count = scope.index(extent, []) if base == "0" else ""
        inner.axes[ex.dim_atom(op.var.data)] = Axis(position, words.lanes, mask, count)
        return inner

    def _restart(self, scope: Scope, op: Operation) -> None:
        """Before a loop whose variable was a block of another shape: its type may not change."""
        assert isinstance(op, LOOPS)
        block = _offset(self.func, scope, op.words.data.lanes)
        if self.blocks.get(f"d{op.var.data}", block) != block:
            self._axis(scope, op, "0", False)

    def _enter(self, scope: Scope, op: Operation, single: bool) -> Scope:
        """The body scope of a loop inside a program; one block needs no loop."""
        assert isinstance(op, LOOPS)
        extent, words = op.extent.data, op.words.data
        known = extent.as_int
        if single or (words.lanes > 1 and known is not None and known <= words.lanes):
            return self._axis(scope, op, "0", False)
        end = scope.index(extent, [])
        var = f"d{op.var.data}"
        self._restart(scope, op)
        if words.lanes == 1:
            inner = scope.inner((op.var.data, extent), True)
            scope.line(f"for {var}{'_base' if scope.wide else ''} in range(0, {end}):")
            if scope.wide:
                inner.line(f"{var} = {var}_base + tl.full([], 0, tl.int64)")
            return inner
        scope.line(f"for {var}_base in {_range(end, words)}:")
        return self._axis(scope, op, f"{var}_base", True)

    # -- reductions -------------------------------------------------------------------------------
    def _reduce(self, scope: Scope, op: k.ReduceOp) -> None:
        atom = ex.dim_atom(op.var.data)
        lanes = op.words.data.lanes
        last = op.body.block.last_op
        assert last is not None
        around = frozenset(scope.axes)
        dtypes = [dtype_of_scalar(v.type).name for v in last.operands]
        shape_axes = dict(scope.axes)
        if lanes > 1:
            shape_axes[atom] = Axis(len(scope.axes), lanes, None)
        shape = Scope(scope.rank, scope.names, [], axes=shape_axes).shape(shape_axes)
        accs = _accumulators(scope, op.kind_names, dtypes, shape)
        parts = self._turns(scope, op, accs, shape)
        results = iter(op.results)
        for part, acc in zip(parts, accs, strict=True):
            names = acc
            if lanes > 1:
                names = red.fold(scope, part, acc, len(scope.axes))
            for name in red.finish(scope, part, names):
                define(scope, next(results), name, around)

    def _turns(
        self, scope: Scope, op: k.ReduceOp, accs: list[list[str]], shape: str
    ) -> list[red.Part]:
        """The loop of a reduction into its accumulators: `unroll` blocks at a time, then one."""
        words, known = op.words.data, op.extent.data.as_int
        step = words.lanes * words.unroll
        if words.unroll == 1 or words.lanes == 1:
            return self._turn(scope, op, self._enter(scope, op, single=False), accs, shape)
        var, end = f"d{op.var.data}", scope.index(op.extent.data, [])
        whole = str(known // step * step) if known is not None else f"{end} // {step} * {step}"
        self._restart(scope, op)
        scope.line(f"for {var}_base in range(0, {whole}, {step}):")
        groups: list[list[red.Part]] = []
        inner = scope
        for number in range(words.unroll):
            base = f"{var}_base + {number * words.lanes}" if number else f"{var}_base"
            inner = self._axis(scope, op, base, True, masked=False)
            self._block(inner, op.body.block)
            groups.append(_parts(inner, op.kind_names, _yielded(op)))
        for number, acc in enumerate(accs):
            red.gather(inner, [g[number] for g in groups], acc, shape, f"{var}_base // {step}")
        if known is not None and known % step == 0:
            return groups[-1]
        scope.line(f"for {var}_base in range({whole}, {end}, {words.lanes}):")
        return self._turn(scope, op, self._axis(scope, op, f"{var}_base", True), accs, shape)

    def _turn(
        self, scope: Scope, op: k.ReduceOp, inner: Scope, accs: list[list[str]], shape: str
    ) -> list[red.Part]:
        """One block of a reduction into its accumulators."""
        lanes = op.words.data.lanes
        self._block(inner, op.body.block)
        parts = _parts(inner, op.kind_names, _yielded(op))
        masks = inner.mask([ex.dim_atom(op.var.data)])
        turn = f"d{op.var.data}" if lanes == 1 else "0"
        if lanes > 1 and inner.depth > scope.depth:
            turn = f"d{op.var.data}_base // {lanes}"
        for part, acc in zip(parts, accs, strict=True):
            if part.kind == "welford":
                red.moments(inner, part, acc, shape, masks, turn)
                continue
            states = red.lifted(inner, part, shape, masks)
            red.step(inner, part, acc, states)
        return parts

    def _scan(self, scope: Scope, op: k.ScanOp) -> None:
        """Blocks in order, each scanned and combined with what the blocks before leave."""
        atom = ex.dim_atom(op.var.data)
        last = op.body.block.last_op
        assert last is not None
        lanes = op.words.data.lanes
        kinds = op.kind_names
        dtypes = [dtype_of_scalar(v.type).name for v in last.operands]
        carry_shape = scope.shape(scope.axes)
        carries = _accumulators(scope, kinds, dtypes, carry_shape)
        inner = self._enter(scope, op, single=False)
        self._block(inner, op.body.block)
        parts = _parts(inner, kinds, list(last.operands))
        args = iter(op.then.block.args)
        varies = frozenset(inner.axes)
        for part, carry in zip(parts, carries, strict=True):
            if lanes == 1:
                states = red.lifted(inner, part, carry_shape, [])
                red.step(inner, part, carry, states)
                for name in carry:
                    define(inner, next(args), name, varies)
                continue
            shape = inner.shape(inner.axes)
            states = red.lifted(inner, part, shape, inner.mask([atom]))
            position = inner.axes[atom].position
            packed = states[0] if len(states) == 1 else f"({', '.join(states)})"
            names = [inner.names.fresh("prefix") for _ in states]
            scan = f"tl.associative_scan({packed}, {position}, {part.combine()})"
            inner.line(f"{', '.join(names)} = {scan}")
            full = [f"tl.broadcast_to({c}, {shape})" for c in carry]
            inner.line(f"{', '.join(names)} = {part.combine()}({', '.join([*full, *names])})")
            totals = red.fold(inner, part, states, position)
            red.step(inner, part, carry, totals)
            for name in names:
                define(inner, next(args), name, varies)
        self._block(inner, op.then.block)


def _program(func: k.FuncOp) -> str:
    """What counts the programs, from the last where the kernel begins there."""
    if func.config.lookup("begin", "first") == "last":
        return "(tl.num_programs(0) - 1 - tl.program_id(0))"
    return "tl.program_id(0)"


def _fold(scope: Scope, op: k.FoldOp) -> None:
    atom = ex.dim_atom(op.over.data)
    axis = scope.axes[atom]
    varies = joined(scope, list(op.operands))
    shape = scope.shape(varies | {atom})
    (part,) = _parts(scope, [op.kind.data], list(op.operands))
    masks = scope.mask([atom])
    names = red.whole(scope, part, shape, masks, axis, _short(scope, op.operands[-1]))
    for name, result in zip(names, op.results, strict=True):
        define(scope, result, name, varies - {atom})


def _cumfold(scope: Scope, op: k.CumfoldOp) -> None:
    atom = ex.dim_atom(op.over.data)
    varies = joined(scope, list(op.operands)) | {atom}
    (part,) = _parts(scope, [op.kind.data], list(op.operands))
    states = red.lifted(scope, part, scope.shape(varies), scope.mask([atom]))
    _prefix(scope, part, states, scope.axes[atom].position, list(op.results), varies)


def _prefix(
    scope: Scope,
    part: red.Part,
    states: list[str],
    position: int,
    results: list[SSAValue],
    varies: frozenset[ex.Atom],
) -> None:
    packed = states[0] if len(states) == 1 else f"({', '.join(states)})"
    text = f"tl.associative_scan({packed}, {position}, {part.combine()})"
    names = [scope.names.fresh("prefix") for _ in states]
    scope.line(f"{', '.join(names)} = {text}")
    for name, result in zip(names, results, strict=True):
        define(scope, result, f"{name}.to({type_text(result)})", varies)


def _comments(func: k.FuncOp, name: str) -> list[str]:
    lines = [f"# {name}"]
    lines += [f"#   {o.text()}" for o in func.origins.data]
    if func.bytes_ is not None:
        floor, unfused, planned = func.bytes_.data
        lines.append(f"# bytes: floor {floor}, unfused {unfused}, planned {planned}")
    return lines


def _programs(op: GridLoop) -> Expr:
    """Programs of the grid loops inside one."""
    count, inner = ex.ONE, [op]
    while True:
        block = inner[0].regions[0].block
        inner = [i for i in block.ops if isinstance(i, LOOPS) and i.words.data.run == "grid"]
        if not inner:
            return count
        extent, lanes = inner[0].extent.data, inner[0].words.data.lanes
        count = count * ex.floordiv(extent + lanes - 1, lanes)


def _offset(func: k.FuncOp, scope: Scope, lanes: int) -> str:
    """The indices of a block from its first one on."""
    if lanes == 1:
        return "0"
    offset = f"tl.arange(0, {lanes})"
    if vector := func.config.lookup("vector"):
        offset = f"tl.max_contiguous({offset}, [{vector}])"
    if scope.wide:  # loops count in 32 bits, and a stride may take the product beyond them
        offset += ".to(tl.int64)"
    return offset + scope.slice_text(len(scope.axes))


def _range(end: str, words: Words) -> str:
    """The firsts of a loop's blocks; loads of `ahead` of them are under way."""
    if words.ahead:
        return f"tl.range(0, {end}, {words.lanes}, num_stages={words.ahead + 1})"
    return f"range(0, {end}, {words.lanes})"


def _yielded(op: k.ReduceOp) -> list[SSAValue]:
    last = op.body.block.last_op
    assert last is not None
    return list(last.operands)


def _parts(scope: Scope, kinds: list[str], values: list[SSAValue]) -> list[red.Part]:
    out: list[red.Part] = []
    rest = list(values)
    for kind in kinds:
        count = red.ARITY.get(kind, 1)
        args, rest = rest[:count], rest[count:]
        dtypes = tuple(dtype_of_scalar(v.type).name for v in args)
        out.append(red.Part(kind, dtypes, tuple(scope.names[v] for v in args)))
    return out


def _short(scope: Scope, value: SSAValue) -> bool:
    """An index that 32 bits hold."""
    owner = value.owner
    if not isinstance(owner, sc.IndexOp) or owner.expr.data.vars("tu"):
        return False
    low, high = scope.ranges.interval(owner.expr.data)
    return low is not None and low >= 0 and high is not None and high < 2**31 - 1


def _accumulators(scope: Scope, kinds: list[str], dtypes: list[str], shape: str) -> list[list[str]]:
    out: list[list[str]] = []
    rest = list(dtypes)
    for kind in kinds:
        count = red.ARITY.get(kind, 1)
        part = red.Part(kind, tuple(rest[:count]), ())
        rest = rest[count:]
        names: list[str] = []
        for start, dtype in zip(part.identity(), part.states(), strict=True):
            name = scope.names.fresh("acc")
            scope.line(f"{name} = tl.full({shape}, {start}, {TYPES[dtype]})")
            names.append(name)
        out.append(names)
    return out
