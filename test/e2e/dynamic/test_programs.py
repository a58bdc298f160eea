"""The reference programs and parts of models: ten sizes each, one compile, forward and training."""

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import compiled, leaf, ours_only, same, uniform
from over_sizes import LOOSE, SIDES, SIZES, Program, at_size, image, run, square
from torch import Tensor, nn
from torch._dynamo.utils import counters

P = Program
FIRST_TEN = (6, 7, 12, 17, 33, 20, 40, 9, 15, 26)

REFERENCE: dict[str, Program] = {
    "add_relu_mul": P(
        lambda x, y: torch.relu(x + y) * 2, lambda n: [uniform(n, n + 1), uniform(n, n + 1, seed=1)]
    ),
    "chain": P(lambda x: torch.relu(x.sin() + 1), square),
    "epilogue": P(lambda x: torch.relu((x.sin() + 1).sum(1)) * 2, square, tol=LOOSE),
    "wall": P(lambda x: torch.relu(x.sin() + x.sin().sum()), square, tol=(1e-4, 1e-2)),
    "mismatch": P(lambda x: (x.sin(), x.t().cos().contiguous()), square),
    "softmax": P(lambda x: x.softmax(-1), square),
    "softmax_columns": P(lambda x: x.softmax(0), square),
    "layer_norm": P(lambda x: F.layer_norm(x, (x.shape[1],)), square, tol=LOOSE),
    "columns": P(lambda x: (x.sum(0), x.var(0), x.amax(0)), square, tol=LOOSE),
    "arg": P(lambda x: (x.argmax(1), x.argmin(0), x.argmax()), square),
    "scan": P(lambda x: (x.cumsum(1), x.cumsum(0)), square, tol=LOOSE),
    "gelu": P(lambda x: (F.gelu(x), x.tanh(), x.sigmoid(), torch.log1p(x.abs())), square),
    "cat": P(
        lambda x, y: torch.cat([x, y], 1).relu(),
        lambda n: [uniform(9, n), uniform(9, 2 * n + 1, seed=1)],
        tuple(n + 11 for n in SIZES),
    ),
    "pad": P(lambda x: F.pad(x, (1, 2, 3, 4)) * 2, square),
    "batch_norm": P(
        lambda x: F.batch_norm(x, None, None, training=True), image, FIRST_TEN, tol=LOOSE
    ),
    "group_norm": P(
        lambda x: F.group_norm(x, 2), lambda n: [uniform(2, 4, n, n + 3)], FIRST_TEN, tol=LOOSE
    ),
    "pool": P(lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 3)), image, FIRST_TEN),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_programs(name: str) -> None:
    """Right at ten sizes, from one compile."""
    images = name in ("batch_norm", "group_norm", "pool")
    run(replace(REFERENCE[name], graphs=None) if images else REFERENCE[name])


def attention(x: Tensor, w: Tensor, o: Tensor) -> Tensor:
    """A causal self-attention block over (batch, length, 12), three heads, with a residual."""
    b, n, d = x.shape
    q, k, v = (F.layer_norm(x, (12,)) @ w).view(b, n, 3, 3, 4).permute(2, 0, 3, 1, 4)
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    scores = (q @ k.mT / 2).masked_fill(~mask, float("-inf")).softmax(-1)
    return x + (scores @ v).transpose(1, 2).reshape(b, n, d) @ o


def parts(n: int) -> list[Tensor]:
    return [leaf(uniform(3, n, 12)), leaf(uniform(12, 36, seed=1) / 4), leaf(uniform(12, 12) / 4)]


def rows(n: int) -> list[Tensor]:
    return [leaf(uniform(n, 2 * n + 1))]


LENGTHS = (5, 7, 13, 16, 33, 50, 64, 100, 129, 200)
TRAINED: dict[str, Program] = {
    "softmax": P(lambda x: x.softmax(-1) * 2, rows, grad=True),
    "layer_norm": P(lambda x: F.layer_norm(x, (x.shape[1],)), rows, grad=True, tol=LOOSE),
    "attention": P(attention, parts, LENGTHS, grad=True, tol=(1e-4, 1e-3)),
    "sdpa": P(
        lambda x, w, o: F.scaled_dot_product_attention(x @ o, x, x, is_causal=True),
        parts,
        LENGTHS,
        grad=True,
        tol=(1e-4, 1e-3),
    ),
    "cat_and_slice": P(
        lambda x: torch.cat([x[:, 1:] * 2, x[:, : x.shape[0]].exp()], 1).mean(1),
        rows,
        grad=True,
        tol=LOOSE,
    ),
    "reshape": P(lambda x: (x.t().reshape(x.shape) * x).cumsum(0), rows, grad=True, tol=LOOSE),
    "max_and_index": P(lambda x: x.amax(1) + x[-1, : x.shape[0]], rows, grad=True),
    "upsample": P(
        lambda x: F.interpolate(x * 2, scale_factor=2),
        lambda n: [leaf(uniform(2, 3, n, n + 3))],
        SIDES,
        grad=True,
        tol=LOOSE,
    ),
    "conv": P(
        lambda x, w: F.avg_pool2d(F.conv2d(x, w, padding=1).relu(), 2),
        lambda n: [leaf(uniform(2, 3, n, n + 3)), leaf(uniform(4, 3, 3, 3, seed=1))],
        SIDES,
        grad=True,
        tol=LOOSE,
    ),
}


@pytest.mark.parametrize("name", TRAINED)
def test_training(name: str) -> None:
    """Values and gradients at many sizes, from one compile."""
    run(replace(TRAINED[name], graphs=None) if name == "conv" else TRAINED[name])


def test_sizes_zero_one_and_coincident() -> None:
    """Where Dynamo itself specialises: right, whatever the order."""
    program = P(lambda x: (F.layer_norm(x, (x.shape[1],)).exp().sum(0), x.softmax(-1)), square)
    subject = compiled(program.fn, dynamic=True)
    for n in (5, 1, 0, 4, 2, 33):
        at_size(subject, program, n)
    x = uniform(7, 7)
    same(subject(x), program.fn(x), "both sizes equal")


def test_a_size_that_is_one_by_its_bounds_is_broadcast() -> None:
    """Half of a width of 2 or 3 is 1: Dynamo says it by bounds, not by an equation."""

    def f(x: Tensor) -> Tensor:
        return torch.hypot(F.max_pool2d(x[None], 2), x.mean(-2))

    for dtype in (torch.float32, torch.float16):
        subject = compiled(f, dynamic=True)
        for width in (2, 3):
            x = uniform(7, width).to(dtype)
            same(subject(x), f(x), "half of the width", tol=(1e-2, 1e-2))


@ours_only
def test_no_guard_is_added() -> None:
    """Dynamo recompiles no more often than for `eager`, over sizes at which decisions change."""
    sizes = (3, 4000, 17, 70000, 64, 5, 300000)
    seen: list[int] = []
    for backend in ("minductor", "eager"):
        torch._dynamo.reset()
        counters.clear()
        fn: Any = torch.compile(lambda x: (x.sin() + 1).sum(1), backend=backend, dynamic=True)
        for n in sizes:
            fn(uniform(n, 6))
        seen.append(counters["stats"]["unique_graphs"])
    assert seen == [1, 1]


class Perceptron(nn.Module):
    """Two layers and a norm; parameters are static, the batch is not."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).log_softmax(-1)


def test_marked_batch_of_a_module() -> None:
    torch.manual_seed(0)
    model = Perceptron()
    subject = compiled(model, dynamic=None)
    for n in SIZES:
        x = uniform(n, 8)
        torch._dynamo.mark_dynamic(x, 0)
        same(subject(x), model(x), f"n={n}", tol=LOOSE)
    assert len(subject.graphs) == 1


@pytest.mark.slow
def test_gpt2() -> None:
    """Four layers over ten lengths: inference and a training step, one compile each."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=4, n_head=4, n_embd=64, vocab_size=211, n_positions=128,
        attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0, use_cache=False,
    )  # fmt: skip
    model = transformers.GPT2Model(config)

    def fn(ids: Tensor) -> Tensor:
        return model(ids).last_hidden_state

    lengths = (5, 9, 16, 23, 33, 50, 64, 77, 100, 128)
    for train in (False, True):
        torch._dynamo.reset()
        subject = compiled(fn, dynamic=True, fullgraph=False)
        for n in lengths:
            ids = torch.arange(3 * n).reshape(3, n) * 7 % 211
            found: list[Any] = []
            for one in (fn, subject):
                model.zero_grad()
                with torch.set_grad_enabled(train):
                    out = one(ids)
                if train:
                    out.square().mean().backward()
                grads = [p.grad.clone() for p in model.parameters() if p.grad is not None]
                found.append((out.detach(), grads))
            same(found[1], found[0], f"n={n}", tol=(1e-3, 1e-4), strides=False)
        assert len(subject.graphs) <= 2  # transformers breaks the graph once, at a logger
