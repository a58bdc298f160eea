"""Iteration spaces of a fused group: one set of loops that serves nests of different domains.

A group runs common loops C; inside, each nest runs the rest of its domain. Domains that agree only
as products are brought to a common refinement, then neighbours that every access walks as one are
collapsed again:

    nest A (d0: 1048576)          nest B (d0: 1024, d1: 1024)
    refinement (1024, 1024):      A's d0 = 1024 * c0 + c1,  B's d0 = c0, d1 = c1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_exact import divide
from minductor.dialects.expr_simplify import product


class SpaceError(Exception):
    """The nests of a group have no common iteration space; the text says which extents differ."""


def refine(lists: Iterable[Sequence[Expr]]) -> tuple[Expr, ...] | None:
    """The common refinement of extent lists of one product, or None where factors do not divide."""
    out: tuple[Expr, ...] | None = None
    for extents in lists:
        out = tuple(extents) if out is None else _refine_two(out, extents)
        if out is None:
            return None
    return _no_units(out or ())


def _refine_two(a: Sequence[Expr], b: Sequence[Expr]) -> tuple[Expr, ...] | None:
    left = [e for e in a if e is not ex.ONE]
    right = [e for e in b if e is not ex.ONE]
    out: list[Expr] = []
    while left and right:
        x, y = left.pop(), right.pop()
        if x is y:
            out.append(x)
            continue
        small, big, stack = (x, y, right) if _divides(x, y) else (y, x, left)
        rest = _quotient(big, small)
        if rest is None:
            return None
        out.append(small)
        stack.append(rest)
    return None if left or right else tuple(reversed(out))


def _divides(a: Expr, b: Expr) -> bool:
    return _quotient(b, a) is not None


def _quotient(big: Expr, small: Expr) -> Expr | None:
    """big / small when that is exact, else None."""
    if small.as_int == 0 or big.as_int == 0:
        return None
    q, r = divide(big, small)
    return q if not r.terms and q.terms else None


def split_prefix(
    extents: Sequence[Expr], outer: Expr
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]] | None:
    """Extents as (prefix of product `outer`, rest); splits one extent if it divides, else None."""
    for count in range(len(extents) + 1):
        # loops that are shared as they are need no division
        if product(extents[:count]) is outer:
            return _no_units(extents[:count]), _no_units(extents[count:])
    done, have = [], ex.ONE
    rest = [e for e in extents if e is not ex.ONE]
    while have is not outer:
        if not rest:
            return None
        e = rest.pop(0)
        if have * e is outer or _quotient(outer, have * e) is not None:
            done.append(e)
            have = have * e
            continue
        need = _quotient(outer, have)
        inner = None if need is None else _quotient(e, need)
        if need is None or inner is None:
            return None
        done.append(need)
        rest.insert(0, inner)
        break
    return tuple(done), tuple(rest)


def _no_units(extents: Sequence[Expr]) -> tuple[Expr, ...]:
    return tuple(e for e in extents if e is not ex.ONE)


def radix_map(extents: Sequence[Expr], fine: Sequence[Expr], first: int) -> list[Expr]:
    """Each coarse variable as a mixed-radix number of the fine variables d`first`, ...

    `fine` refines `extents` (units dropped). Falls back to div and mod of the linear index where
    `fine` is one linear extent.
    """
    values = [ex.dim(first + k) for k in range(len(fine))]
    out: list[Expr] = []
    k = len(fine)
    for extent in reversed(extents):
        if extent is ex.ONE:
            out.append(ex.ZERO)
            continue
        step, total, covered = ex.ONE, ex.ZERO, ex.ONE
        while covered is not extent:
            k -= 1
            if k < 0:
                raise SpaceError(f"extent {extent} does not fit into {list(map(str, fine))}")
            total = total + step * values[k]
            step = step * fine[k]
            covered = covered * fine[k]
        out.append(total)
    return list(reversed(out))


def delinearise(extents: Sequence[Expr], flat: Expr) -> list[Expr]:
    """The variables of `extents` as div and mod of a linear index."""
    if any(e.as_int == 0 for e in extents):
        return [ex.ZERO] * len(extents)  # no iteration ever asks
    out: list[Expr] = []
    for k in reversed(range(len(extents))):
        outermost = all(e is ex.ONE for e in extents[:k])
        out.append(flat if outermost else ex.mod(flat, extents[k]))
        if extents[k] is ex.ONE:
            out[-1] = ex.ZERO
            continue
        flat = ex.floordiv(flat, extents[k])
    return list(reversed(out))


def map_onto(extents: Sequence[Expr], fine: Sequence[Expr], first: int) -> list[Expr]:
    """Variables of `extents` in terms of d`first`.. over `fine`; products agree by contract."""
    try:
        return radix_map(extents, fine, first)
    except SpaceError:
        flat, step = ex.ZERO, ex.ONE
        for k in reversed(range(len(fine))):
            flat = flat + step * ex.dim(first + k)
            step = step * fine[k]
        return delinearise(extents, flat)


def common(lists: Sequence[Sequence[Expr]]) -> tuple[Expr, ...]:
    """A space for extent lists of one product: the refinement, else the linear space."""
    fine = refine(lists)
    if fine is not None:
        return fine
    total = product(lists[0])
    return () if total is ex.ONE else (total,)


def collapsible(a: Atom, b: Atom, inner: Expr, exprs: Iterable[Expr]) -> bool:
    """Every expression walks (a, b) as one variable: coeff(a) = coeff(b) * inner, no div or mod."""
    for e in exprs:
        occurs = e.vars("d")
        if a not in occurs and b not in occurs:
            continue
        if not (e.is_linear_in(a) and e.is_linear_in(b)):
            return False
        if e.coeff(a) is not e.coeff(b) * inner:
            return False
    return True


def collapse(
    extents: Sequence[Expr], first: int, exprs: Sequence[Expr]
) -> tuple[tuple[Expr, ...], list[Expr]]:
    """Merge neighbours that all expressions walk as one.

    Returns the new extents (variables d`first`..) and each old variable in terms of the new ones.
    """
    groups: list[list[int]] = []
    for k in range(len(extents)):
        if groups:
            last = groups[-1][-1]
            a, b = ex.dim_atom(first + last), ex.dim_atom(first + k)
            if collapsible(a, b, extents[k], exprs):
                groups[-1].append(k)
                continue
        groups.append([k])
    merged = tuple(product(extents[k] for k in g) for g in groups)
    out: list[Expr] = [ex.ZERO] * len(extents)
    for n, group in enumerate(groups):
        parts = [extents[k] for k in group]
        flat = ex.dim(first + n)
        values = [flat] if len(parts) == 1 else delinearise(parts, flat)
        for k, v in zip(group, values, strict=True):
            out[k] = v
    return merged, out
