"""How a callable is recorded once and replayed: `torch.cuda.CUDAGraph`, behind a small interface.

`runtime/graphs.py` decides what is recorded and when; tests give it a recorder of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

Run = Callable[[], list[Any]]
Replay = Callable[[], None]


class Recorder(Protocol):
    """Records what a callable launches."""

    def place(self, args: Sequence[Any]) -> Hashable | None:
        """What a recording is bound to (device and stream), or None where none may be made now."""
        ...

    def record(self, run: Run, place: Any) -> tuple[Replay, list[Any]]:
        """Record `run` without executing it; its results, which each replay fills anew."""
        ...


class CudaRecorder:
    """Records into CUDA graphs. Recordings of one place run one after another, so that they share
    the memory of what lives only inside of one."""

    def __init__(self) -> None:
        self._pools: dict[tuple[int, int], Any] = {}

    def place(self, args: Sequence[Any]) -> tuple[int, int] | None:
        """Device and stream; None inside somebody else's recording."""
        if torch.cuda.is_current_stream_capturing():
            return None
        device = next((a.device.index for a in args if isinstance(a, Tensor) and a.is_cuda), None)
        if device is None:
            device = torch._C._cuda_getDevice()
        return device, torch._C._cuda_getCurrentRawStream(device)

    def record(self, run: Run, place: Any) -> tuple[Replay, list[Any]]:
        """Raises RuntimeError on what a stream under capture may not do."""
        with torch.cuda.device(place[0]):
            if place not in self._pools:
                self._pools[place] = torch.cuda.graph_pool_handle()
            graph = torch.cuda.CUDAGraph()
            stream = torch.cuda.current_stream()
            try:
                with torch.cuda.graph(
                    graph, pool=self._pools[place], capture_error_mode="thread_local"
                ):
                    outputs = run()
            finally:
                torch.cuda.set_stream(stream)  # a recording that failed leaves its own behind
        return graph.replay, outputs
