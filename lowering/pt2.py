"""Front end for programs that `torch.export.save` wrote (`.pt2` files).

An exported program is training ATen, not functional; `run_decompositions` with our table makes it
so. Parameters, buffers and constants are leading arguments. Where the program updates a buffer or
an input, export lists the new value among the outputs; here it becomes a `copy_` to the argument at
the function's end, as AOTAutograd writes it.
"""

from __future__ import annotations

import logging
import os
import zipfile
from typing import Any

import torch
from torch.export.graph_signature import OutputKind
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from minductor.lowering.decompositions import composite_decompositions
from minductor.lowering.fx_to_aten import ImportRefused, import_graph

MUTATIONS = frozenset(
    kind
    for kind in OutputKind
    if kind.name in ("BUFFER_MUTATION", "PARAMETER_MUTATION", "USER_INPUT_MUTATION")
)


def read_pt2(path: str | os.PathLike[str]) -> ModuleOp:
    """The `aten` module of a `.pt2` file. DiagnosticException says what cannot be read."""
    mend = "write one by torch.export.save(torch.export.export(model, inputs), path)"
    if not zipfile.is_zipfile(path):
        raise DiagnosticException(f"{path}: not a .pt2 program, which is a zip archive; {mend}")
    log = logging.getLogger("torch.export")
    quiet, log.disabled = log.disabled, True  # it prints a traceback for each way that it tries
    try:
        program = torch.export.load(os.fspath(path))
    except Exception as error:
        why = str(error).strip().splitlines()[:1]
        raise DiagnosticException(
            f"{path}: not a readable .pt2 program: {''.join(why) or type(error).__name__}; {mend}"
        ) from error
    finally:
        log.disabled = quiet
    try:
        return import_program(program)
    except ImportRefused as refusal:
        raise DiagnosticException(f"{path}: {refusal}") from refusal


def import_program(program: torch.export.ExportedProgram) -> ModuleOp:
    """The `aten` module of an exported program, its mutations as `copy_`."""
    table: dict[Any, Any] = {**composite_decompositions()}
    functional = program.run_decompositions(table)
    return import_graph(with_copies(functional), "inference").module


def with_copies(program: torch.export.ExportedProgram) -> torch.fx.GraphModule:
    """The program's graph with mutated buffers and inputs written back at the end."""
    graph: Any = torch.fx.Graph()
    signature = program.graph_signature
    outs = graph.graph_copy(program.graph, {})
    places = {n.name: n for n in graph.nodes if n.op == "placeholder"}
    inputs: dict[str, str] = {}
    for spec in signature.input_specs:
        if spec.target is not None:
            inputs[spec.target] = spec.arg.name
    kept: list[Any] = []
    for spec, value in zip(signature.output_specs, outs, strict=True):
        if spec.kind not in MUTATIONS:
            kept.append(value)
            continue
        target = str(spec.target)
        place = places[inputs.get(target, target)]
        copy = graph.call_function(torch.ops.aten.copy_.default, (place, value))
        copy.meta["val"] = place.meta["val"]
    graph.output(tuple(kept))
    return torch.fx.GraphModule(program.graph_module, graph)
