"""The meaning of `scalar` ops: every value is a tensor that broadcasts over iteration axes.

A point of an iteration space is a position along axes; all values have the same rank, with size 1
along axes they do not vary with. The torch column of the scalar table is the reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

import torch
from torch import Tensor
from xdsl.ir import Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import DTYPES, dtype_of_scalar
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.faults import IndexFault
from minductor.dialects.scalar import ops as sc
from minductor.dialects.scalar.philox import normal_parts, random_array

IndexValue = int | Tensor


class NotInterpreted(ValueError):
    """An interpreter has no rule for an op: nothing is known of what it means."""


def torch_dtype(name: str) -> torch.dtype:
    """torch's dtype of a short name."""
    found = getattr(torch, DTYPES[name].torch_name)
    assert isinstance(found, torch.dtype)
    return found


@cache
def _code(template: str, operands: int) -> CodeType:
    names = [f"a{i}" for i in range(operands)]
    return compile(template.format(*names), "<scalar table>", "eval")


@dataclass
class Points:
    """Iteration axes and the values at every point.

    rank: number of axes; dims: a number or a tensor along its axis per variable; symbols: sizes;
    mask: points that are alive inside a condition.
    """

    rank: int
    symbols: Mapping[Atom, int]
    dims: dict[Atom, IndexValue] = field(default_factory=dict[Atom, IndexValue])
    env: dict[SSAValue, Tensor] = field(default_factory=dict[SSAValue, Tensor])
    mask: Tensor | None = None

    def axis(self, number: int, extent: int) -> Tensor:
        """0 .. extent-1 along axis `number`."""
        shape = [1] * self.rank
        shape[number] = extent
        return torch.arange(extent).reshape(shape)

    def value(self, v: SSAValue) -> Tensor:
        """The tensor of a value that has been computed."""
        return self.env[v]

    # -- expressions ------------------------------------------------------------------------------
    def expr(self, e: Expr, operands: Sequence[SSAValue] = ()) -> IndexValue:
        """An index expression at every point."""
        total: IndexValue = 0
        for mono, c in e.terms:
            term: IndexValue = c
            for a in mono:
                term = term * self._atom(a, operands)
            total = total + term
        return total

    def _atom(self, a: Atom, operands: Sequence[SSAValue]) -> IndexValue:
        if a.kind == "t":
            return self.value(operands[a.index])
        if a.kind == "d":
            return self.dims[a]
        if a.is_var:
            return self.symbols[a]
        x, y = self.expr(a.args[0], operands), self.expr(a.args[1], operands)
        if isinstance(x, int) and isinstance(y, int):
            return int(ex.FUNCS[a.kind](ex.const(x), ex.const(y)))
        x, y = torch.as_tensor(x), torch.as_tensor(y)
        match a.kind:
            case "floordiv":
                return torch.div(x, y, rounding_mode="floor")
            case "mod":
                return torch.remainder(x, y)
            case "min":
                return torch.minimum(x, y)
            case _:
                return torch.maximum(x, y)

    def number(self, e: Expr) -> int:
        """A size or extent as an int."""
        value = self.expr(e)
        return value if isinstance(value, int) else int(value)

    def flat_ones(self, value: IndexValue) -> Tensor:
        """An index as a tensor of full rank."""
        tensor = torch.as_tensor(value)
        return tensor.reshape([1] * self.rank) if tensor.dim() == 0 else tensor

    # -- ops --------------------------------------------------------------------------------------
    def run(self, op: Operation, nested: Callable[[Any, Points], None]) -> bool:
        """Run a scalar op; `nested` runs a block. False if the op is of another dialect."""
        found = _RUN.get(type(op))
        if isinstance(op, sc.TableOp):
            self._table(op)
        elif isinstance(op, sc.IfOp):
            self._if(op, nested)
        elif isinstance(op, sc.LookupOp):
            self._lookup(op, nested)
        elif found is not None:
            found(self, op)
        else:
            return False
        return True

    def _table(self, op: sc.TableOp) -> None:
        names = {f"a{i}": self.value(v) for i, v in enumerate(op.operands)}
        row = op.ROW
        if not row.safe and not self.value(op.operands[0]).is_floating_point():
            self._check_divisor(names)
        result: Tensor = eval(_code(row.torch, len(names)), {"torch": torch}, names)
        want = torch_dtype(dtype_of_scalar(op.results[0].type).name)
        self.env[op.results[0]] = result.to(want)

    def _check_divisor(self, names: dict[str, Any]) -> None:
        divisor: Tensor = names["a1"]
        zero = divisor == 0
        if bool((zero if self.mask is None else zero & self.mask).any()):
            raise ZeroDivisionError("integer division by zero")
        names["a1"] = torch.where(zero, torch.ones_like(divisor), divisor)

    def _if(self, op: sc.IfOp, nested: Callable[[Any, Points], None]) -> None:
        cond = self.value(op.cond)
        outer = self.mask
        branches: list[list[Tensor]] = []
        for region, alive in ((op.then, cond), (op.orelse, ~cond)):
            self.mask = alive if outer is None else outer & alive
            nested(region.block, self)
            last = region.block.last_op
            assert last is not None
            branches.append([self.value(v) for v in last.operands])
        self.mask = outer
        for r, a, b in zip(op.results, *branches, strict=True):
            self.env[r] = torch.where(cond, a, b)

    def _lookup(self, op: sc.LookupOp, nested: Callable[[Any, Points], None]) -> None:
        block = op.body.block
        self.env[block.args[0]] = self.value(op.arg)
        nested(block, self)
        last = block.last_op
        assert last is not None
        self.env[op.result] = self.value(last.operands[0])


def _constant(p: Points, op: Any) -> None:
    dtype = torch_dtype(dtype_of_scalar(op.result.type).name)
    value = torch.tensor(op.number, dtype=torch.float64 if dtype.is_floating_point else dtype)
    p.env[op.result] = value.to(dtype).reshape([1] * p.rank)


def _cast(p: Points, op: Any) -> None:
    p.env[op.result] = p.value(op.arg).to(torch_dtype(dtype_of_scalar(op.result.type).name))


def _bitcast(p: Points, op: Any) -> None:
    dtype = torch_dtype(dtype_of_scalar(op.result.type).name)
    p.env[op.result] = p.value(op.arg).contiguous().view(dtype)


def _index(p: Points, op: Any) -> None:
    value = p.flat_ones(p.expr(op.expr.data, list(op.operands)))
    p.env[op.result] = value.to(torch_dtype(dtype_of_scalar(op.result.type).name))


def _within(p: Points, op: Any) -> None:
    e, lo, hi = (p.flat_ones(p.expr(x, list(op.operands))) for x in op.test)
    p.env[op.result] = (lo <= e) & (e < hi)


def _bound(p: Points, op: Any) -> None:
    value, size = p.value(op.arg), p.number(op.size.data)
    if op.wrap is not None:
        value = torch.where(value < 0, value + size, value)
    outside = (value < 0) | (value >= size)
    faulty = outside if op.mask is None else outside & p.value(op.mask)
    if bool((faulty if p.mask is None else faulty & p.mask).any()):
        raise IndexFault(f"index out of range for a dimension of size {size}")
    p.env[op.result] = torch.where(outside, torch.zeros_like(value), value)


def _random(p: Points, op: Any) -> None:
    seed = int(p.value(op.seed).reshape(-1)[0])
    flat = p.flat_ones(p.expr(op.expr.data, list(op.operands)[1:]))
    name = dtype_of_scalar(op.result.type).name
    where = (seed, op.stream.value.data, flat.numpy())
    if op.kind.data == "philox_normal":  # by torch's functions, as inexact as all others
        u, v = map(torch.as_tensor, normal_parts(name, *where))
        values = torch.sqrt(torch.log(u) * -2) * torch.cos(v * (2 * math.pi))
    else:
        values = random_array(op.kind.data, name, *where)
    p.env[op.result] = torch.as_tensor(values).to(torch_dtype(name)).reshape(flat.shape)


_RUN: dict[type[Operation], Callable[[Points, Any], None]] = {
    sc.ConstantOp: _constant,
    sc.CastOp: _cast,
    sc.BitcastOp: _bitcast,
    sc.IndexOp: _index,
    sc.WithinOp: _within,
    sc.BoundOp: _bound,
    sc.RandomOp: _random,
    sc.YieldOp: lambda p, op: None,
}
