"""The meaning of the `loop` dialect, run on torch tensors.

Each variable of a nest's domain is an axis, each value a tensor that broadcasts over the axes, a
load is a gather, `reduce` a reduction over axes, a store a scatter. Extern ops run eagerly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom
from minductor.dialects.kernel.host import SizeOp
from minductor.dialects.loop import ops as lp
from minductor.dialects.types import FloatType, IntType, TensorType
from minductor.interpreters.calls import call
from minductor.interpreters.collapse import reduce_axes, scan_axis
from minductor.interpreters.memory import allocate, gather, scatter, view_of
from minductor.interpreters.points import NotInterpreted, Points


def bind_symbols(types: Sequence[Any], args: Sequence[Any]) -> dict[Atom, int]:
    """Values of size symbols from arguments: ints and the sizes of tensors.

    ValueError names the argument whose rank or size contradicts its type.
    """
    out: dict[Atom, int] = {}
    pairs: list[tuple[ex.Expr, int]] = []
    for type_, arg in zip(types, args, strict=True):
        if isinstance(type_, IntType):
            pairs.append((type_.data, int(arg)))
        elif isinstance(type_, TensorType):
            if len(type_.sizes) != arg.dim():
                raise ValueError(f"argument of type `{type_}` has sizes {list(arg.shape)}")
            pairs += zip(type_.sizes, arg.shape, strict=True)
            pairs += zip(type_.strides, arg.stride(), strict=True)
    for e, value in pairs:
        atom = e.as_atom
        if atom is not None and atom.is_var:
            out.setdefault(atom, value)
    for type_, arg in zip(types, args, strict=True):
        if isinstance(type_, TensorType):
            want = [e.eval(out) for e in type_.sizes]
            if want != list(arg.shape):
                raise ValueError(f"argument of type `{type_}` has sizes {list(arg.shape)}")
    return out


class LoopInterpreter:
    """Runs one function of `loop` ops."""

    def __init__(self, fn: func.FuncOp, args: Sequence[Any]):
        self.fn = fn
        types = list(fn.function_type.inputs)
        self.symbols = bind_symbols(types, args)
        self.env: dict[SSAValue, Any] = dict(zip(fn.body.block.args, args, strict=True))

    def run(self) -> list[Any]:
        """The function's results; committed arguments are written in place."""
        for op in self.fn.body.block.ops:
            if isinstance(op, func.ReturnOp):
                return [self.env[v] for v in op.operands]
            self._op(op)
        raise ValueError(f"@{self.fn.sym_name.data} has no func.return")

    def _op(self, op: Operation) -> None:
        points = Points(0, self.symbols)
        match op:
            case lp.NestOp():
                self._nest(op)
            case lp.GroupOp():
                for inner in op.body.block.ops:
                    if isinstance(inner, lp.YieldOp):
                        values = [self.env[v] for v in inner.operands]
                        self.env.update(zip(op.results, values, strict=True))
                    else:
                        self._op(inner)
            case lp.ViewOp():
                offset = points.number(op.offset.data)
                assert isinstance(op.result.type, TensorType)
                source = self.env[op.source]
                self.env[op.result] = view_of(source, op.result.type, offset, self.symbols)
            case lp.ExternOp():
                self._extern(op, points)
            case lp.CommitOp():
                self.env[op.arg].copy_(self.env[op.new])
            case SizeOp():
                assert isinstance(op.result.type, IntType)
                self.env[op.result] = points.number(op.result.type.data)
            case _:
                raise NotInterpreted(f"the loop interpreter has no `{op.name}`")

    def _extern(self, op: lp.ExternOp, points: Points) -> None:
        operands = [self.env[v] for v in op.operands]
        mutated = [] if op.mutates is None else [int(e) for e in op.mutates.data]
        for k in mutated:
            operands[k] = operands[k].clone()
        results = call(op, operands, points, lambda fn, args: LoopInterpreter(fn, args).run())
        plain = len(op.results) - len(mutated)
        results = [*results[:plain], *(operands[k] for k in mutated)]
        for r, value in zip(op.results, results, strict=True):
            self.env[r] = value
            if isinstance(r.type, IntType):
                atom = r.type.data.as_atom
                if atom is not None:
                    self.symbols[atom] = int(value)
            elif not isinstance(r.type, FloatType):
                self._bind_sizes(r.type, value)

    def _bind_sizes(self, type_: Any, value: Any) -> None:
        """Unbacked sizes that this result makes known."""
        if not isinstance(type_, TensorType):
            return
        for e, n in zip(type_.sizes, value.shape, strict=True):
            atom = e.as_atom
            if atom is not None and atom.kind == "u":
                self.symbols.setdefault(atom, n)

    # -- nests ------------------------------------------------------------------------------------
    def _nest(self, op: lp.NestOp) -> None:
        domain = op.domain.data
        points = Points(len(domain.extents), self.symbols)
        extents = [points.number(e) for e in domain.extents]
        for i, n in enumerate(extents):
            points.dims[ex.dim_atom(i)] = points.axis(i, n)
        results: list[Tensor] = []
        for i, (arg, result) in enumerate(zip(op.body.block.args, op.results, strict=True)):
            assert isinstance(result.type, TensorType)
            out = allocate(result.type, self.symbols)
            old = op.updated(i)
            if old is not None:
                out.copy_(self.env[old])
            results.append(out)
            self.env[arg] = out
        stored = [i for i in range(len(extents)) if i not in domain.reduce_dims]
        self._block(op.body.block, points, _Space(extents, domain, stored))
        self.env.update(zip(op.results, results, strict=True))

    def _block(self, block: Block, points: Points, space: _Space) -> None:
        for op in block.ops:
            if points.run(op, lambda b, p: self._block(b, p, space)):
                continue
            match op:
                case lp.LoadOp():
                    index = [points.expr(e, list(op.operands)[1:]) for e in op.index.data]
                    points.env[op.result] = gather(points, self.env[op.source], index)
                case lp.StoreOp():
                    self._store(op, points, space)
                case lp.ReduceOp():
                    axes = list(space.domain.reduce_dims)
                    args = [points.value(v) for v in op.operands]
                    extents = [space.extents[a] for a in axes]
                    results = reduce_axes(op.kind.data, args, axes, extents)
                    points.env.update(zip(op.results, results, strict=True))
                case lp.ScanOp():
                    (axis,) = space.domain.scan_dims
                    args = [points.value(v) for v in op.operands]
                    results = scan_axis(op.kind.data, args, axis, space.extents[axis])
                    points.env.update(zip(op.results, results, strict=True))
                case _:
                    raise NotInterpreted(f"the loop interpreter has no `{op.name}` in a nest")

    def _store(self, op: lp.StoreOp, points: Points, space: _Space) -> None:
        index = [points.expr(e, list(op.operands)[2:]) for e in op.index.data]
        shape = [n if i in space.stored else 1 for i, n in enumerate(space.extents)]
        value = points.value(op.value).expand(shape)
        combine = None if op.combine is None else op.combine.data
        scatter(points, self.env[op.dest], index, value, combine)


class _Space:
    """Extents of a nest and which axes its stores run over."""

    def __init__(self, extents: list[int], domain: Any, stored: list[int]):
        self.extents = extents
        self.domain = domain
        self.stored = stored


def run_loop(module: ModuleOp, args: Sequence[Any], name: str | None = None) -> list[Any]:
    """Run a function of a module of `loop` ops (the only one, or by name).

    Arguments are tensors and numbers in the order of the function's; results likewise. Half
    precision rounds after each op of that type, reductions sum in torch's order.
    """
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp) and name in (None, op.sym_name.data):
            with torch.no_grad():
                return LoopInterpreter(op, args).run()
    raise ValueError(f"no function @{name} in the module")
