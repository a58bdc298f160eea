"""Random ops that OpInfo's own wrappers hide from Dynamo: traced whole, by value and distribution.

Each is compiled in one graph. Under `eager_random` it gives eager's values for a seed, gradients
too; without it a seed repeats the values, and many draws have eager's distribution.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import compiled, gradients, leaf, ours_only, same, uniform
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from minductor.tools.conformance.chance import check_distribution
from minductor.tools.conformance.entries import Unit

Fn = Callable[[Tensor], Any]

DRAWS: dict[str, Fn] = {
    "bernoulli": lambda x: torch.bernoulli(x.abs() / 2),
    "bernoulli p": lambda x: torch.empty_like(x).bernoulli_(0.3),
    "bernoulli tensor p": lambda x: torch.zeros_like(x).bernoulli_(x.abs() / 2),
    "cauchy": lambda x: torch.empty_like(x).cauchy_(1.0, 2.0),
    "exponential": lambda x: torch.empty_like(x).exponential_(1.5),
    "geometric": lambda x: torch.empty_like(x).geometric_(0.3),
    "log_normal": lambda x: torch.empty_like(x).log_normal_(0.5, 0.25),
    "multinomial": lambda x: torch.multinomial(x.abs() + 0.1, 3),
    "multinomial again": lambda x: torch.multinomial(x.abs() + 0.1, 60, replacement=True),
    "normal": lambda x: torch.empty_like(x).normal_(2.0, 3.0),
    "normal mean": lambda x: torch.normal(x, 2.0),
    "normal std": lambda x: torch.normal(1.0, x.abs()),
    "normal both": lambda x: torch.normal(x, x.abs()),
    "normal size": lambda x: torch.normal(1.0, 2.0, (31, 7)),
    "poisson": lambda x: torch.poisson(x.abs() * 4),
    "rand": lambda x: torch.rand(17, 9) + x[0, 0],
    "rand_like": torch.rand_like,
    "rand_like f64": lambda x: torch.rand_like(x, dtype=torch.float64),
    "rand_like bf16": lambda x: torch.rand_like(x, dtype=torch.bfloat16),
    "randint": lambda x: torch.randint(-3, 9, (40, 5)),
    "randint_like": lambda x: torch.randint_like(x, 2, 11),
    "randint wide": lambda x: torch.randint(-(2**62), 2**62, (100,)) // 2**40,
    "randn": lambda x: torch.randn(33, 5),
    "randn_like": torch.randn_like,
    "randn f16": lambda x: torch.randn(40, 9, dtype=torch.float16),
    "randn f64": lambda x: torch.randn(40, 9, dtype=torch.float64),
    "randn complex": lambda x: torch.randn(40, 9, dtype=torch.complex64),
    "randperm": lambda x: torch.randperm(30),
    "uniform": lambda x: torch.empty_like(x).uniform_(-3.0, 5.0),
    "dropout": lambda x: F.dropout(x, 0.3),
    "dropout 0": lambda x: F.dropout(x, 0.0),
    "dropout 1": lambda x: F.dropout(x, 1.0),
    "dropout1d": lambda x: F.dropout1d(x.view(1, 12, 30), 0.4),
    "dropout2d": lambda x: F.dropout2d(x.view(2, 6, 3, 10), 0.4),
    "dropout3d": lambda x: F.dropout3d(x.view(2, 6, 3, 2, 5), 0.4),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.4, training=True),
    "feature_alpha_dropout": lambda x: F.feature_alpha_dropout(x.view(2, 6, 30), 0.4, True),
    "rrelu": lambda x: F.rrelu(x, 0.1, 0.6, training=True),
    "gumbel_softmax": lambda x: F.gumbel_softmax(x, tau=0.7),
    "fractional_max_pool2d": lambda x: F.fractional_max_pool2d(x.view(2, 2, 9, 10), 2, 4),
    "fractional_max_pool3d": lambda x: F.fractional_max_pool3d(x.view(1, 2, 5, 6, 6), 2, 3),
    "attention": lambda x: F.scaled_dot_product_attention(
        x.view(1, 2, 9, 20), x.view(1, 2, 9, 20), x.view(1, 2, 9, 20), dropout_p=0.3
    ),
    "svd_lowrank": lambda x: torch.svd_lowrank(x, 3)[1],
    "pca_lowrank": lambda x: torch.pca_lowrank(x, 3)[1],
}

DIFFERENTIABLE = (
    "dropout",
    "dropout2d",
    "alpha_dropout",
    "feature_alpha_dropout",
    "rrelu",
    "gumbel_softmax",
    "normal mean",
    "fractional_max_pool2d",
    "attention",
)


def points() -> Tensor:
    return uniform(12, 30)


@ours_only
@pytest.mark.parametrize("name", DRAWS)
def test_eager_values_under_the_option(name: str) -> None:
    f, x = DRAWS[name], points()
    subject = compiled(f, options={"eager_random": True})
    for seed in (3, 4):
        torch.manual_seed(seed)
        want = f(x)
        torch.manual_seed(seed)
        same(subject(x), want, name, tol=(1e-5, 1e-5))
    assert len(subject.graphs) == 1


@pytest.mark.parametrize("name", DRAWS)
def test_distribution_is_eagers_and_a_seed_repeats(name: str) -> None:
    f = DRAWS[name]
    subject = compiled(f)
    unit = Unit(name, f, points(), (), {}, lambda out: out)
    check_distribution(unit, lambda tree: [subject(tree[0])], lambda tree: [f(tree[0])])
    assert len(subject.graphs) == 1


@ours_only
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_eagers_under_the_option(name: str) -> None:
    f = DRAWS[name]
    a, b = leaf(points()), leaf(points())
    torch.manual_seed(5)
    want = f(a)
    subject = compiled(f, options={"eager_random": True})
    torch.manual_seed(5)
    got = subject(b)
    same(gradients(got, b), gradients(want, a), name, strides=False)
    assert len(subject.graphs) == 1


@pytest.mark.parametrize("p", [0.2, 0.7])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_dropout_masks_agree_forward_backward_and_recomputed(dtype: torch.dtype, p: float) -> None:
    def block(x: Tensor) -> Tensor:
        return F.dropout(x.sin() + 2, p) * 3

    for f in (block, lambda x: checkpoint(block, x, use_reentrant=False)):
        torch._dynamo.reset()
        subject = compiled(f)
        x = leaf(torch.ones(40, 50, dtype=dtype))
        y = subject(x)
        y.sum().backward()
        assert torch.equal(x.grad == 0, y.detach() == 0)
        assert abs((y == 0).double().mean() - p) < 0.06
        assert len(subject.graphs) == 1


@pytest.mark.parametrize("eager_random", [False, True])
def test_checkpointed_draws_of_every_kind(eager_random: bool) -> None:
    """The gradient of x times a draw is the draw, so a recomputed draw that differs shows."""

    def block(x: Tensor) -> Tensor:
        noise = torch.rand_like(x) + torch.randn_like(x) + torch.bernoulli(torch.full_like(x, 0.5))
        return (x * noise).sin()

    subject = compiled(
        lambda x: checkpoint(block, x, use_reentrant=False), options={"eager_random": eager_random}
    )
    x = leaf(torch.full((40, 50), 1e-4))
    y = subject(x)
    y.sum().backward()
    same(x.grad, y.detach() / 1e-4, tol=(1e-4, 1e-4))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_attention(causal: bool, masked: bool) -> None:
    if causal and masked:
        pytest.skip("eager refuses both")
    mask = uniform(9, 9, seed=4) if masked else None

    def f(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)

    a = [leaf(uniform(2, 3, 9, 16, seed=s)) for s in range(3)]
    b = [leaf(t) for t in a]
    subject = compiled(f)
    got, want = subject(*b), f(*a)
    same(got, want, tol=(1e-5, 1e-5))
    same(gradients(got, b), gradients(want, a), "gradient", strides=False, tol=(1e-4, 1e-5))
    assert len(subject.graphs) == 1


@pytest.mark.parametrize("training", [False, True])
def test_multi_head_attention(training: bool) -> None:
    module = torch.nn.MultiheadAttention(24, 4, batch_first=True).train(training)
    x = uniform(2, 7, 24)

    def f(x: Tensor) -> Any:
        return module(x, x, x, need_weights=training)

    subject = compiled(f)
    same(subject(x), f(x), tol=(1e-5, 1e-5))
    assert len(subject.graphs) == 1
