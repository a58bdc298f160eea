"""Text of scalar ops, loads and stores in Triton."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from xdsl.ir import Operation, SSAValue

from minductor.codegen.triton.scope import TYPES, EmitError, Scope
from minductor.dialects.dtypes import DTYPES, dtype_of_scalar
from minductor.dialects.expr import Atom
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar import ops as sc
from minductor.dialects.types import BufType


def type_text(value: SSAValue) -> str:
    """`tl.float32`: the type of a value."""
    return TYPES[dtype_of_scalar(value.type).name]


def define(scope: Scope, value: SSAValue, text: str, varies: frozenset[Atom]) -> None:
    """`name = text`."""
    scope.varies[value] = varies
    scope.line(f"{scope.names.define(value)} = {text}")


def joined(scope: Scope, values: list[SSAValue]) -> frozenset[Atom]:
    """Axes that any of the values varies along."""
    out: frozenset[Atom] = frozenset()
    for v in values:
        out |= scope.varies[v]
    return out


def float_literal(value: float) -> str:
    """A Python expression of a float."""
    if math.isnan(value) or math.isinf(value):
        return f'float("{value}")'
    return repr(value)


def print_point(scope: Scope, op: Operation) -> bool:
    """Print a scalar op or an access; False if it is something else."""
    if isinstance(op, sc.TableOp):
        _table(scope, op)
        return True
    found = _PRINT.get(type(op))
    if found is not None:
        found(scope, op)
    return found is not None


def _table(scope: Scope, op: sc.TableOp) -> None:
    if not op.ROW.triton:
        raise EmitError(f"`{op.name}` has no Triton form")
    names = [scope.names[v] for v in op.operands]
    varies = joined(scope, list(op.operands))
    text = op.ROW.triton.format(*names)
    head, _, rest = text.partition("(")
    other = scope.instead.get(head)
    if other is not None and dtype_of_scalar(op.results[0].type).name == "f32":
        text = f"{other}({rest}"
    define(scope, op.results[0], text, varies)


def _constant(scope: Scope, op: sc.ConstantOp) -> None:
    number = op.number
    text = float_literal(number) if isinstance(number, float) else str(number)
    ones = "[" + ", ".join(["1"] * scope.rank) + "]"
    define(scope, op.result, f"tl.full({ones}, {text}, {type_text(op.result)})", frozenset())


def _cast(scope: Scope, op: sc.CastOp) -> None:
    name = scope.names[op.arg]
    old, new = dtype_of_scalar(op.arg.type), dtype_of_scalar(op.result.type)
    if new.kind == "bool":
        text = f"({name} != 0)"
    elif old.is_float and new.kind == "uint":
        # PyTorch goes through i64, so that negative values wrap
        text = f"{name}.to(tl.int64).to({TYPES[new.name]})"
    elif new.name == "bf16" and not old.is_float:
        # by way of f32, as PyTorch has it; Triton's interpreter would copy the bits
        text = f"{name}.to(tl.float32).to(tl.bfloat16)"
    else:
        text = f"{name}.to({TYPES[new.name]})"
    define(scope, op.result, text, scope.varies[op.arg])


def _bitcast(scope: Scope, op: sc.BitcastOp) -> None:
    text = f"{scope.names[op.arg]}.to({type_text(op.result)}, bitcast=True)"
    define(scope, op.result, text, scope.varies[op.arg])


def _block(scope: Scope, text: str, varies: frozenset[Atom], have: frozenset[Atom]) -> str:
    """An index as a block of the axes in `varies`; it varies along `have` by itself."""
    if have and varies <= have:
        return text
    return f"{text} + tl.zeros({scope.shape(varies)}, {_index_type(scope)})"


def _index_type(scope: Scope) -> str:
    return "tl.int64" if scope.wide else "tl.int32"


def _index(scope: Scope, op: sc.IndexOp) -> None:
    operands = list(op.operands)
    e = op.expr.data
    varies = scope.along(e, operands)
    text = _block(scope, f"({scope.index(e, operands)})", varies, varies)
    define(scope, op.result, f"({text}).to({type_text(op.result)})", varies)


def _within(scope: Scope, op: sc.WithinOp) -> None:
    operands = list(op.operands)
    varies: frozenset[Atom] = frozenset()
    for e in op.test:
        varies |= scope.along(e, operands)
    e, lo, hi = (scope.index(x, operands) for x in op.test)
    tests: list[str] = []
    if not scope.ranges.le(op.test[1], op.test[0]):
        tests.append(f"({e} >= {lo})")
    if not scope.ranges.lt(op.test[0], op.test[2]):
        tests.append(f"({e} < {hi})")
    ones = "[" + ", ".join(["1"] * scope.rank) + "]"
    text = " & ".join(tests) or "True"
    define(scope, op.result, f"tl.full({ones}, 1, tl.int1) & ({text})", varies)


def _bound(scope: Scope, op: sc.BoundOp) -> None:
    name = scope.names[op.arg]
    size = scope.index(op.size.data, [])
    varies = scope.varies[op.arg]
    if op.mask is not None:
        varies |= scope.varies[op.mask]
    define(scope, op.result, name, varies)
    out = scope.names[op.result]
    if op.wrap is not None:
        scope.line(f"{out} = tl.where({name} < 0, {name} + {size}, {name})")
    held = [] if op.mask is None else [scope.names[op.mask]]
    dead = " & ".join([*scope.mask(varies), *held])
    inside = f"({out} >= 0) & ({out} < {size})"
    alive = f"({inside}) | ~({dead})" if dead else inside
    scope.line(f'tl.device_assert({alive}, "index out of range")')
    scope.line(f"{out} = tl.where({inside}, {out}, 0)")
    scope.faults.append(True)


def _random(scope: Scope, op: sc.RandomOp) -> None:
    operands = list(op.operands)[1:]
    e = op.expr.data
    varies = scope.along(e, operands)
    dtype = dtype_of_scalar(op.result.type).name
    kind = op.kind.data
    helper = {
        "philox": f"mi_random_{dtype}",
        "philox_normal": f"mi_normal_{'f64' if dtype == 'f64' else 'f32'}",
        "philox_bits": "mi_random_bits",
    }[kind]
    index = _block(scope, f"({scope.index(e, operands)})", varies, varies)
    stream = op.stream.value.data
    text = f"{helper}({scope.names[op.seed]}, {stream}, {index})"
    if kind != "philox":
        text += f".to({TYPES[dtype]})"
    define(scope, op.result, text, varies | scope.varies[op.seed])


def _load(scope: Scope, op: k.LoadOp) -> None:
    operands = op.index_operands
    e = op.index.data[0]
    own = scope.along(e, operands)
    varies = own
    masks = scope.mask(own)
    other = ""
    if op.mask is not None:
        cond, substitute = op.mask
        varies |= scope.varies[cond] | scope.varies[substitute]
        masks = [*scope.mask(varies), scope.names[cond]]
        other = f", other={scope.names[substitute]}"
    index = _block(scope, scope.index(e, operands), varies, own)
    text = f"{scope.names[op.buffer]} + ({index})"
    if masks:
        text += f", mask={' & '.join(masks)}{other}"
    if op.evict is not None:
        text += f', eviction_policy="evict_{op.evict.data}"'
    load = f"tl.load({text})"
    if cast(BufType, op.buffer.type).dtype == "bool":
        load += ".to(tl.int1)"
    define(scope, op.result, load, varies)


_ATOMIC = {"add": "tl.atomic_add", "max": "tl.atomic_max", "min": "tl.atomic_min"}


def _store(scope: Scope, op: k.StoreOp) -> None:
    operands = op.index_operands
    e = op.index.data[0]
    own = scope.along(e, operands)
    varies = own | scope.varies[op.value]
    if op.combine is not None:
        varies |= frozenset(scope.axes)
    masks = scope.mask(varies)
    if op.mask is not None:
        varies |= scope.varies[op.mask]
        masks = [*scope.mask(varies), scope.names[op.mask]]
    index = _block(scope, scope.index(e, operands), varies, own)
    pointer = f"{scope.names[op.buffer]} + ({index})"
    value = scope.names[op.value]
    mask = f", mask={' & '.join(masks)}" if masks else ""
    combine = None if op.combine is None else op.combine.data
    if combine in (None, "last"):
        policy = "" if op.evict is None else f', eviction_policy="evict_{op.evict.data}"'
        scope.line(f"tl.store({pointer}, {value}{mask}{policy})")
    elif op.by is not None and op.by.data == "atomic":
        if combine not in _ATOMIC:
            raise EmitError(f"`store {combine}` has no atomic form in Triton; make its loop a for")
        value = f"tl.broadcast_to({value}, {scope.shape(varies)})"
        scope.line(f'{_ATOMIC[combine]}({pointer}, {value}{mask}, sem="relaxed")')
    else:
        _combine(scope, pointer, value, mask, combine)


def _combine(scope: Scope, pointer: str, value: str, mask: str, combine: str | None) -> None:
    """Read, combine, write: for loops that run in order in one program."""
    old = scope.names.fresh("old")
    scope.line(f"{old} = tl.load({pointer}{mask})")
    text = {
        "add": f"{old} + {value}",
        "mul": f"{old} * {value}",
        "max": f"mi_c_max({old}, {value})",
        "min": f"mi_c_min({old}, {value})",
    }[str(combine)]
    scope.line(f"tl.store({pointer}, {text}{mask})")


def _if(scope: Scope, op: sc.IfOp) -> None:
    """Both sides, then a choice: legal when no side has effects (kernel-predicate says why)."""
    raise EmitError("`scalar.if` has no Triton form here; run kernel-predicate first")


_PRINT: dict[type[Operation], Callable[[Scope, Any], None]] = {
    sc.ConstantOp: _constant,
    sc.CastOp: _cast,
    sc.BitcastOp: _bitcast,
    sc.IndexOp: _index,
    sc.WithinOp: _within,
    sc.BoundOp: _bound,
    sc.RandomOp: _random,
    sc.IfOp: _if,
    k.LoadOp: _load,
    k.StoreOp: _store,
}


def is_float(value: SSAValue) -> bool:
    """A floating value."""
    return DTYPES[dtype_of_scalar(value.type).name].is_float
