"""The check of the ledger: what it reads of sources, launches and the profiler."""

import torch

from bench.ledger import by_launch, launches_of, share_within, write_share, written
from bench.workload import Where

CPP = """
extern "C" int cpp_fused_add_0(void *const *ptrs, const i64 *sizes) {
  return cpp_fused_add_0_body((const f32 *)ptrs[0], (f32 *)ptrs[1], sizes[0]);
}
"""
TRITON = """
@triton.jit
def triton_poi_fused_add_0(arg0, buf0, acc, n: tl.constexpr):
    v = tl.load(arg0 + d0)

    tl.store(buf0 + (d0), v)
    tl.atomic_add(acc + d0, v)

def other(arg0):
    tl.store(arg0, 1)
"""


def test_written() -> None:
    assert written(CPP, "cpp_fused_add_0") == [False, True]
    assert written(TRITON, "triton_poi_fused_add_0") == [False, True, True, False]
    assert written(CPP, "another") == []


def test_share_of_writes() -> None:
    a, b = torch.empty(300), torch.empty(100)
    assert write_share([a, b, 7], [False, True]) == 0.25
    assert write_share([7], []) == 0.5


def test_counters() -> None:
    row = {"ID": "0", "Kernel Name": "k", "Metric Name": "dram__bytes_read.sum"}
    rows = [
        {**row, "Metric Value": "1,024", "Metric Unit": "Kbyte"},
        {**row, "Metric Name": "dram__bytes_write.sum", "Metric Value": "2", "Metric Unit": "byte"},
        {**row, "Metric Name": "gpu__time_duration.sum", "Metric Value": "9", "Metric Unit": "ns"},
    ]
    assert by_launch(rows) == [("k", 1024e3 + 2)]


def test_within() -> None:
    assert share_within([1.0, 0.86, 1.2, 0.5]) == 0.5
    assert share_within([]) == 0.0


def test_launches_of_a_step() -> None:
    """Both graphs of a training step; the bytes are the plan's."""
    forward, backward = launches_of("layer_norm_train", Where("cpu", torch.float32))
    rows, width = 2048, 768
    assert forward.planned >= 4 * 2 * rows * width
    assert backward.planned >= 4 * 3 * rows * width
    assert 0.2 < backward.share < 0.5
    forward.run()
    backward.run()
