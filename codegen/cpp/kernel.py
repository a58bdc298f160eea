"""One `kernel.func` as a C++ function and its C entry point.

A kernel whose loops say `run threads` becomes one parallel region from the first such loop to the
end: each threaded loop takes its share of the iterations, `barrier` is a barrier, what is not
threaded and stores runs in thread 0, and what only computes runs in every thread. A threaded
reduction leaves one state a thread in a shared array, which all threads merge in thread order.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.ir import Operation, SSAValue

from minductor.codegen.cpp import reduce
from minductor.codegen.cpp.ctext import memory_type
from minductor.codegen.cpp.loops import print_block, print_loop, print_op
from minductor.codegen.cpp.scope import Scope, unprintable
from minductor.codegen.cpp.shape import header, ranged, words_of
from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import symbol_ranges
from minductor.dialects.types import BufType

_DEFAULT_THREADS = 64


def entry_name(func: k.FuncOp) -> str:
    """The exported symbol of a kernel; dots of variants become underscores."""
    return func.sym_name.data.replace(".", "_")


def print_kernel(func: k.FuncOp) -> str:
    """Source of one kernel, without the prelude. Raises EmitError for what has no C++ form."""
    scope = Scope(symbol_ranges(func))
    name = scope.kernel = entry_name(func)
    scope.math = str(func.config.lookup("math", ""))
    dear = func.config.lookup("call")
    scope.call = dear if isinstance(dear, int) else None
    block = func.body.block
    params: list[str] = []
    for access, arg in zip(func.access.data, block.args, strict=True):
        scope.values[arg] = scope.names.new(arg.name_hint)
        const = "const " if access == "read" else ""
        kind = memory_type(cast(BufType, arg.type).dtype)
        params.append(f"{const}{kind} *__restrict {scope.values[arg]}")
    params += [f"i64 {e}" for e in func.symbols.data]
    scope.index.push(scope.out.slot())
    _print_body(scope, func)
    fault = "  int fault = 0;\n" if scope.faults else ""
    result = "fault" if scope.faults else "0"
    head = f"static int {name}_body({', '.join(params)}) {{"
    lines = [
        *scope.tables,
        *_comments(func),
        head,
        f"{fault}{scope.out.text()}",
        f"  return {result};",
        "}",
    ]
    return "\n".join([*lines, _entry(func, name)])


def print_twin(func: k.FuncOp, first: k.FuncOp) -> str:
    """Entry point of a kernel whose body is that of `first`, printed already."""
    return "\n".join([*_comments(func), _entry(func, entry_name(first))])


def _comments(func: k.FuncOp) -> list[str]:
    lines = [f"// {func.sym_name.data}"]
    for origin in func.origins.data:
        lines.append(f"//   {origin.text()}")
    if func.bytes_ is not None:
        floor, unfused, planned = func.bytes_.data
        lines.append(f"//   bytes: floor {floor}, unfused {unfused}, planned {planned}")
    return lines


def _entry(func: k.FuncOp, body: str) -> str:
    args: list[str] = []
    pairs = zip(func.access.data, func.body.block.args, strict=True)
    for i, (access, arg) in enumerate(pairs):
        kind = memory_type(cast(BufType, arg.type).dtype)
        args.append(f"({'const ' if access == 'read' else ''}{kind} *)ptrs[{i}]")
    args += [f"sizes[{i}]" for i in range(len(func.symbols.data))]
    used = "" if func.symbols.data else "  (void)sizes;\n"
    return (
        f'extern "C" int {entry_name(func)}(void *const *ptrs, const i64 *sizes) {{\n{used}'
        f"  return {body}_body({', '.join(args)});\n}}"
    )


def _print_body(scope: Scope, func: k.FuncOp) -> None:
    ops = list(func.body.block.ops)
    first = next((i for i, op in enumerate(ops) if _shared(op) is not None), None)
    if first is None:
        for op in ops:
            if not isinstance(op, k.BarrierOp):
                print_op(scope, op)
        if _past_caches(ops):
            scope.out.line("fence();")
        return
    for op in ops[:first]:
        print_op(scope, op)
    Region(scope, func).print(ops[first:])


def _threaded(op: Operation) -> bool:
    words = op.properties.get("words")
    return words is not None and cast(Any, words).data.run == "threads"


def _shared(op: Operation) -> Any | None:
    """The threaded loop that an op is, or that stands alone inside parallel loops; None: no one."""
    while not _threaded(op):
        ops = list(op.body.block.ops) if isinstance(op, k.ParallelOp) else []
        if len(ops) != 1:
            return None
        op = ops[0]
    return op


class Region:
    """The parallel region of a kernel."""

    def __init__(self, scope: Scope, func: k.FuncOp):
        self.scope = scope
        self.func = func
        self.spans = 0
        threads = func.config.lookup("threads")
        self.threads = threads if isinstance(threads, int) else None

    def print(self, ops: list[Operation]) -> None:
        """The region with these ops."""
        scope = self.scope
        clauses = "" if self.threads is None else f" num_threads({self.threads})"
        clauses += self._if_clause(ops)
        head = scope.out.slot()
        states = scope.out.slot()
        pragma = scope.out.slot()
        with scope.out.block("{"):
            scope.out.line("const int tid = omp_get_thread_num(), nt = omp_get_num_threads();")
            scope.out.line("(void)tid; (void)nt;")
            with scope.level():
                for i, op in enumerate(ops):
                    self._op(op, states, ops[i - 1] if i else None)
            if _past_caches(ops):
                scope.out.line("fence();")
        faults = " reduction(|:fault)" if scope.faults else ""
        pragma.add(f"#pragma omp parallel{clauses}{faults}")
        del head

    def _if_clause(self, ops: list[Operation]) -> str:
        """Threads pay when any threaded loop says so."""
        whens = [words_of(loop).when for op in ops if (loop := _shared(op)) is not None]
        if any(w is None for w in whens):
            return ""
        texts = dict.fromkeys(f"{self.scope.index.text(w)} > 0" for w in whens if w is not None)
        return f" if ({' || '.join(texts)})"

    def _op(self, op: Operation, states: Any, before: Operation | None) -> None:
        scope = self.scope
        if isinstance(op, k.BarrierOp):
            if not (isinstance(before, k.ReduceOp) and _threaded(before)):
                scope.out.line("#pragma omp barrier")
        elif _threaded(op):
            if isinstance(op, k.ReduceOp):
                self._reduce(op, states)
            elif isinstance(op, k.ParallelOp | k.ForOp):
                self._loop(op)
            else:
                raise unprintable(op, "it cannot run in threads; let it `run seq`")
        elif _shared(op) is not None:
            self._around(cast(k.ParallelOp, op), states)
        elif _stores(op):
            if any(r.uses for r in op.results):
                raise unprintable(op, "a sequential stage between threaded ones stores and yields")
            with scope.guarded("tid == 0"), scope.level():
                print_op(scope, op)
        else:
            print_op(scope, op)

    def _around(self, op: k.ParallelOp, states: Any) -> None:
        """Every thread runs a loop around a threaded one, and takes its share inside."""
        scope, var, extent = self.scope, op.var.data, op.extent.data
        head = header(var, "0", scope.index.text(extent))
        with ranged(scope, var, extent), scope.out.block(head), scope.level(var):
            self._op(next(iter(op.body.block.ops)), states, None)

    def _share(self, op: Any, unit: int) -> tuple[str, str]:
        """A thread's part of a loop, whole units."""
        extent, when = self.scope.index.text(op.extent.data), words_of(op).when
        name = f"w{self.spans}"
        self.spans += 1
        nt = "nt" if when is None else f"({self.scope.index.text(when)}) > 0 ? nt : 1"
        self.scope.out.line(f"const span {name} = share({extent}, {unit}, tid, {nt});")
        return f"{name}.lo", f"{name}.hi"

    # -- loops ------------------------------------------------------------------------------------
    def _loop(self, op: Any) -> None:
        words = words_of(op)
        owned = [
            s
            for s in op.walk()
            if isinstance(s, k.StoreOp) and s.by is not None and s.by.data == "owner"
        ]
        with self.scope.out.block("{"), self.scope.level():
            if owned:
                for s in owned:
                    self._own(op, s)
                print_loop(self.scope, op, "0", self.scope.index.text(op.extent.data))
                return
            chain = _collapsible(op)
            if len(chain) > 1:
                self._collapsed(chain)
                return
            lo, hi = self._share(op, words.lanes * words.unroll)
            print_loop(self.scope, op, lo, hi)

    def _own(self, loop: Any, store: k.StoreOp) -> None:
        """Every thread runs all iterations and stores into the rows it owns: no atomics."""
        buffer = cast(BufType, store.buffer.type)
        e = store.index.data[0]
        unit, rest = _row(e)
        inner = self.scope.index.ranges.with_extents(
            [(o.var.data, o.extent.data) for o in loop.walk() if hasattr(o, "var")]
        )
        low, high = inner.interval(rest)
        if low is None or low < 0 or high is None or high >= unit:
            raise unprintable(store, 'rows of its data index overlap; store `by = "atomic"`')
        size = self.scope.index.text(buffer.elements)
        name = f"own{self.spans}"
        self.spans += 1
        self.scope.out.line(f"const span {name} = share({size}, {unit}, tid, nt);")
        self.scope.owners[store] = name

    def _collapsed(self, chain: list[Any]) -> None:
        """Perfectly nested threaded loops share out the product of their extents."""
        scope, total = self.scope, ex.ONE
        for op in chain:
            total = total * op.extent.data
        name = f"w{self.spans}"
        self.spans += 1
        when = words_of(chain[0]).when
        nt = "nt" if when is None else f"({scope.index.text(when)}) > 0 ? nt : 1"
        scope.out.line(f"const span {name} = share({scope.index.text(total)}, 1, tid, {nt});")
        variables = [op.var.data for op in chain]
        ranges = scope.index.ranges
        scope.index.ranges = ranges.with_extents((op.var.data, op.extent.data) for op in chain)
        with scope.out.block(f"for (i64 w = {name}.lo; w < {name}.hi; ++w) {{"):
            rest = "w"
            for op in reversed(chain[1:]):
                size = scope.index.text(op.extent.data)
                scope.out.line(f"const i64 d{op.var.data} = rem({rest}, {size});")
                rest = f"quo({rest}, {size})"
            scope.out.line(f"const i64 d{variables[0]} = {rest};")
            with scope.level(*variables):
                print_block(scope, chain[-1].body.block)
        scope.index.ranges = ranges

    def _reduce(self, op: k.ReduceOp, states: Any) -> None:
        scope, words = self.scope, words_of(op)
        lo, hi = self._share(op, words.lanes * words.unroll)
        done = reduce.print_reduce(scope, op, (lo, hi), print_block, bind=False)
        rooms: list[str] = []
        count = self.threads or _DEFAULT_THREADS
        for plan, state in done:
            room = scope.names.new("part")
            states.add(f"{reduce.state_type(plan.group, None)} {room}[{count}];")
            scope.out.line(f"{room}[tid] = {state};")
            rooms.append(room)
        scope.out.line("#pragma omp barrier")
        for (plan, _), room in zip(done, rooms, strict=True):
            total = scope.names.new("total")
            scope.out.line(f"auto {total} = {room}[0];")
            scope.out.line(f"for (int t = 1; t < nt; ++t) {total}.merge({room}[t]);")
            reduce.bind_results(scope, plan.group, total, plan.first)


def _past_caches(ops: list[Operation]) -> bool:
    """Some store is non-temporal: a fence makes it seen by others."""
    return any(isinstance(o, k.StoreOp) and o.nt is not None for p in ops for o in p.walk())


def _stores(op: Operation) -> bool:
    return any(isinstance(o, k.StoreOp | k.TransposeOp) for o in op.walk())


def _row(e: Expr) -> tuple[int, Expr]:
    """(row length, offset in the row) of an address with data operands."""
    unit, rest = 0, ex.ZERO
    for mono, c in e.terms:
        data = any(v.kind == "t" for a in mono for v in Expr.of_atom(a).vars())
        if data:
            if len(mono) > 1:
                return 1, e
            unit = c if unit == 0 else ex.content(Expr.of(unit) + ex.sym(0) * c)
        else:
            term = Expr.of(c)
            for a in mono:
                term = term * Expr.of_atom(a)
            rest = rest + term
    return max(unit, 1), rest


def _collapsible(op: Any) -> list[Any]:
    """Threaded parallel loops, each the only op of the one around, none of them vectors."""
    chain = [op]
    while True:
        ops = list(chain[-1].body.block.ops)
        if len(ops) != 1 or not isinstance(ops[0], k.ParallelOp) or not _threaded(ops[0]):
            return chain
        if words_of(ops[0]).lanes > 1 or words_of(chain[-1]).lanes > 1:
            return chain
        bound = {ex.dim_atom(o.var.data) for o in chain}
        if bound & set(ops[0].extent.data.vars("d")):
            return chain
        chain.append(ops[0])


def kernel_values(func: k.FuncOp) -> list[SSAValue]:
    """The buffers of a kernel in parameter order."""
    return list(func.body.block.args)
