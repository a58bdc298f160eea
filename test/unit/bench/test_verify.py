"""Results are judged by eager's, and by exact ones where eager is the worse."""

import torch

from bench.verify import wrong
from bench.workload import Workload, in_f64, step_of

EXACT = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
EAGER = torch.tensor([1.0, 2.0, 3.5], dtype=torch.bfloat16)
NEARER = torch.tensor([1.0, 2.0, 4.0], dtype=torch.bfloat16)
FARTHER = torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16)


def judged(got: torch.Tensor, exact: bool = True) -> str | None:
    judge = [EXACT] if exact else None
    return wrong([got], [EAGER], tolerance=None, slack=0, exact=lambda: judge)


def test_a_result_nearer_to_the_exact_one_is_right() -> None:
    assert judged(NEARER) is None
    assert judged(EAGER) is None
    assert "error" in (judged(NEARER, exact=False) or "")


def test_a_result_farther_away_is_wrong() -> None:
    assert "error" in (judged(FARTHER) or "")
    assert "error" in (judged(NEARER.float()) or "")


def test_workloads_in_f64() -> None:
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    index = torch.tensor([1, 0])
    work = Workload(lambda x, i: x[i] * 3, [x, index], (torch.ones(2),), wrt=[x])
    wide = in_f64(work)
    assert wide is not None
    out, grad = step_of(wide, wide.fn)()
    assert out.dtype == grad.dtype == torch.float64
    assert out.tolist() == [6.0, 1.5]
    assert in_f64(Workload(work.fn, work.args, remake=lambda: work.args)) is None
