"""The report of a compiled graph: what the option `report` gets and the cache entry keeps.

    {"name": "inference 0/0", "kind": "inference",
     "kernels": [{"name": "cpp_fused_add_relu_0", "origins": ["add", "relu"], "bytes": 8192}],
     "externs": {"aten.mm.default": 1},
     "bytes": {"floor": 8192, "unfused": 16384, "planned": 8192},
     "compile_s": 0.21, "cached": False, "fallback": None, "cudagraphs": None}

Bytes are those of one call, sizes as they were at capture. The graph's floor counts each used input
and each output once; `unfused` and `planned` are the ledgers of the kernels, and each extern call
reads its operands and writes its results once. `fallback` is the reason why the graph runs eagerly,
None where it was compiled. `cudagraphs` is "recorded", or the reason why the graph is not, None
where nobody asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from minductor.codegen.plan.module import graph_floor, symbols_of, tensor_bytes
from minductor.dialects.attrs import Bytes
from minductor.dialects.expr import Atom
from minductor.dialects.kernel.host import ExternOp
from minductor.dialects.kernel.ops import FuncOp as Kernel

Report = dict[str, Any]
Hints = Mapping[Atom, int]


def report_of(module: ModuleOp, kind: str) -> Report:
    """The report of a scheduled module, without what only one compile knows."""
    graphs = [op for op in module.ops if isinstance(op, FuncOp)]
    symbols = symbols_of(graphs[0]) if graphs else None
    hints = symbols.hints() if symbols is not None else {}
    kernels = [op for op in module.ops if isinstance(op, Kernel)]
    calls = [op for graph in graphs for op in graph.walk() if isinstance(op, ExternOp)]
    ledgers = [one.bytes_.data for one in kernels if one.bytes_ is not None]
    called = sum(_traffic(call, hints) for call in calls)
    return {
        "kind": kind,
        "kernels": [_kernel(one, hints) for one in kernels],
        "externs": dict(sorted(Counter(call.callee.data for call in calls).items())),
        "bytes": {
            "floor": sum(graph_floor(graph, hints) for graph in graphs),
            "unfused": called + sum(one.unfused.eval(hints) for one in ledgers),
            "planned": called + sum(one.planned.eval(hints) for one in ledgers),
        },
    }


def eager_report(kind: str, calls: dict[str, int], reason: str) -> Report:
    """The report of a graph that runs op by op."""
    return {
        "kind": kind,
        "kernels": [],
        "externs": calls,
        "bytes": {"floor": 0, "unfused": 0, "planned": 0},
        "fallback": reason,
    }


def finished(report: Mapping[str, Any], name: str, seconds: float, cached: bool) -> Report:
    """A report with what one compile knows: the graph's name, seconds, product from the cache."""
    return {
        "fallback": None,
        "cudagraphs": None,
        **report,
        "name": name,
        "compile_s": seconds,
        "cached": cached,
    }


def _kernel(one: Kernel, hints: Hints) -> Report:
    planned = 0 if one.bytes_ is None else _planned(one.bytes_.data, hints)
    origins = dict.fromkeys(origin.op for origin in one.origins.data)
    return {"name": one.sym_name.data, "origins": list(origins), "bytes": planned}


def _planned(ledger: Bytes, hints: Hints) -> int:
    return ledger.planned.eval(hints)


def _traffic(call: Operation, hints: Hints) -> int:
    """Bytes of the distinct operands and the results of a call."""
    return sum(tensor_bytes(one, hints) for one in _values(call))


def _values(call: Operation) -> Iterator[Any]:
    yield from dict.fromkeys(call.operands)
    yield from call.results
