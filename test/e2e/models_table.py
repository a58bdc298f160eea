"""docs/models.md: kernels and extern calls of the models that the tests compile."""

import os
from collections import Counter
from typing import Any

DOCS = "docs/models.md"

Reports = list[dict[str, Any]]

HEAD = """# Models: kernels and extern calls

What minductor makes of six models (four layers, tiny sizes, f32, CPU, default preset). They are
transformers' own classes with random weights, and a handwritten MLP and U-Net (`bench/models`).
Outside our kernels stay calls of PyTorch's library: matmul, convolution, scaled dot-product
attention. Bytes are those of one call by the ledger.

`MINDUCTOR_UPDATE_DOCS=1 python -m pytest test/e2e/test_models.py` writes this file; without the
variable the same tests check it.
"""


def update_asked() -> bool:
    """Whether the run is to rewrite the table."""
    return os.environ.get("MINDUCTOR_UPDATE_DOCS") == "1"


def short(schema: str) -> str:
    """`aten.mm.default` as `mm`."""
    return schema.removeprefix("aten.").removesuffix(".default").lstrip("_")


def line(name: str, report: dict[str, Any]) -> str:
    """One row: a graph of a model."""
    externs = Counter(report["externs"])
    listed = ", ".join(f"{short(schema)} {count}" for schema, count in sorted(externs.items()))
    sizes = [f"{report['bytes'][key] / 1e6:.2f}" for key in ("floor", "unfused", "planned")]
    cells = [
        name,
        report["kind"],
        str(len(report["kernels"])),
        str(externs.total()),
        listed,
        *sizes,
    ]
    return f"| {' | '.join(cells)} |"


def render(seen: dict[str, Reports]) -> str:
    """The whole document."""
    heads = ["model", "graph", "kernels", "extern calls", "which"]
    heads += ["floor MB", "unfused MB", "planned MB"]
    lines = [f"| {' | '.join(heads)} |", "| --- | --- | ---: | ---: | --- | ---: | ---: | ---: |"]
    for name, reports in seen.items():
        lines += [line(name, report) for report in reports]
    return "\n".join([HEAD, *lines, ""])
