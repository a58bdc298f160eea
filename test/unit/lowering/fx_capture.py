"""Captures AOTAutograd's graphs of a function, and makes arguments for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch._functorch.config as functorch_config
from torch._functorch.aot_autograd import aot_module_simplified
from torch._functorch.partitioners import min_cut_rematerialization_partition

from minductor.lowering.decompositions import decompositions, whole_before_autograd


def capture(
    f: Callable[..., Any], *args: Any, dynamic: bool = False, train: bool = False
) -> dict[str, torch.fx.GraphModule]:
    """The graphs by name: inference, or forward and backward."""
    graphs: dict[str, torch.fx.GraphModule] = {}

    def keep(name: str) -> Callable[..., Any]:
        def compiler(gm: torch.fx.GraphModule, example: Any) -> Any:
            graphs.setdefault(name, gm)

            def run(args: list[Any]) -> Any:
                return gm(*args)

            run._boxed_call = True
            return run

        return compiler

    def backend(gm: torch.fx.GraphModule, example: Any) -> Any:
        with functorch_config.patch(cse=False), whole_before_autograd():
            return aot_module_simplified(
                gm,
                example,
                fw_compiler=keep("forward"),
                bw_compiler=keep("backward"),
                inference_compiler=keep("inference"),
                partition_fn=min_cut_rematerialization_partition,
                decompositions=decompositions(),
                keep_inference_input_mutations=True,
            )

    torch._dynamo.reset()
    out = torch.compile(f, backend=backend, dynamic=dynamic)(*args)
    if train:
        first = out[0] if isinstance(out, tuple) else out
        first.sum().backward()
    return graphs


def example_arguments(gm: torch.fx.GraphModule, seed: int = 0) -> list[Any]:
    """Real arguments for a graph's placeholders, with the sizes at capture."""
    generator = torch.Generator().manual_seed(seed)
    out: list[Any] = []
    for node in gm.graph.nodes:
        if node.op != "placeholder":
            continue
        value = node.meta["val"]
        if not isinstance(value, torch.Tensor):
            out.append(hint(value))
            continue
        sizes, strides = [hint(n) for n in value.shape], [hint(n) for n in value.stride()]
        # through a flat storage: expanded tensors cannot be filled in place
        flat = torch.empty(sum(max(n - 1, 0) * s for n, s in zip(sizes, strides, strict=True)) + 1)
        flat = flat.uniform_(0.1, 1.0, generator=generator)
        if not value.is_floating_point():
            flat = flat * 2
        out.append(flat.to(value.dtype).as_strided(sizes, strides))
    return out


def hint(value: Any) -> int:
    """The value of a size at capture."""
    return value if isinstance(value, int) else value.node.hint
