"""Writes the table of torch's operator schemas, `dialects/aten/schemas.txt`.

    python -m minductor.tools.gen_aten_table        # once with each supported torch

One line a schema, sorted, as `namespace::name.overload(args) -> returns | tags`. It is a union:
a run under another torch adds what that torch has and leaves the rest. Where two versions differ,
the newest one's text stands. Left out: `out=` forms and schemas with types that no graph holds
(TorchScript lists of anything, dictionaries, futures).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

NAMESPACES = ("aten", "prims", "_c10d_functional", "rngprims", "mkldnn", "onednn", "quantized")
TAGS = (
    "core",
    "data_dependent_output",
    "dynamic_output_shape",
    "nondeterministic_seeded",
    "pointwise",
    "reduction",
    "out",
)
"""The tags kept in the table, in order. `out` is ours: see `writes_into`."""

ATOMS = (
    "Tensor",
    "SymInt",
    "SymBool",
    "SymFloat",
    "int",
    "bool",
    "float",
    "complex",
    "Scalar",
    "str",
    "ScalarType",
    "Layout",
    "MemoryFormat",
    "Device",
    "Generator",
    "Dimname",
)
_TYPE = re.compile(rf"({'|'.join(ATOMS)})(\([^)]*\))?(\??(\[\d*\])?\??)$")
_MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
_DTYPES = {"6": "float32", "7": "float64", "4": "int64", "3": "int32", "11": "bool", "0": "uint8"}
HEADER = "# torch "


def table_path() -> Path:
    """Where the table lies in this checkout."""
    return Path(__file__).resolve().parent.parent / "dialects" / "aten" / "schemas.txt"


def split_top(text: str) -> list[str]:
    """Splits at commas outside brackets and quotes."""
    parts: list[str] = []
    depth, start, quoted = 0, 0, False
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def argument(text: str) -> str | None:
    """An argument's text with named enum defaults, or None when its type occurs in no graph."""
    if text == "*":
        return text
    declared, _, default = text.partition("=")
    type_, _, name = declared.rpartition(" ")
    if not _TYPE.match(type_) or not name:
        return None
    if type_.startswith("MemoryFormat") and default.isdigit():
        default = _MEMORY_FORMATS[int(default)]
    elif type_ == "ScalarType" and default.isdigit():
        default = _DTYPES[default]
    elif type_ == "Layout" and default == "0":
        default = "strided"
    return f"{declared}={default}" if default else declared


def line_of(schema: str, tags: tuple[str, ...]) -> str | None:
    """The table's line of a schema, or None when it is left out."""
    head, _, rest = schema.partition("(")
    inner, _, returns = rest.rpartition(") -> ")
    args = [argument(a) for a in split_top(inner)]
    outs = split_top(returns[1:-1]) if returns.startswith("(") else [returns]
    if any(a is None for a in args) or not all(_TYPE.match(o.split(" ")[0]) for o in outs):
        return None
    texts = [a for a in args if a is not None]
    if not any("Tensor" in t for t in (*texts, *outs)):
        return None
    named = texts[texts.index("*") + 1 :] if "*" in texts else []
    if any(re.match(r"Tensor\(\w+!\)", a) for a in named):
        return None
    line = f"{head}({', '.join(texts)}) -> {returns}"
    return f"{line} | {' '.join(tags)}" if tags else line


def writes_into(op: Any) -> bool:
    """True when all results are tensors and a kernel of torch's own writes them into given memory.

    Generated `out=` forms, which compute and then copy, have no kernel for a device.
    """
    import torch

    from minductor.runtime.externs import out_form

    returns = [str(r.type) for r in op._schema.returns]
    if any(t.name == "dynamic_output_shape" for t in op.tags) or set(returns) != {"Tensor"}:
        return False
    if any(r.alias_info is not None for r in op._schema.returns):
        return False
    form = out_form(op)
    if form is None:
        return False
    name = f"{form._schema.name}.{form._schema.overload_name}".rstrip(".")
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU")


def current_lines() -> dict[str, str]:
    """Key (the text before the bracket) -> line, of the running torch."""
    import torch

    out: dict[str, str] = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace not in NAMESPACES:
            continue
        packet = getattr(getattr(torch.ops, namespace), name, None)
        overload = getattr(packet, schema.overload_name or "default", None)
        tags = {tag.name for tag in getattr(overload, "tags", ())}
        if overload is not None and writes_into(overload):
            tags.add("out")
        line = line_of(str(schema), tuple(t for t in TAGS if t in tags))
        if line is not None:
            out[line.partition("(")[0]] = line
    return out


def read_table(text: str) -> tuple[list[str], dict[str, str]]:
    """(versions, key -> line) of a table's text."""
    lines = text.splitlines()
    versions = lines[0].removeprefix(HEADER).split(", ") if lines and lines[0] else []
    return versions, {line.partition("(")[0]: line for line in lines[1:]}


def version_key(version: str) -> tuple[int, ...]:
    """`2.13.0` -> (2, 13, 0)."""
    return tuple(int(n) for n in re.findall(r"\d+", version)[:3])


def merge(text: str, version: str, new: dict[str, str]) -> str:
    """The table with a version's lines merged in."""
    versions, lines = read_table(text)
    newest = all(version_key(version) >= version_key(v) for v in versions)
    merged = {**lines, **new} if newest else {**new, **lines}
    known = sorted({*versions, version}, key=version_key)
    # whole lines are sorted, so that a key with its bracket can be found by bisection
    return "\n".join([HEADER + ", ".join(known), *sorted(merged.values())]) + "\n"


def main() -> int:
    """Merges the running torch's schemas into the table."""
    import torch

    path = table_path()
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    version = torch.__version__.partition("+")[0]
    merged = merge(text, version, current_lines())
    path.write_text(merged, encoding="utf-8")
    print(f"{path.name}: {merged.count(chr(10)) - 1} schemas, torch {version} merged in")
    return 0


if __name__ == "__main__":
    sys.exit(main())
