"""kernel-split: long reductions with few results are summed in parts by many programs.

Before, target triton:
    kernel.func @k(read %x : B, write %o : B) .. {
      %t = kernel.reduce d0 : 1048576 [add] -> f32 { .. %x[d0] .. }
      kernel.store %t, %o[0] }

After, with a workspace of one element a part:
    kernel.func @k_parts(read %x : B, write %ws : !kernel.buf<f32[256]>) .. {
      kernel.parallel d1 : 256 {
        %t = kernel.reduce d0 : 4096 [add] -> f32 { .. %x[d0 + 4096 * d1] .. }
        kernel.store %t, %ws[d1] } }
    kernel.func @k(write %o : B, read %ws : !kernel.buf<f32[256]>) .. {
      %t = kernel.reduce d1 : 256 [add] -> f32 { %v = kernel.load %ws[d1]  kernel.yield %v }
      kernel.store %t, %o[0] }

The ledger of the kernel becomes those of the two. The number of parts stands in the text, so the
order of sums does too. A mean with its squares, a maximum with its sum of exponentials are joined
by their formulas: with (mean, m2, n) of each part

    n = sum n_i    mean = sum (n_i mean_i) / n    m2 = sum m2_i + sum n_i (mean_i - mean)^2
    max = max max_i    sum = sum sum_i e^(max_i - max)

Columns, whose rows lie side by side, count in blocks of `columns` of them. Parts start where an
index of the body starts anew, if they can, so that its divisions go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Bytes, BytesAttr, ExprAttr, IndexAttr
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges, product
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.attrs import AccessAttr
from minductor.dialects.types import BufType, TensorType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._join import Join
from minductor.passes.kernel._tree import LOOPS, child_loops, estimate, kernels_of, module_hints
from minductor.passes.kernel._walks import across, functions
from minductor.passes.kernel.persist import row_block
from minductor.passes.remarks import sink_of

_SELF = frozenset(("add", "mul", "min", "max", "any", "all", "xor", "argmin", "argmax"))
_JOINED = frozenset(("welford", "max_sumexp"))


@dataclass(frozen=True)
class KernelSplitPass(MiniPass):
    """Split reductions of Triton kernels that would run in too few programs.

    programs: how many fill the machine; min_part: elements below which a part is not worth it;
    max_parts: of each result when there are several; whole: programs at most for a single result,
    of long_part elements or more: many short parts end together; columns: how many a program takes
    of rows that lie side by side, min_rows: below which a part of them is not worth it.
    """

    name = "kernel-split"
    needs = frozenset({"kernel"})

    programs: int = 1024
    min_part: int = 1024
    max_parts: int = 512
    whole: int = 4096
    long_part: int = 16384
    columns: int = 64
    min_rows: int = 128

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split where the counts at the hints say so."""
        hints = module_hints(op)
        for kernel in list(kernels_of(op, "triton")):
            block = row_block(kernel.body.block)
            loops = list(child_loops(block))
            if not any(isinstance(loop, k.ReduceOp) for loop in loops):
                continue
            reason = refusal(loops)
            parts = 0 if reason else self._parts(kernel, loops[0], hints)
            if parts < 2:
                sink_of(ctx).refused(
                    self.name,
                    kernel.sym_name.data,
                    reason or "enough programs, or a short reduction",
                )
                continue
            reduce = loops[0]
            assert isinstance(reduce, k.ReduceOp)
            Splitter(op, kernel, reduce, parts, hints).run()

    def _parts(self, kernel: k.FuncOp, loop: Operation, hints: Mapping[Atom, int]) -> int:
        assert isinstance(loop, k.ReduceOp)
        rows = 1
        for extent in chain_extents(kernel):
            rows *= max(1, estimate(extent, hints))
        length = estimate(loop.extent.data, hints)
        row = loop.parent_op()
        if isinstance(row, k.ParallelOp) and across([loop], row):
            if rows * length < self.programs * self.min_part:
                return 0  # narrow blocks of columns keep the machine busy
            rows, least = -(-rows // self.columns), self.min_rows
        else:
            least = self.min_part
        wanted = min(self.programs // max(1, rows), length // least)
        if rows > 1:
            wanted = min(wanted, self.max_parts)
        else:
            wanted = max(wanted, min(self.whole, length // self.long_part))
        return _even(loop, wanted)


def _even(loop: k.ReduceOp, wanted: int) -> int:
    """At most `wanted` parts: a power of two, or what leaves whole periods of the indices."""
    if wanted < 2:
        return 0
    parts, length = 1 << (wanted.bit_length() - 1), loop.extent.data.as_int
    if length is None:
        return parts
    period = 1
    for op in loop.body.walk():
        if isinstance(op, k.LoadOp | k.StoreOp):
            for atom in functions(op.index.data[0]):
                step = atom.args[1].as_int
                if step and atom.kind in ("floordiv", "mod") and length % step == 0:
                    period = max(period, step)
    if period == 1:
        return parts
    whole = length // period
    fits = [n for n in range(1, min(wanted, whole) + 1) if whole % n == 0]
    return fits[-1] if fits[-1] * 4 >= wanted or fits[-1] >= 64 else parts


def refusal(loops: Sequence[Operation]) -> str | None:
    """Why a kernel's stages cannot be split, or None."""
    if len(loops) != 1:
        return "several stages over the same rows"
    (loop,) = loops
    assert isinstance(loop, k.ReduceOp)
    if any(isinstance(op, LOOPS) for op in loop.body.block.ops):
        return "the reduction has loops inside"
    if not (_SELF | _JOINED).issuperset(loop.kind_names):
        return f"[{', '.join(loop.kind_names)}] does not combine its own results"
    return None


def chain_extents(kernel: k.FuncOp) -> list[Expr]:
    """Extents of the perfectly nested parallel loops from the top."""
    return [loop.extent.data for loop in _chain(kernel)]


def _chain(kernel: k.FuncOp) -> list[k.ParallelOp]:
    out: list[k.ParallelOp] = []
    block, target = kernel.body.block, row_block(kernel.body.block)
    while block is not target:
        op = block.first_op
        assert isinstance(op, k.ParallelOp)
        out.append(op)
        block = op.body.block
    return out


class Splitter:
    """Makes the two kernels of one split and their launches."""

    def __init__(
        self,
        module: ModuleOp,
        kernel: k.FuncOp,
        reduce: k.ReduceOp,
        parts: int,
        hints: Mapping[Atom, int],
    ):
        self.hints = hints
        self.module = module
        self.kernel = kernel
        self.parts = parts
        self.types = [r.type for r in reduce.results]
        loops = [op for op in kernel.walk() if isinstance(op, LOOPS)]
        self.var = 1 + max(op.var.data for op in loops)
        chain = _chain(kernel)
        flat, step = ex.ZERO, ex.ONE
        for loop in reversed(chain):
            flat = flat + step * ex.dim(loop.var.data)
            step = step * loop.extent.data
        self.place = flat + step * ex.dim(self.var)
        self.size = product([step, ex.const(parts)])

    def run(self) -> tuple[k.FuncOp, k.FuncOp]:
        """Replace the kernel by two, which come back."""
        first, second = self.kernel.clone(), self.kernel.clone()
        name = self.kernel.sym_name.data
        taken = {op.sym_name.data for op in kernels_of(self.module, "triton")}
        parts = f"{name}_parts"
        while parts in taken:
            parts += "_parts"
        first.sym_name = StringAttr(parts)
        self._partial(first)
        self._combine(second)
        kept_first, kept_second = prune(first), prune(second)
        self._account((first, kept_first), (second, kept_second))
        at = self.module.body.block
        at.insert_op_before(first, self.kernel)
        at.insert_op_before(second, self.kernel)
        self.kernel.detach()
        self.kernel.erase(safe_erase=False)
        for fn in at.ops:
            if isinstance(fn, func.FuncOp):
                for op in list(fn.body.block.ops):
                    if isinstance(op, h.LaunchOp) and op.callee.string_value() == name:
                        self._launch(op, first.sym_name.data, kept_first, kept_second)
        return first, second

    def _account(self, one: tuple[k.FuncOp, list[int]], other: tuple[k.FuncOp, list[int]]) -> None:
        """The ledgers of the two: each moves its own buffers, and both the partial results."""
        (first, kept), (second, left) = one, other
        if self.kernel.bytes_ is None:
            return
        spaces = _bytes(second, range(len(left) - len(self.types), len(left)))
        own = range(len(left) - len(self.types))
        late = _bytes(second, own)
        moved = _bytes(second, [i for i in own if left[i] not in kept])
        floor, unfused, planned = self.kernel.bytes_.data
        if estimate(floor - moved, self.hints) >= 0:
            floor, unfused, planned = floor - moved, unfused - moved, planned - moved
        first.bytes_ = BytesAttr(Bytes(floor, unfused, planned + spaces))
        second.bytes_ = BytesAttr(Bytes(late, late, late + spaces))

    def _workspaces(self, kernel: k.FuncOp, access: str) -> list[SSAValue]:
        block = kernel.body.block
        out: list[SSAValue] = []
        for type_ in self.types:
            buffer = BufType.make(dtype_of_scalar(type_).name, self.size)
            arg = block.insert_arg(buffer, len(block.args))
            arg.name_hint = "ws"
            out.append(arg)
        kernel.access = AccessAttr((*kernel.access.data, *([access] * len(out))))
        return out

    def _partial(self, kernel: k.FuncOp) -> None:
        block = row_block(kernel.body.block)
        (reduce,) = child_loops(block)
        assert isinstance(reduce, k.ReduceOp)
        after = reduce.next_op
        while after is not None:
            following = after.next_op
            after.detach()
            after.erase(safe_erase=False)
            after = following
        for result, ws in zip(reduce.results, self._workspaces(kernel, "write"), strict=True):
            block.add_op(k.StoreOp.of(result, ws, self.place))
        extent = reduce.extent.data
        chunk = ex.floordiv(extent + self.parts - 1, self.parts)
        start = chunk * ex.dim(self.var)
        shift = {ex.dim_atom(reduce.var.data): ex.dim(reduce.var.data) + start}
        left = ex.emax(0, ex.emin(chunk, extent - start))
        ranges = Ranges().with_extents([(self.var, self.parts)])
        left = ranges.simplify(left)
        reduce.extent = ExprAttr(left)
        inside = ranges.with_extents([(self.var, self.parts), (reduce.var.data, chunk)])
        for op in reduce.body.block.walk():
            substitute(op, shift, inside)
        body = Block()
        for op in list(kernel.body.block.ops):
            op.detach()
            body.add_op(op)
        kernel.body.block.add_op(k.ParallelOp.make(self.var, self.parts, body))

    def _combine(self, kernel: k.FuncOp) -> None:
        block = row_block(kernel.body.block)
        (reduce,) = child_loops(block)
        assert isinstance(reduce, k.ReduceOp)
        spaces = self._workspaces(kernel, "read")
        made = Join(self.var, self.parts, self.place, reduce).run(spaces)
        for old, new in zip(reduce.results, made, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        reduce.detach()
        reduce.erase(safe_erase=False)

    def _launch(
        self, op: h.LaunchOp, first: str, kept_first: list[int], kept_second: list[int]
    ) -> None:
        device = next(v.type.device for v in op.operands if isinstance(v.type, TensorType))
        point = InsertPoint.before(op)
        spaces: list[SSAValue] = []
        for type_ in self.types:
            dtype = dtype_of_scalar(type_).name
            alloc = h.AllocOp.of(TensorType.make(dtype, [self.size], device=device))
            alloc.result.name_hint = "ws"
            Rewriter.insert_op(alloc, point)
            spaces.append(alloc.result)
        operands = [*op.operands, *spaces]
        symbols = op.symbols.data
        Rewriter.insert_op(h.LaunchOp.of(first, [operands[i] for i in kept_first], symbols), point)
        new = h.LaunchOp.of(op.callee.string_value(), [operands[i] for i in kept_second], symbols)
        new.location = op.location
        Rewriter.replace_op(op, new)


def _bytes(kernel: k.FuncOp, numbers: Iterable[int]) -> Expr:
    """Bytes of some of a kernel's buffers."""
    total = ex.ZERO
    for number in numbers:
        type_ = kernel.body.block.args[number].type
        assert isinstance(type_, BufType)
        total = total + type_.elements * type_.scalar_bytes
    return total


def substitute(op: Operation, env: Mapping[Atom, Expr], ranges: Ranges) -> None:
    """Rewrite the index expressions of an op."""

    def moved(e: Expr) -> Expr:
        return ranges.simplify(e.subs(env))

    for name, attr in list(op.properties.items()):
        if isinstance(attr, ExprAttr):
            op.properties[name] = ExprAttr(moved(attr.data))
        elif isinstance(attr, IndexAttr):
            op.properties[name] = IndexAttr(tuple(moved(e) for e in attr.data))


def prune(kernel: k.FuncOp) -> list[int]:
    """Drop ops and arguments without use; the numbers of the arguments that stay."""
    changed = True
    while changed:
        changed = False
        for op in list(kernel.walk(reverse=True)):
            pure = is_side_effect_free(op) or isinstance(op, k.LoadOp)
            if pure and op.results and not any(True for r in op.results for _ in r.uses):
                op.detach()
                op.erase()
                changed = True
    block = kernel.body.block
    kept: list[int] = []
    access = list(kernel.access.data)
    for i, arg in reversed(list(enumerate(block.args))):
        if any(True for _ in arg.uses):
            kept.append(i)
        else:
            block.erase_arg(arg)
            del access[i]
    kernel.access = AccessAttr(tuple(access))
    return list(reversed(kept))
