"""Training: gradients of losses, norms, attention, modules with buffers, optimiser steps."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import check, compiled, integers, leaf, same, uniform
from torch import Tensor, nn

LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mse": lambda x, t: F.mse_loss(x, t.float()[:, None].expand_as(x)),
    "l1": lambda x, t: F.l1_loss(x, t.float()[:, None].expand_as(x)),
    "smooth_l1": lambda x, t: F.smooth_l1_loss(x, t.float()[:, None].expand_as(x)),
    "huber": lambda x, t: F.huber_loss(x, x.detach().flip(0), delta=0.7),
    "bce": lambda x, t: F.binary_cross_entropy(x.sigmoid(), (x.detach() > 0).to(x.dtype)),
    "bce_logits": lambda x, t: F.binary_cross_entropy_with_logits(x, (x.detach() > 0).to(x.dtype)),
    "cross_entropy": lambda x, t: F.cross_entropy(x, t),
    "cross_entropy_smooth": lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1, ignore_index=2),
    "cross_entropy_sum": lambda x, t: F.cross_entropy(x, t, reduction="sum"),
    "nll": lambda x, t: F.nll_loss(F.log_softmax(x, -1), t),
    "kl": lambda x, t: F.kl_div(
        F.log_softmax(x, -1), x.detach().softmax(-1), reduction="batchmean"
    ),
    "cosine": lambda x, t: F.cosine_similarity(x, x.detach().flip(1)).sum(),
    "hinge": lambda x, t: F.margin_ranking_loss(x[:, 0], x[:, 1], t.float().sign()),
}

FUNCTIONS: dict[str, Callable[[Tensor, Tensor, Tensor], Any]] = {
    "layer_norm": lambda x, w, b: F.layer_norm(x, (9,), w, b),
    "rms_norm": lambda x, w, b: F.rms_norm(x, (9,), w) + b,
    "group_norm": lambda x, w, b: F.group_norm(x[..., None], 3, w, b),
    "batch_norm": lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
    "softmax": lambda x, w, b: (x * w + b).softmax(-1) * x,
    "log_softmax": lambda x, w, b: F.log_softmax(x * w + b, 0),
    "logsumexp": lambda x, w, b: (x * w).logsumexp(1) + b.sum(),
    "activations": lambda x, w, b: (
        F.gelu(x * w),
        F.silu(x + b),
        F.mish(x),
        F.elu(x),
        F.softplus(x),
    ),
    "kinks": lambda x, w, b: (x.relu(), x.abs(), x.clamp(-1, 1), F.hardswish(x), x.sign() * w),
    "extremes": lambda x, w, b: (torch.maximum(x, w), x.amax(1), x.max(0)[0], torch.minimum(x, b)),
    "powers": lambda x, w, b: (
        (x.abs() + 0.1).sqrt(),
        x**3,
        (x.abs() + 0.1).log(),
        x.sin() * w.exp(),
    ),
    "divisions": lambda x, w, b: (
        x / (w.abs() + 1),
        1 / (x.abs() + 1),
        torch.atan2(x, w),
        x.tanh(),
    ),
    "moments": lambda x, w, b: (
        x.var(1),
        x.std(0),
        x.mean(),
        x.norm(dim=1),
        F.normalize(x),
        x.prod(1),
    ),
    "broadcasts": lambda x, w, b: (x + w, x * b[None], (x + w).sum(0), w.expand_as(x) * 2 + b),
    "scans": lambda x, w, b: (x.cumsum(0) * w, x.cumprod(1) + b),
    "where": lambda x, w, b: (
        torch.where(x > 0, x * w, b),
        x.masked_fill(x > 1, 0.5),
        x.tril() * w,
    ),
    "views": lambda x, w, b: (
        x.t() @ x,
        x.reshape(-1)[3:30].view(3, 9) * w,
        torch.cat([x, w[None]]),
    ),
}


def arguments() -> tuple[Tensor, Tensor, Tensor]:
    shapes: tuple[tuple[int, ...], ...] = ((12, 9), (9,), (9,))
    x, w, b = (uniform(*s, seed=i).double().requires_grad_() for i, s in enumerate(shapes))
    return x, w, b


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str) -> None:
    def make() -> tuple[Tensor, Tensor]:
        t = integers(12, low=0, high=9)
        t[3] = 2 if name == "cross_entropy_smooth" else -100 if name.startswith("cross") else t[3]
        return uniform(12, 9).requires_grad_(), t

    check(LOSSES[name], make, grad=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    check(FUNCTIONS[name], arguments, grad=True, calls=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_half_precision_block(dtype: torch.dtype) -> None:
    def f(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
        return F.gelu(F.layer_norm(x, (16,)) @ w) @ v + x

    def make() -> list[Tensor]:
        shapes = ((6, 16), (16, 24), (24, 16))
        return [leaf(uniform(*s, low=-1, high=1, seed=i).to(dtype)) for i, s in enumerate(shapes)]

    check(f, make, grad=True, tol=(5e-2, 5e-2) if dtype is torch.bfloat16 else (1e-4, 1e-4))


def test_autocast_training() -> None:
    def f(x: Tensor, w: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return (x @ w).relu().float().sum(1)

    check(f, lambda: (leaf(uniform(8, 16)), leaf(uniform(16, 8))), grad=True, tol=(3e-2, 3e-2))


def test_attention_with_masked_rows() -> None:
    def f(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        return ((q @ k.mT) * 0.35 + mask).softmax(-1) @ v

    def make() -> list[Tensor]:
        mask = torch.zeros(6, 6)
        mask[2] = torch.finfo(torch.float32).min
        mask[4, 3:] = -float("inf")
        return [*(leaf(uniform(2, 6, 8, seed=s)) for s in range(3)), mask]

    check(f, make, grad=True)


def test_scaled_dot_product_attention() -> None:
    def f(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q * 2, k, v, is_causal=True) + q

    check(f, lambda: [leaf(uniform(2, 3, 16, 8, seed=s)) for s in range(3)], grad=True)


class Convolutions(nn.Module):
    """Convolutions, batch norm in training mode, pooling and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = F.max_pool2d(self.norm(self.conv(x)).relu(), 2)
        return self.head(F.adaptive_avg_pool2d(y, 1).flatten(1))


def twins(build: Callable[[], nn.Module]) -> tuple[nn.Module, nn.Module]:
    """Two modules of the same weights."""
    first, second = build(), build()
    second.load_state_dict(first.state_dict())
    return first, second


def test_batch_norm_updates_its_buffers() -> None:
    eager, ours = twins(Convolutions)
    subject = compiled(ours)
    for step in range(3):
        x = uniform(4, 3, 8, 8, seed=step)
        want, got = eager(x), subject(x)
        same(got, want, tol=(1e-4, 1e-4))
        got.square().mean().backward()
        want.square().mean().backward()
        grads = [[p.grad for p in m.parameters()] for m in (ours, eager)]
        same(*grads, "gradient", tol=(1e-4, 1e-4))
        same(dict(ours.named_buffers()), dict(eager.named_buffers()), "buffer", tol=(1e-5, 1e-5))
    assert len(subject.graphs) == 1
    same(compiled(ours.eval())(x), eager.eval()(x), "in evaluation mode", tol=(1e-4, 1e-4))


def test_optimiser_steps_follow_eager() -> None:
    def build() -> nn.Module:
        torch.manual_seed(1)
        return nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.LayerNorm(12), nn.Linear(12, 3))

    eager, ours = twins(build)
    subject = compiled(lambda x: ours(x).square().mean())
    optimisers = [torch.optim.AdamW(m.parameters(), lr=1e-2) for m in (eager, ours)]
    for step in range(5):
        x = uniform(8, 6, seed=step)
        eager(x).square().mean().backward()
        subject(x).backward()
        for optimiser in optimisers:
            optimiser.step()
            optimiser.zero_grad()
    same(list(ours.parameters()), list(eager.parameters()), "weights", tol=(1e-4, 1e-4))


def test_compiled_adam_step() -> None:
    def f(p: Tensor, g: Tensor, m: Tensor, v: Tensor) -> None:
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        p.addcdiv_(m, v.sqrt() + 1e-8, value=-1e-3)

    check(f, lambda: (uniform(40, 7), uniform(40, 7, seed=1), uniform(40, 7), uniform(40, 7).abs()))


def test_gradients_only_where_asked() -> None:
    def f(x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return x @ w + b, (w * 2).sum()

    check(f, lambda: (uniform(4, 5), leaf(uniform(5, 3)), uniform(3)), grad=True)


def test_unused_output_and_unused_input() -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return x.exp(), x * 2

    subject = compiled(f)
    x, y = leaf(uniform(5)), leaf(uniform(5, seed=1))
    subject(x, y)[1].sum().backward()
    assert torch.equal(x.grad, torch.full((5,), 2.0))
    assert y.grad is None


def test_backward_twice_with_retained_graph() -> None:
    subject = compiled(lambda x: (x.exp() * x).sum(0))
    x = leaf(uniform(6, 4))
    out = subject(x)
    first = torch.autograd.grad(out.sum(), x, retain_graph=True)
    second = torch.autograd.grad(out.sum(), x)
    same(first, second, exact=True)


@pytest.mark.parametrize("kept", ["retain_graph", "create_graph"])
def test_saved_tensors_outlive_a_backward(kept: str) -> None:
    """Two losses over one graph, where intermediate results are saved; what torch cannot give a
    second derivative of, it says when that is asked for, not before."""

    def block(x: Tensor, w: Tensor) -> Tensor:
        return torch.softmax((x @ w).tanh() @ w, 1).exp()

    x, w = leaf(uniform(9, 17)), leaf(uniform(17, 17, seed=1))
    outs = [f(x, w) for f in (compiled(block), block)]
    ours, eager = ([torch.autograd.grad(y.sum(), (x, w), **{kept: True})] for y in outs)
    if kept == "retain_graph":
        ours.append(torch.autograd.grad(outs[0].square().sum(), (x, w)))
        eager.append(torch.autograd.grad(outs[1].square().sum(), (x, w)))
    same([g.detach() for gs in ours for g in gs], [g.detach() for gs in eager for g in gs])


def test_checkpointed_block_recomputes_the_same() -> None:
    from torch.utils.checkpoint import checkpoint

    def f(x: Tensor, w: Tensor) -> Tensor:
        return checkpoint(lambda a, b: F.gelu(a @ b).sin(), x, w, use_reentrant=False)

    check(f, lambda: (leaf(uniform(6, 8)), leaf(uniform(8, 8))), grad=True)


def test_detach_and_no_grad_inside() -> None:
    def f(x: Tensor) -> Tensor:
        with torch.no_grad():
            scale = x.abs().amax()
        return x / scale + x.detach() * 3 + x.sin()

    check(f, lambda: (leaf(uniform(5, 7)),), grad=True)
