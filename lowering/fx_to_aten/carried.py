"""Loops whose steps are all given one layout.

torch traces the step of a loop with the layouts of the first values it carries. A later step gets
what the step before gave, which may lie otherwise in memory:

    %scan = scan(%step, [%zero : f32[3]:[0]], ..)       step: f32[3]:[0], .. -> f32[3]:[1], ..
      -->
    step traced again: f32[3]:[1], .. -> f32[3]:[1], ..

The layout is the one that the step gives back, so that only the first values may have to be copied.
It shows no element twice (torch wants that of a clone), so any values can be copied into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import GraphModule, Interpreter
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import preserve_node_meta

from minductor.lowering.fx_to_aten.errors import ImportRefused

CARRIED: dict[str, int] = {"scan": 1, "while_loop": 2, "while_loop_stack_output": 2}
"""Loop -> place of the carried values among its arguments; before them stand its functions, of
which the last one makes the next values."""


def steady(graphs: Sequence[GraphModule], count: int) -> list[GraphModule]:
    """The functions of a loop, traced again for the layouts of the `count` values that it carries.

    ImportRefused where that fails.
    """
    given = [_fakes(gm)[:count] for gm in graphs]
    made = _results(graphs[-1])[:count]
    wanted = [list(one.stride()) if isinstance(one, FakeTensor) else None for one in made]
    return [
        gm if all(map(_laid_out, have, wanted)) else _traced_again(gm, wanted)
        for gm, have in zip(graphs, given, strict=True)
    ]


def _fakes(gm: GraphModule) -> list[Any]:
    return [node.meta.get("val") for node in gm.graph.find_nodes(op="placeholder")]


def _results(gm: GraphModule) -> list[Any]:
    outs: Any = gm.graph.output_node().args[0]
    listed = outs if isinstance(outs, list | tuple) else [outs]
    return [one.meta.get("val") if isinstance(one, torch.fx.Node) else one for one in listed]


def _laid_out(given: Any, strides: list[Any] | None) -> bool:
    """Whether a carried value has the strides, but for dimensions of one element."""
    if strides is None or not isinstance(given, FakeTensor):
        return True
    sizes: list[Any] = list(given.size())
    return all(
        (isinstance(size, int) and size <= 1) or str(have) == str(want)
        for size, have, want in zip(sizes, given.stride(), strides, strict=True)
    )


def _traced_again(gm: GraphModule, wanted: Sequence[list[Any] | None]) -> GraphModule:
    """The graph for carried values of other strides, the sub-graphs in it as well."""
    values = _fakes(gm)
    mode = next((one.fake_mode for one in values if isinstance(one, FakeTensor)), None)
    with nullcontext() if mode is None else mode:
        for i, strides in enumerate(wanted):
            old = values[i]
            if strides is not None and isinstance(old, FakeTensor):
                values[i] = torch.empty_strided(
                    old.size(), strides, dtype=old.dtype, device=old.device
                )
        try:
            with preserve_node_meta(), _own_symbols(mode):
                return make_fx(Interpreter(gm).run)(*values)
        except Exception as error:
            # torch runs the loop as it stands, with whatever layout a step gives
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise ImportRefused(f"a loop that is not traced again: {reason}") from error


def _own_symbols(mode: FakeTensorMode | None) -> Any:
    """Sizes that data decides inside of a step are that step's."""
    env = None if mode is None else mode.shape_env
    return nullcontext() if env is None else env.ignore_fresh_unbacked_symbols()
