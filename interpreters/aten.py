"""Interpreter of the `aten` level: each op is torch's own operator. The oracle of the tests.

    run_function(module, [torch.randn(4, 8)]) -> [tensor, ...]

Symbols take their values from the arguments and from what the ops give (`item`, `nonzero`).
Mutating ops (`copy_`) write into the arguments given.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from zlib import crc32

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from minductor.dialects.aten.control import ControlOp
from minductor.dialects.aten.ops import AtenOp
from minductor.dialects.aten.special import AssertOp, ConstantOp, PyOp, ScalarOp, SeedOp
from minductor.dialects.aten.traits import Random
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.pyattrs import DeviceAttr, DTypeAttr, EnumAttr
from minductor.dialects.types import AbsentType, IntType, TensorType
from minductor.interpreters.calls import call, new_seed, take_seed
from minductor.interpreters.points import Points

PYTHON: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "neg": operator.neg,
    "pow": operator.pow,
    "abs": abs,
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
    "float": float,
}
"""Meaning of the functions of `aten.py`."""


class InterpretError(RuntimeError):
    """An op cannot be run, or its results are not what its types say."""


def run_function(
    module: ModuleOp | FuncOp, args: Sequence[Any], check: bool = False, named_draws: bool = False
) -> list[Any]:
    """The results of the module's first function on tensors and ints.

    `check`: every result must have the dtype, sizes, strides and device of its type. `named_draws`:
    a random op draws by its result's name, so that it gives the same beside other random ops.
    """
    return AtenInterpreter(_function_of(module), check, named_draws).run(args)


def _function_of(module: ModuleOp | FuncOp) -> FuncOp:
    if isinstance(module, FuncOp):
        return module
    return next(op for op in module.body.block.ops if isinstance(op, FuncOp))


class AtenInterpreter:
    """Runs one function; `env` holds values, `symbols` the sizes."""

    def __init__(self, func: FuncOp, check: bool = False, named_draws: bool = False) -> None:
        self.func = func
        self.check = check
        self.named_draws = named_draws
        self.env: dict[SSAValue, Any] = {}
        self.symbols: dict[Atom, int] = {}
        self.handlers: dict[type[Operation], Callable[[Any], Sequence[Any]]] = {
            ScalarOp: lambda op: [self.plain(op.number)],
            ConstantOp: self._constant,
            PyOp: lambda op: [PYTHON[op.function.data](*(self.env[v] for v in op.operands))],
            AssertOp: self._assert,
            ControlOp: self._control,
            SeedOp: lambda op: [new_seed(op.result.type.numel.as_int or 1)],
        }

    def run(self, args: Sequence[Any]) -> list[Any]:
        """The function's results."""
        block = self.func.body.block
        if len(args) != len(block.args):
            raise InterpretError(f"{len(args)} arguments for {len(block.args)} parameters")
        for param, value in zip(block.args, args, strict=True):
            self.define(param, value)
        with torch.no_grad():
            for op in block.ops:
                if op.name == "func.return":
                    return [self.env[v] for v in op.operands]
                handler = self.handlers.get(type(op), self._operator)
                for result, value in zip(op.results, handler(op), strict=True):
                    self.define(result, value)
        return []

    def define(self, ssa: SSAValue, value: Any) -> None:
        """Give a value, and bind the symbols that its type names."""
        self.env[ssa] = value
        type_ = ssa.type
        if isinstance(type_, IntType):
            self._bind([type_.data], [value])
        elif isinstance(type_, TensorType):
            self._bind(type_.sizes, value.shape)
            if self.check:
                self._check(ssa, type_, value)

    def _bind(self, exprs: Iterable[Expr], values: Iterable[int]) -> None:
        for e, value in zip(exprs, values, strict=True):
            atom = e.as_atom
            if atom is not None and atom.is_var:
                self.symbols.setdefault(atom, int(value))

    def _check(self, ssa: SSAValue, type_: TensorType, value: torch.Tensor) -> None:
        sizes = [e.eval(self.symbols) for e in type_.sizes]
        strides = [e.eval(self.symbols) for e in type_.strides]
        dtype = DTYPES[type_.dtype].torch_name
        got = [s for n, s in zip(value.shape, value.stride(), strict=True) if n > 1]
        want = [s for n, s in zip(sizes, strides, strict=True) if n > 1]
        same = str(value.dtype) == f"torch.{dtype}" and list(value.shape) == sizes
        if not same or (got != want and value.numel() > 0):
            raise InterpretError(
                f"%{ssa.name_hint}: {value.dtype}{list(value.shape)}:{list(value.stride())} "
                f"where the type is {type_.body_text()}"
            )

    # -- ops --------------------------------------------------------------------------------------
    def _operator(self, op: Operation) -> Sequence[Any]:
        if not isinstance(op, AtenOp):
            raise InterpretError(f"`{op.name}` is not an op of the aten level")
        overload = resolve(op.schema.qualified)
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        bound = op.bind()
        seed = self.plain(bound.pop("rng_seed", None))
        if seed is None and self.named_draws and op.has_trait(Random):
            seed = crc32((op.results[0].name_hint or "" if op.results else "").encode())
        for name, value in bound.items():
            plain = self.plain(value)
            if op.schema.by_name[name].keyword_only:
                keywords[name] = plain
            else:
                positional.append(plain)
        with torch.random.fork_rng(devices=[], enabled=seed is not None):
            if isinstance(seed, torch.Tensor):
                take_seed(seed)
            out = overload(*positional, **keywords)
        values = list(out) if isinstance(out, tuple | list) else [out]
        if not op.results:
            return []
        return [
            None if isinstance(r.type, AbsentType) else v
            for r, v in zip(op.results, values, strict=True)
        ]

    def _constant(self, op: ConstantOp) -> Sequence[Any]:
        type_ = op.result.type
        assert isinstance(type_, TensorType)
        sizes = [e.eval(self.symbols) for e in type_.sizes]
        strides = [e.eval(self.symbols) for e in type_.strides]
        dtype = torch_dtype(type_.dtype)
        dense = torch.tensor(op.numbers, dtype=dtype).reshape(sizes)
        made = torch.empty_strided(sizes, strides, dtype=dtype)
        return [made.copy_(dense).to(type_.device)]

    def _assert(self, op: AssertOp) -> Sequence[Any]:
        if op.expr.data.eval(self.symbols) < 0:
            raise RuntimeError(op.message.data)
        return []

    def _control(self, op: ControlOp) -> Sequence[Any]:
        operands = [self.env[v] for v in op.operands]
        run = lambda fn, args: AtenInterpreter(fn, self.check).run(args)  # noqa: E731
        return call(op, operands, Points(0, self.symbols), run)

    def plain(self, value: Any) -> Any:
        """What torch takes for a value of `AtenOp.bind`."""
        match value:
            case SSAValue():
                return self.env[value]
            case Expr():
                return value.eval(self.symbols)
            case DTypeAttr():
                return torch_dtype(value.data)
            case DeviceAttr():
                return torch.device(value.data)
            case EnumAttr():
                return getattr(torch, value.data)
            case list():
                return [self.plain(v) for v in value]
            case Attribute():
                raise InterpretError(f"`{value}` has no torch form")
            case _:
                return value


def torch_dtype(name: str) -> torch.dtype:
    """The torch dtype of a short name."""
    return getattr(torch, DTYPES[name].torch_name)


def resolve(qualified: str) -> Any:
    """The operator below `torch.ops`: `aten.add.Tensor`. InterpretError if this torch lacks it."""
    found: Any = torch.ops
    for part in qualified.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise InterpretError(f"this torch has no operator `{qualified}`")
    return found
