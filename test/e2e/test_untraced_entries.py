"""Entries of OpInfo that no backend traces whole: in a form that is traced, or with graph breaks.

Random ones stand in test_random_entries.py. Each has arithmetic before and after the op, so that
graphs are compiled around it where it breaks them.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import compiled, gradients, leaf, same, uniform
from torch import Tensor

from minductor.errors import FallbackWarning

Fn = Callable[[Tensor], Any]

IN = (uniform(18, 6, seed=1), uniform(18, seed=2))
OUT = (uniform(6, 6, seed=3), uniform(6, seed=4))


def centred(x: Tensor) -> Tensor:
    return x - x.mean(1, keepdim=True)


WHOLE: dict[str, Fn] = {
    "cov": lambda x: centred(x) @ centred(x).t() / 5,
    "corrcoef": lambda x: F.normalize(centred(x)) @ F.normalize(centred(x)).t(),
    "allclose": lambda x: torch.isclose(x, x * 1.0000001).all(),
    "equal": lambda x: (x == x.clone()).all(),
    "gaussian_nll": lambda x: 0.5 * ((x.abs() + 0.1).log() + (x - 1) ** 2 / (x.abs() + 0.1)).mean(),
    "lstsq": lambda x: torch.linalg.pinv(x.t()) @ (x.t() + 1),
    "empty_strided": lambda x: torch.empty_strided((3, 4), (1, 3)).zero_() + x[0, 0],
    "attention": lambda x: F.multi_head_attention_forward(
        *(x.view(5, 2, 6),) * 3, 6, 2, *IN, None, None, False, 0.0, *OUT
    )[0],
}
BROKEN: dict[str, Fn] = {
    "item": lambda x: x.exp() * (x + 1)[0, 0].item(),
    "allclose": lambda x: x.exp() + float(torch.allclose(x * 2, x + x)),
    "equal": lambda x: x.exp() + float(torch.equal(x * 2, x + x)),
    "cov": lambda x: torch.cov(x * 2) + 1,
    "corrcoef": lambda x: torch.corrcoef(x) + 1,
    "cov weights": lambda x: torch.cov(x * 2, fweights=torch.tensor([1, 2, 3, 1, 1, 2])) + 1,
    "gaussian_nll": lambda x: F.gaussian_nll_loss(x * 2, x + 1, x.abs() + 0.1) * 3,
    "lstsq": lambda x: torch.linalg.lstsq(x.t() * 2, x.t() + 1).solution * 3,
    "ctc_loss": lambda x: (
        F.ctc_loss(
            (x.view(5, 2, 6) * 2).log_softmax(-1),
            torch.tensor([[1, 2], [3, 4]]),
            torch.tensor([5, 4]),
            torch.tensor([2, 1]),
        )
        * 3
    ),
    "resize_": lambda x: (x * 2).resize_(4, 3) + 1,
    "resize_as_": lambda x: (x * 2).resize_as_(torch.ones(5, 2)) + 1,
    "to_sparse": lambda x: (x.relu() * 2).to_sparse().to_dense() + 1,
    "nonzero": lambda x: (x * 2).nonzero() + 1,
    "masked_select": lambda x: (x * 2).masked_select(x > 0) + 1,
    "unique": lambda x: (x * 3).round().unique() + 1,
}


def points() -> Tensor:
    return uniform(10, 6)


@pytest.mark.parametrize("name", WHOLE)
def test_traced_whole(name: str) -> None:
    f = WHOLE[name]
    subject = compiled(f)
    a, b = leaf(points()), leaf(points())
    want, got = f(a), subject(b)
    same(got, want, name, tol=(1e-4, 1e-4))
    if want.requires_grad:
        same(gradients(got, b), gradients(want, a), name, tol=(1e-3, 1e-3), strides=False)
    assert len(subject.graphs) == 1


@pytest.mark.parametrize("name", BROKEN)
def test_with_graph_breaks(name: str) -> None:
    f = BROKEN[name]
    subject = compiled(f, fullgraph=False)
    for _ in range(2):
        same(subject(points()), f(points()), name, tol=(1e-4, 1e-4))
    assert subject.graphs


def test_a_number_read_from_a_tensor_inside_a_graph() -> None:
    def f(x: Tensor, n: Tensor) -> Tensor:
        return x.exp() * n.item()

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        subject = compiled(f)
        for number in (3, 0, -4):
            same(subject(points(), torch.tensor(number)), f(points(), torch.tensor(number)))
    assert len(subject.graphs) == 1


def test_quantised_tensors_inside_a_graph_are_left_to_eager() -> None:
    """torch's fake tensors take them for floats: the dtype that is asked for tells."""

    def f(x: Tensor) -> Tensor:
        return torch.quantize_per_tensor(x, 0.1, 3, torch.quint8).dequantize()

    with pytest.warns(FallbackWarning, match=r"the dtype torch\.quint8"):
        got = torch.compile(f, backend="minductor")(points())
    same(got, f(points()))
