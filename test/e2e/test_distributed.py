"""Training in two processes, over gloo on the CPU and over NCCL on two GPUs: DDP, FSDP2 and
collectives in the program, against one process with the whole batch."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from harness import ours_only

ROOT = Path(__file__).resolve().parents[2]
CHILD = Path(__file__).with_name("distributed_child.py")
PROCESSES = 2
SECONDS = 240

pytestmark = [
    ours_only,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without distributed"),
]


two_gpus = pytest.mark.skipif(torch.cuda.device_count() < PROCESSES, reason="needs two GPUs")
SLACK = {"gloo": 1.0, "nccl": 10.0}
"""Products of matrices on a GPU sum in another order by the size of the batch."""


@pytest.fixture(
    scope="module", params=["gloo", pytest.param("nccl", marks=[pytest.mark.gpu, two_gpus])]
)
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """What each process reported, differences in terms of what the device allows."""
    backend = str(request.param)
    folder = tmp_path_factory.mktemp("distributed")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, str(CHILD)]
    children = [
        subprocess.Popen(
            [*command, str(rank), str(PROCESSES), str(folder / "rendezvous"), backend],
            env=env,
            stdout=subprocess.PIPE,
            stderr=(folder / f"errors-{rank}").open("w"),
            text=True,
        )
        for rank in range(PROCESSES)
    ]
    try:
        texts = [child.communicate(timeout=SECONDS)[0] for child in children]
    finally:
        for child in children:
            child.kill()
    for rank, child in enumerate(children):
        assert child.returncode == 0, (folder / f"errors-{rank}").read_text()[-3000:]
    found = [json.loads(text.splitlines()[-1]) for text in texts]
    for outcome in found:
        for one in outcome.values():
            one["difference"] /= SLACK[backend]
    return found


def test_ddp_step_equals_one_process(outcomes: list[dict[str, Any]]) -> None:
    for outcome in outcomes:
        assert outcome["ddp"]["difference"] < 1e-5
        # the gradients fill two buckets, so the compiler is given two parts
        assert outcome["ddp"]["kinds"] == ["backward", "backward", "forward", "forward"]


def test_fsdp_step_equals_one_process(outcomes: list[dict[str, Any]]) -> None:
    for outcome in outcomes:
        assert outcome["fsdp"]["difference"] < 1e-5
        # both layers share one graph
        assert outcome["fsdp"]["kinds"] == ["backward", "forward"]


def test_collectives_in_the_program(outcomes: list[dict[str, Any]]) -> None:
    names = ["all_gather_into_tensor", "all_reduce", "reduce_scatter_tensor", "wait_tensor"]
    for outcome in outcomes:
        assert outcome["explicit"]["difference"] < 1e-4
        assert outcome["explicit"]["kinds"] == ["inference"]
        found = outcome["explicit"]["collectives"]
        assert found == [f"_c10d_functional.{name}.default" for name in names]
