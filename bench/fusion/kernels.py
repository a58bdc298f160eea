"""minductor's kernels, read from the text of its scheduled `kernel` module (the log `kernel`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.parser import Parser

from bench.fusion.account import Buffer, Call, Graph, Kernel, Touch
from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import op_exprs
from minductor.dialects.types import BufType, TensorType
from minductor.passes.context import MiniContext

LOOPS = (k.ParallelOp, k.ForOp, k.TileOp, k.ReduceOp, k.ScanOp)

FREE_CALLS = ("minductor.size",)


def read_module(text: str) -> Graph:
    """The kernels and calls of a module's text, each as often as the program launches it."""
    module = Parser(MiniContext(), text).parse_module()
    assert isinstance(module, ModuleOp)
    kernels = {op.sym_name.data: op for op in module.walk() if isinstance(op, k.FuncOp)}
    graph = Graph()
    for func in module.ops:
        if isinstance(func, FuncOp):
            for op in func.walk():
                if isinstance(op, h.LaunchOp):
                    name = op.callee.string_value()
                    graph.kernels.append(kernel_of(kernels[name]))
                elif isinstance(op, h.ExternOp) and op.callee.data not in FREE_CALLS:
                    graph.calls.append(call_of(op))
    return graph


def call_of(op: h.ExternOp) -> Call:
    """A call moves each distinct argument and result once."""
    values: dict[SSAValue, None] = dict.fromkeys([*op.operands, *op.results])
    return Call(op.callee.data, sum(map(tensor_bytes, values)))


def tensor_bytes(value: SSAValue) -> int:
    """Bytes of a tensor's distinct elements."""
    type_ = value.type
    if not isinstance(type_, TensorType):
        return 0
    total = type_.info.size
    for size, stride in zip(type_.sizes, type_.strides, strict=True):
        extent = _number(size)
        total *= extent if stride.as_int != 0 or not extent else 1
    return total


def _number(e: Expr) -> int:
    value = e.as_int
    if value is None:
        raise ValueError(f"a size is not a number: {e}")
    return value


def kernel_of(func: k.FuncOp) -> Kernel:
    """The loads and stores of a kernel's arguments."""
    buffers: dict[SSAValue, Buffer] = {}
    for number, arg in enumerate(func.body.block.args):
        type_ = arg.type
        assert isinstance(type_, BufType)
        buffers[arg] = Buffer(f"b{number}", _number(type_.elements), type_.scalar_bytes)
    walker = _Walker(buffers)
    walker.block(func, (), ())
    kernel = Kernel(func.sym_name.data, _shared_rows(walker.paths))
    kernel.touches = walker.touches
    for buffer in buffers.values():
        pairs = zip(walker.touches, walker.paths, strict=True)
        kernel.shared[buffer.name] = _shared_rows([p for t, p in pairs if t.buffer is buffer])
    return kernel


def _shared_rows(paths: list[tuple[Operation, ...]]) -> int:
    """Iterations of the loops that hold all accesses."""
    if not paths:
        return 1
    shared = paths[0]
    for path in paths[1:]:
        same = [a is b for a, b in zip(shared, path, strict=False)]
        shared = shared[: same.index(False) if False in same else len(same)]
    rows = 1
    for loop in shared:
        extent = loop.properties["extent"]
        assert isinstance(extent, ExprAttr)
        rows *= extent.data.as_int or 1
    return rows


class _Walker:
    """Collects touches; loop variables are renumbered by depth."""

    def __init__(self, buffers: dict[SSAValue, Buffer]):
        self.buffers = buffers
        self.touches: list[Touch] = []
        self.paths: list[tuple[Operation, ...]] = []
        self.steps: dict[Operation, int] = {}

    def block(
        self, op: Operation, path: tuple[Operation, ...], loops: tuple[tuple[int, Expr], ...]
    ) -> None:
        """Walk the regions of an op inside the loops of `path`."""
        for region in op.regions:
            for inner in region.block.ops:
                if isinstance(inner, k.LoadOp | k.StoreOp):
                    self.access(inner, path, loops)
                elif isinstance(inner, LOOPS):
                    extent = inner.extent.data
                    below = (*loops, (inner.var.data, extent))
                    self.block(inner, (*path, inner), below)
                elif inner.regions:
                    self.block(inner, path, loops)

    def access(
        self,
        op: k.LoadOp | k.StoreOp,
        path: tuple[Operation, ...],
        loops: tuple[tuple[int, Expr], ...],
    ) -> None:
        """Note one load or store of an argument."""
        if op.buffer not in self.buffers:
            return
        self.paths.append(path)
        buffer = self.buffers[op.buffer]
        step = self.steps.setdefault(path[-1] if path else op, len(self.steps))
        env = {ex.dim_atom(var): ex.dim(depth) for depth, (var, _) in enumerate(loops)}
        extents = tuple(extent.subs(env) for _, extent in loops)
        index = op.index.data[0].subs(env)
        touch = Touch(buffer, index, extents, step)
        if isinstance(op, k.StoreOp):
            touch = replace(touch, store=True, combine=op.combine is not None)
        if op.index_operands:
            touch = self.gather(touch, op, loops, env)
        self.touches.append(touch)

    def gather(
        self,
        touch: Touch,
        op: k.LoadOp | k.StoreOp,
        loops: tuple[tuple[int, Expr], ...],
        env: Mapping[Atom, Expr],
    ) -> Touch:
        """A touch whose index comes from data: its trips count."""
        assert touch.index is not None
        numbers = {a.index for a in op.index.data[0].vars("d")}
        behind = list(_behind(op.index_operands))
        numbers |= {a.index for e in behind for a in e.vars("d")}
        trips = 1
        for var, extent in loops:
            if var in numbers:
                trips *= extent.as_int or 64
        dense = any(touch.index.coeff(ex.dim_atom(d)) is ex.ONE for d in range(len(loops)))
        source = (touch.index, *(e.subs(env) for e in behind))
        return replace(touch, index=None, trips=trips, dense=dense, source=source)


def _behind(values: list[SSAValue]) -> Iterator[Expr]:
    """Expressions of loop variables that values are computed from."""
    todo, seen = list(values), set[Operation]()
    while todo:
        value = todo.pop()
        owner = value.owner
        if isinstance(value, BlockArgument) or not isinstance(owner, Operation) or owner in seen:
            continue
        seen.add(owner)
        yield from op_exprs(owner)
        if not isinstance(owner, LOOPS):
            todo.extend(owner.operands)
