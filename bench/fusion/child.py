"""What runs in a child process: one program, one compiler; its kernels' prices on stdout as JSON.

TorchInductor is a contender that only `torch.compile` starts here; all that is known of it comes
from its own log, which TORCH_LOGS and TORCH_LOGS_OUT direct into a file.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import torch

from bench.fusion.account import Graph, kernel_bytes
from bench.fusion.inductor import read_log
from bench.fusion.kernels import read_module
from bench.fusion.programs import workload
from bench.workload import step_of

MARK = "FUSION-RESULT "


class _Texts(logging.Handler):
    """Keeps the messages of a logger."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        self.texts.append(record.getMessage())


def minductor_graphs(name: str, phase: str, options: dict[str, Any]) -> list[Graph]:
    """The scheduled modules of minductor, from its log `kernel`."""
    keeper = _Texts()
    logging.getLogger("minductor.kernel").addHandler(keeper)
    given = {"logs": "kernel", "strict": True, **options}
    work = workload(name, phase)
    step_of(work, torch.compile(work.fn, backend="minductor", dynamic=False, options=given))()
    return [read_module(text) for text in keeper.texts]


def inductor_graphs(name: str, phase: str) -> list[Graph]:
    """The fused nodes and the wrappers of TorchInductor, from its logs."""
    work = workload(name, phase)
    step_of(work, torch.compile(work.fn, backend="inductor", dynamic=False))()
    for handler in logging.getLogger("torch").handlers:
        handler.flush()
    return read_log(Path(os.environ["TORCH_LOGS_OUT"]).read_text())


def priced(graph: Graph) -> dict[str, Any]:
    """A graph as JSON."""
    return {
        "kernels": [[kernel.name, kernel_bytes(kernel)] for kernel in graph.kernels],
        "calls": [[call.name, call.bytes] for call in graph.calls],
    }


def main() -> None:
    """Run the job of `argv[1]`."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    if job["contender"] == "minductor":
        graphs = minductor_graphs(job["name"], job["phase"], job["options"])
    else:
        graphs = inductor_graphs(job["name"], job["phase"])
    print(MARK + json.dumps([priced(graph) for graph in graphs]), flush=True)


if __name__ == "__main__":
    main()
