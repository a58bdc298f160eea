"""Random ops: reproducible under a seed, fresh at each call, the same mask forward and backward."""

import torch
import torch.nn.functional as F
from harness import compiled, leaf, same, uniform
from torch import Tensor
from torch.utils.checkpoint import checkpoint


def test_dropout_has_one_mask_forward_and_backward() -> None:
    subject = compiled(lambda x: F.dropout(x * 2, 0.3).t().contiguous())
    for seed in (1, 2, 3):
        torch.manual_seed(seed)
        x = torch.ones(130, 33, requires_grad=True)
        y = subject(x)
        y.sum().backward()
        assert torch.equal(x.grad == 0, (y.detach() == 0).t())
        assert 0.25 < (y == 0).float().mean() < 0.35
        kept = y[y != 0]
        same(kept.detach(), torch.full_like(kept, 2 / 0.7))
    assert len(subject.graphs) == 1


def test_two_dropouts_differ() -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        return F.dropout(x, 0.5), F.dropout(x, 0.5)

    a, b = compiled(f)(torch.ones(64, 64))
    assert not torch.equal(a, b)


def test_checkpointed_dropout_recomputes_its_mask() -> None:
    def block(x: Tensor) -> Tensor:
        return F.dropout(x.sin() * 3, 0.4)

    subject = compiled(lambda x: checkpoint(block, x, use_reentrant=False))
    x = leaf(torch.ones(50, 20))
    y = subject(x)
    y.sum().backward()
    assert torch.equal(x.grad == 0, y.detach() == 0)


def draws(x: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.rand(40, 50),
        torch.randn_like(x) + x,
        torch.rand_like(x),
        torch.bernoulli(torch.full((40, 50), 0.25)),
        torch.randint(0, 10, (300,)),
        F.dropout(x + 3, 0.2),
    )


def test_a_seed_repeats_and_a_call_does_not() -> None:
    subject, x = compiled(draws), uniform(20, 30)
    torch.manual_seed(5)
    first, second = subject(x), subject(x)
    torch.manual_seed(5)
    same(subject(x), first, exact=True)
    for a, b in zip(first, second, strict=True):
        assert not torch.equal(a, b)


def test_distributions() -> None:
    torch.manual_seed(11)
    rand, normal, like, coin, whole, _ = compiled(draws)(torch.zeros(200, 100))
    for sample in (rand, like):
        assert abs(sample.mean() - 0.5) < 0.05
        assert sample.min() >= 0
        assert sample.max() < 1
    assert abs(normal.mean()) < 0.05
    assert abs(normal.std() - 1) < 0.05
    assert abs(coin.mean() - 0.25) < 0.06
    assert set(coin.unique().tolist()) == {0.0, 1.0}
    assert set(whole.tolist()) == set(range(10))


def test_eager_draws_are_not_disturbed_by_a_graph_without_random_ops() -> None:
    subject = compiled(lambda x: x.sin() * 2)
    subject(uniform(5))
    torch.manual_seed(3)
    want = torch.rand(4)
    torch.manual_seed(3)
    subject(uniform(5))
    assert torch.equal(torch.rand(4), want)


def test_evaluation_mode_draws_nothing() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5)).eval()
    subject, x = compiled(module), uniform(4, 8)
    same(subject(x), module(x))


def test_checkpointed_dropout_with_eagers_values() -> None:
    linear = torch.nn.Linear(32, 32)

    def f(x: Tensor) -> Tensor:
        block = lambda x: F.dropout(linear(x).relu() + 1, 0.5)  # noqa: E731
        return checkpoint(block, checkpoint(block, x, use_reentrant=False), use_reentrant=False)

    subject = compiled(f, options={"eager_random": True})
    for seed in (1, 2):
        results: list[tuple[Tensor, ...]] = []
        for fn in (f, subject):
            torch.manual_seed(seed)
            x = leaf(uniform(16, 32))
            y = fn(x)
            y.sum().backward()
            results.append((y.detach(), x.grad, torch.rand(3)))
        same(results[1], results[0], tol=(1e-4, 1e-4))


def test_checkpointed_draws_without_a_kernel_of_ours() -> None:
    def f(x: Tensor) -> Tensor:
        def block(x: Tensor) -> Tensor:
            picked = torch.multinomial(x.detach().softmax(1), 3)
            return x.gather(1, picked) ** 2

        return checkpoint(block, x, use_reentrant=False)

    x = leaf(uniform(50, 20).abs() + 1)
    y = compiled(f)(x)
    y.sum().backward()
    assert x.grad is not None
    same((x.grad / 2).sum(1), y.detach().sqrt().sum(1), tol=(1e-4, 1e-4))
