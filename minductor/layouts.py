"""Tensors that a forward saves for its backward in a layout of its own choice.

Nobody but the backward sees what is saved: `loop-layout` may lay it out as convolutions want it.

    forward    results in AOTAutograd's place of saved tensors are marked `loose_results`
               strides that were chosen are reported to AOTAutograd
    backward   AOTAutograd hands over inputs with those strides; its graph reads copies of them,
               contiguous as it was traced, which vanish where a kernel or convolution reads
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._dynamo import compiled_autograd
from torch._guards import TracingContext
from torch.fx import GraphModule
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp

from minductor.dialects.types import TensorType
from minductor.eager import Boxed
from minductor.passes.peak import LOOSE
from minductor.passes.pipelines import PIPELINES
from minductor.traced import aot_metadata

Strides = tuple[int, ...]


def lays_out(pipeline: str) -> bool:
    """Whether a pipeline's text has the pass that chooses layouts."""
    named = [row for name, rows in PIPELINES.items() if name in pipeline for row in rows]
    return any("loop-layout" in row for row in (pipeline, *named))


def saved_results(count: int) -> range:
    """Which of a forward's results AOTAutograd saves for the backward, where any layout will do."""
    meta = aot_metadata()
    # compiled autograd runs the backward as it was traced, views and all
    traced = compiled_autograd.compiled_autograd_enabled or torch._dynamo.config.compiled_autograd
    if meta is None or traced or getattr(meta, "num_symints_saved_for_bw", None) is None:
        return range(0)
    return range(count)[meta.tensors_saved_for_backwards_slice]


def mark_loose(module: ModuleOp, outputs: Sequence[int | None]) -> None:
    """Marks images among the saved results of a forward; `outputs` are places of graph results."""
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    last = func.body.block.last_op
    assert isinstance(last, ReturnOp)
    saved = {outputs[k] for k in saved_results(len(outputs))}
    loose = [k for k, v in enumerate(last.operands) if k in saved and _is_image(v.type)]
    if loose:
        func.attributes[LOOSE] = DenseArrayBase.from_list(i64, loose)


def _is_image(type_: object) -> bool:
    if not isinstance(type_, TensorType) or type_.rank != 4 or not type_.is_contiguous:
        return False
    return all(n.as_int is not None for n in type_.sizes)


def chosen_strides(module: ModuleOp) -> list[Strides | None]:
    """Per result of the host program: strides that were free and are not contiguous."""
    found: list[Strides | None] = []
    for func in module.ops:
        loose = func.attributes.get(LOOSE)
        if not isinstance(func, FuncOp) or not isinstance(loose, DenseArrayBase):
            continue
        for k, type_ in enumerate(func.function_type.outputs):
            known = None
            if k in loose.get_values() and isinstance(type_, TensorType):
                known = None if type_.is_contiguous else tuple(map(int, type_.strides))
            found.append(known)
    return found


def of_outputs(
    strides: Sequence[Sequence[int] | None], outputs: Sequence[int | None]
) -> list[Strides | None]:
    """Strides per result of a graph; none where no layout was chosen."""
    if not any(strides):
        return []
    kept = [None if k is None else strides[k] for k in outputs]
    return [None if one is None else tuple(one) for one in kept]


def report_strides(strides: Sequence[Strides | None]) -> None:
    """Tells AOTAutograd, in the compile of a forward, which strides its saved tensors have."""
    context = TracingContext.try_get()
    if context is not None and context.output_strides is not None and not context.output_strides:
        context.output_strides.extend(strides)


def restrided(call: Boxed, strides: Sequence[Strides | None]) -> Boxed:
    """A callable whose results have the strides that a backward was compiled for."""

    def run(args: list[Any]) -> list[Any]:
        results = list(call(args))
        for k, wanted in enumerate(strides):
            if wanted is not None:
                made = results[k].new_empty_strided(results[k].shape, wanted)
                results[k] = made.copy_(results[k])
        return results

    run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
    return run


def as_saved(backward: GraphModule, inputs: Sequence[Any]) -> GraphModule:
    """A backward that takes inputs with the strides of `inputs`, and reads them contiguous."""
    given = [node for node in backward.graph.nodes if node.op == "placeholder"]
    pairs = zip(given, inputs, strict=True)
    if not any(_differs(node.meta.get("val"), value) for node, value in pairs):
        return backward
    graph = torch.fx.Graph()
    graph.output(graph.graph_copy(backward.graph, {}))
    nodes = list(graph.nodes)
    body = next(node for node in nodes if node.op != "placeholder")
    for node, value in zip([n for n in nodes if n.op == "placeholder"], inputs, strict=True):
        traced = node.meta.get("val")
        if not _differs(traced, value):
            continue
        with graph.inserting_before(body):
            keywords: Any = {"memory_format": torch.contiguous_format}
            copy = graph.call_function(torch.ops.aten.clone.default, (node,), keywords)
        node.replace_all_uses_with(copy, delete_user_cb=lambda user, own=copy: user is not own)
        copy.meta = {**node.meta, "val": traced}
        node.meta = {**node.meta, "val": value}
    return GraphModule(backward, graph)


def _differs(traced: Any, value: Any) -> bool:
    """A tensor with other strides than were traced: contiguous, as `mark_loose` asks."""
    if not isinstance(traced, Tensor) or not isinstance(value, Tensor) or traced.dim() != 4:
        return False
    static = all(type(n) is int for n in (*traced.shape, *traced.stride(), *value.stride()))
    return static and traced.stride() != value.stride() and traced.is_contiguous()
