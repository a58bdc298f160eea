"""Results are judged by eager's, and by exact ones where eager is the worse."""

import torch

from bench.tasks import model_workload
from bench.verify import wrong
from bench.workload import Where, Workload, in_f64, step_of

EXACT = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
EAGER = torch.tensor([1.0, 2.0, 3.5], dtype=torch.bfloat16)
NEARER = torch.tensor([1.0, 2.0, 4.0], dtype=torch.bfloat16)
FARTHER = torch.tensor([1.0, 2.0, 2.5], dtype=torch.bfloat16)


def judged(got: torch.Tensor, exact: bool = True) -> str | None:
    judge = [EXACT] if exact else None
    return wrong([got], [EAGER], tolerance=None, slack=0, exact=lambda: judge)


def test_a_result_nearer_to_the_exact_one_is_right() -> None:
    assert judged(NEARER) is None
    assert judged(EAGER) is None
    assert "error" in (judged(NEARER, exact=False) or "")


def test_a_result_farther_away_is_wrong() -> None:
    """At twice eager's error it is right still: its own rounding, another order."""
    assert judged(torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16)) is None
    assert "error" in (judged(FARTHER) or "")
    assert "error" in (judged(torch.full_like(NEARER, float("nan"))) or "")
    assert "error" in (judged(NEARER.float()) or "")


def test_noise_is_judged_by_eagers_noise() -> None:
    """A gradient that is zero but for rounding: every digit differs, and none is wrong."""
    zero = [torch.zeros(64, dtype=torch.float64)]
    a, b = (torch.randn(64, generator=torch.Generator().manual_seed(s)) * 1e-4 for s in (0, 1))
    a, b = a.bfloat16(), b.bfloat16()
    assert wrong([a], [b], tolerance=None, slack=0, exact=lambda: zero) is None
    assert wrong([a * 8], [b], tolerance=None, slack=0, exact=lambda: zero) is not None


def test_a_model_in_f64_has_the_weights_of_the_model() -> None:
    work = model_workload("mixer_train", "tiny", Where("cpu", torch.bfloat16))
    wide = in_f64(work)
    assert wide is not None
    narrow, exact = (step_of(w, w.fn)() for w in (work, wide))
    assert exact[1].dtype == torch.float64
    assert wrong(narrow, narrow, tolerance=None, slack=0) is None
    for got, best in zip(narrow, exact, strict=True):
        assert got.shape == best.shape
    assert abs(float(narrow[0]) - float(exact[0])) < 0.05 * abs(float(exact[0]))


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
