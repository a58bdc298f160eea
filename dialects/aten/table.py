"""The checked-in table of torch's schemas, found by name without reading more than one line.

`schemas.txt` is written by `tools/gen_aten_table.py`: a union over the supported torch versions.
Whole lines are sorted, so a name is found by bisection.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from functools import cache
from pathlib import Path

from minductor.dialects.aten.schema import Arg, Schema, parse_schema

SEED = Arg("rng_seed", "tensor", optional=True, default=None, keyword_only=True)
"""An argument that every random op has here beside torch's own: an i64[1] seed from `aten.seed`.

With it the op is a function of its arguments, so a checkpointed region draws the same numbers when
it is recomputed. It is no part of the schema's text, and no eager kernel takes it.
"""


@cache
def table_lines() -> list[str]:
    """All lines of the table, sorted (the first one, with the versions, sorts first)."""
    path = Path(__file__).with_name("schemas.txt")
    return path.read_text(encoding="utf-8").split("\n")


def table_names() -> list[str]:
    """Overloads of the table as the dialect names them (`add.Tensor`, `prims.mul.default`)."""
    return [_parse_line(line).overload for line in table_lines() if line and line[0] != "#"]


@cache
def lookup(overload: str) -> Schema | None:
    """The schema of `add.Tensor`, `mm.default` or `prims.mul.default`; None if there is none."""
    parts = overload.split(".")
    if len(parts) == 2:
        parts.insert(0, "aten")
    if len(parts) != 3:
        return None
    namespace, packet, name = parts
    key = f"{namespace}::{packet}" + ("" if name == "default" else f".{name}") + "("
    lines = table_lines()
    at = bisect_left(lines, key, lo=1, hi=len(lines) - 1)
    if at < len(lines) and lines[at].startswith(key):
        return _parse_line(lines[at])
    return None


def _parse_line(line: str) -> Schema:
    text, _, tags = line.partition(" | ")
    schema = parse_schema(text, frozenset(tags.split()))
    if "nondeterministic_seeded" in schema.tags and not schema.mutates:
        return replace(schema, args=(*schema.args, SEED))
    return schema
