"""The meaning of the `kernel` dialect: loop trees on flat memory, and the host program.

Schedule words are ignored. A loop is a tensor axis where its iterations can be seen side by side;
ordered loops, loops with local memory inside, and loops whose variable other extents depend on
run one iteration after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from xdsl.dialects import func
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.types import BufType, IntType, TensorType
from minductor.interpreters.calls import call
from minductor.interpreters.collapse import reduce_axes, scan_axis
from minductor.interpreters.loop import bind_symbols
from minductor.interpreters.memory import allocate, flat_storage, gather, scatter, view_of
from minductor.interpreters.points import NotInterpreted, Points, torch_dtype

_LOOPS = (k.ParallelOp, k.ForOp, k.TileOp, k.ReduceOp, k.ScanOp)
_STEPWISE = (k.ForOp, k.LocalOp, k.TransposeOp, k.ScanOp)


def _depth(block: Block) -> int:
    inner = [_depth(r.block) + isinstance(op, _LOOPS) for op in block.ops for r in op.regions]
    return max(inner, default=0)


def _stepwise(loop: Operation) -> bool:
    """The iterations must be run one after the other."""
    if isinstance(loop, k.ForOp):
        return True
    if isinstance(loop, k.ScanOp):
        return any(isinstance(op, _LOOPS) for r in loop.regions for op in r.block.ops)
    assert isinstance(loop, _LOOPS)
    atom = ex.dim_atom(loop.var.data)
    for region in loop.regions:
        for op in region.walk():
            if isinstance(op, _STEPWISE):
                return True
            if isinstance(op, _LOOPS) and atom in op.extent.data.vars("d"):
                return True
    return False


class KernelInterpreter:
    """Runs one `kernel.func` on flat buffers."""

    def __init__(self, fn: k.FuncOp, buffers: Sequence[Tensor], symbols: dict[Atom, int]):
        self.fn = fn
        self.memory: dict[SSAValue, Tensor] = dict(zip(fn.body.block.args, buffers, strict=True))
        self.points = Points(_depth(fn.body.block), symbols)
        self.axes: dict[int, tuple[int, int]] = {}
        self.free = 0

    def run(self) -> None:
        """Run the kernel; results are in the buffers."""
        self._block(self.fn.body.block)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if self.points.run(op, lambda b, p: self._block(b)):
                continue
            self._op(op)

    def _op(self, op: Operation) -> None:
        points = self.points
        match op:
            case k.LoadOp():
                self._load(op)
            case k.StoreOp():
                self._store(op)
            case k.ScanOp():
                self._scan(op)
            case k.ParallelOp() | k.ForOp() | k.TileOp() | k.ReduceOp():
                self._loop(op)
            case k.FoldOp() | k.CumfoldOp():
                axis, extent = self.axes[op.over.data]
                args = [points.value(v) for v in op.operands]
                if isinstance(op, k.FoldOp):
                    results = reduce_axes(op.kind.data, args, [axis], [extent])
                else:
                    results = scan_axis(op.kind.data, args, axis, extent)
                points.env.update(zip(op.results, results, strict=True))
            case k.DotOp():
                axis, _ = self.axes[op.over.data]
                a, b = (points.value(v) for v in op.operands)
                points.env[op.results[0]] = (a * b).sum(axis, keepdim=True)
            case k.LocalOp():
                self._local(op)
            case k.TransposeOp():
                rows, cols = (points.number(e) for e in op.shape.data)
                memory = self.memory[op.buffer]
                memory.copy_(memory.reshape(rows, cols).t().reshape(-1).clone())
            case k.BarrierOp() | k.YieldOp():
                pass
            case _:
                raise NotInterpreted(f"the kernel interpreter has no `{op.name}`")

    def _local(self, op: k.LocalOp) -> None:
        type_ = op.result.type
        assert isinstance(type_, BufType)
        size = self.points.number(type_.elements)
        init = op.init
        value = init.value.data if isinstance(init, FloatAttr | IntegerAttr) else 0
        self.memory[op.result] = torch.full((size,), value, dtype=torch_dtype(type_.dtype))

    def _load(self, op: k.LoadOp) -> None:
        points = self.points
        index = points.expr(op.index.data[0], op.index_operands)
        outer = points.mask
        if op.mask is not None:
            cond = points.value(op.mask[0])
            points.mask = cond if outer is None else outer & cond
        value = gather(points, self.memory[op.buffer], [index])
        points.mask = outer
        if op.mask is not None:
            value = torch.where(points.value(op.mask[0]), value, points.value(op.mask[1]))
        points.env[op.result] = value

    def _store(self, op: k.StoreOp) -> None:
        points = self.points
        index = points.flat_ones(points.expr(op.index.data[0], op.index_operands))
        value = points.value(op.value)
        outer = points.mask
        if op.mask is not None:
            cond = points.value(op.mask)
            points.mask = cond if outer is None else outer & cond
        combine = None if op.combine is None else op.combine.data
        if combine is not None:
            value = self._repeated(value)
        scatter(points, self.memory[op.buffer], [index], value, combine)
        points.mask = outer

    def _repeated(self, value: Tensor) -> Tensor:
        """A combining store happens at every point of the axes around it."""
        shape = list(value.shape)
        for axis, extent in self.axes.values():
            shape[axis] = extent
        return value.expand(shape)

    # -- loops ------------------------------------------------------------------------------------
    def _loop(self, op: k.ParallelOp | k.ForOp | k.TileOp | k.ReduceOp) -> None:
        extent = self.points.number(op.extent.data)
        atom = ex.dim_atom(op.var.data)
        if _stepwise(op):
            self._steps(op, atom, extent)
            return
        axis = self.free
        self.free += 1
        self.points.dims[atom] = self.points.axis(axis, extent)
        self.axes[op.var.data] = (axis, extent)
        outer = self.points.mask
        if extent == 0:  # what does not vary with the loop is not done either
            self.points.mask = torch.zeros([1] * self.points.rank, dtype=torch.bool)
        self._block(op.regions[0].block)
        self.points.mask = outer
        if isinstance(op, k.ReduceOp):
            args = self._yielded(op)
            self._finish(op, args, axis, extent)
        del self.axes[op.var.data]
        self.free -= 1

    def _steps(self, op: Operation, atom: Atom, extent: int) -> None:
        parts: list[list[Tensor]] = []
        axis = self.free
        self.free += 1
        for i in range(extent):
            self.points.dims[atom] = i
            self._block(op.regions[0].block)
            if isinstance(op, k.ReduceOp):
                parts.append(self._yielded(op))
        if isinstance(op, k.ReduceOp):
            args = [torch.cat(torch.broadcast_tensors(*p), axis) for p in zip(*parts, strict=True)]
            self._finish(op, args, axis, extent)
        self.free -= 1

    def _yielded(self, op: Operation) -> list[Tensor]:
        last = op.regions[0].block.last_op
        assert last is not None
        return [self.points.value(v) for v in last.operands]

    def _finish(self, op: k.ReduceOp, args: list[Tensor], axis: int, extent: int) -> None:
        out: list[Tensor] = []
        rest = list(args)
        for kind in op.kind_names:
            count = 2 if kind in ("argmin", "argmax") else 1
            out += reduce_axes(kind, rest[:count], [axis], [extent])
            rest = rest[count:]
        self.points.env.update(zip(op.results, out, strict=True))

    def _scan(self, op: k.ScanOp) -> None:
        extent = self.points.number(op.extent.data)
        axis = self.free
        self.free += 1
        self.points.dims[ex.dim_atom(op.var.data)] = self.points.axis(axis, extent)
        self.axes[op.var.data] = (axis, extent)
        self._block(op.body.block)
        rest, out = self._yielded(op), list[Tensor]()
        for kind in op.kind_names:
            count = 2 if kind in ("cummin", "cummax") else 1
            out += scan_axis(kind, rest[:count], axis, extent)
            rest = rest[count:]
        self.points.env.update(zip(op.then.block.args, out, strict=True))
        self._block(op.then.block)
        del self.axes[op.var.data]
        self.free -= 1


class HostInterpreter:
    """Runs the host program of a module."""

    def __init__(self, module: ModuleOp, fn: func.FuncOp, args: Sequence[Any]):
        self.module = module
        self.fn = fn
        self.kernels = {
            op.sym_name.data: op for op in module.body.block.ops if isinstance(op, k.FuncOp)
        }
        self.variants = {
            op.sym_name.data: op for op in module.body.block.ops if isinstance(op, h.VariantsOp)
        }
        self.symbols = bind_symbols(list(fn.function_type.inputs), args)
        self.env: dict[SSAValue, Any] = dict(zip(fn.body.block.args, args, strict=True))

    def run(self) -> list[Any]:
        """The function's results."""
        for op in self.fn.body.block.ops:
            if isinstance(op, func.ReturnOp):
                return [self.env[v] for v in op.operands]
            self._op(op)
        raise ValueError("the host program has no func.return")

    def _op(self, op: Operation) -> None:
        points = Points(0, self.symbols)
        match op:
            case h.CheckOp():
                pass
            case h.FreeOp():
                for v in op.operands:
                    self.env.pop(v, None)
            case h.AllocOp():
                assert isinstance(op.result.type, TensorType)
                self.env[op.result] = allocate(op.result.type, self.symbols)
            case h.ReuseOp() | h.ReinterpretOp():
                offset = 0 if isinstance(op, h.ReuseOp) else points.number(op.offset.data)
                assert isinstance(op.result.type, TensorType)
                source = self.env[op.source]
                self.env[op.result] = view_of(source, op.result.type, offset, self.symbols)
            case h.SizeOp():
                assert isinstance(op.result.type, IntType)
                self.env[op.result] = points.number(op.result.type.data)
            case h.LaunchOp():
                self._launch(op, points)
            case h.ExternOp():
                self._extern(op, points)
            case _:
                raise NotInterpreted(f"the host interpreter has no `{op.name}`")

    def _launch(self, op: h.LaunchOp, points: Points) -> None:
        name = op.callee.string_value()
        if op.when is not None and points.number(op.when.data) <= 0:
            assert op.orelse is not None
            name = op.orelse.string_value()
        if name in self.variants:
            first: Any = self.variants[name].candidates.data[0]
            name = first.string_value()
        kernel = self.kernels[name]
        values = [points.number(e) for e in op.symbols.data]
        names = [e.as_atom for e in kernel.symbols.data]
        symbols = {a: v for a, v in zip(names, values, strict=True) if a is not None}
        buffers = [flat_storage(self.env[v]) for v in op.operands]
        KernelInterpreter(kernel, buffers, symbols).run()

    def _extern(self, op: h.ExternOp, points: Points) -> None:
        operands = [self.env[v] for v in op.operands]
        run = lambda fn, args: HostInterpreter(self.module, fn, args).run()  # noqa: E731
        results = call(op, operands, points, run)
        if op.out is not None:
            for dest, value in zip(operands[len(operands) - len(results) :], results, strict=True):
                dest.copy_(value)
            return
        for r, value in zip(op.results, results[: len(op.results)], strict=True):
            self.env[r] = value
            if isinstance(r.type, IntType) and r.type.data.as_atom is not None:
                self.symbols[r.type.data.as_atom] = int(value)
            elif isinstance(r.type, TensorType):
                for e, n in zip(r.type.sizes, value.shape, strict=True):
                    atom = e.as_atom
                    if atom is not None and atom.kind == "u":
                        self.symbols.setdefault(atom, n)


def run_kernel(module: ModuleOp, args: Sequence[Any], name: str = "call") -> list[Any]:
    """Run the host program of a module of `kernel` ops."""
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == name:
            with torch.no_grad():
                return HostInterpreter(module, op, args).run()
    raise ValueError(f"no host program @{name} in the module; run loop-to-kernel first")
