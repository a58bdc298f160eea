"""The programs of the table: each forward alone, and forward with backward where it has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from bench.models import MODELS, SIZES
from bench.workload import Where, Workload, tensors

WHERE = Where("cpu", torch.float32)
SMALL = SIZES["small"]

Make = Callable[[], Workload]


def parts(fn: Callable[..., Tensor], shapes: Sequence[tuple[int, ...]], *rest: Tensor) -> Make:
    """`fn` of normal tensors of these shapes, and of more that take no gradient."""

    def make() -> Workload:
        args = [WHERE.normal(*shape, seed=k) for k, shape in enumerate(shapes)]
        return Workload(fn, [*args, *rest])

    return make


def rms_norm(x: Tensor, w: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w


def batch_norm(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.batch_norm(x, None, None, w, b, training=True).relu()


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    scores = (q @ k.mT) * q.shape[-1] ** -0.5
    return scores.masked_fill(~mask, -1e9).softmax(-1) @ v


def gelu_mlp(x: Tensor, w: Tensor, b: Tensor, v: Tensor, c: Tensor) -> Tensor:
    return F.linear(F.gelu(F.linear(x, w, b)), v, c)


def rotate_half(x: Tensor) -> Tensor:
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def rotary(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    q = q * cos + rotate_half(q) * sin
    k = k * cos + rotate_half(k) * sin
    return torch.stack([q, k])


def adam(ps: list[Tensor], gs: list[Tensor], ms: list[Tensor], vs: list[Tensor]) -> None:
    for p, g, m, v in zip(ps, gs, ms, vs, strict=True):
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        p.addcdiv_(m, v.sqrt() + 1e-8, value=-1e-3)


def build_adam() -> Workload:
    """A hundred parameters: weights and biases of four widths."""
    shapes = [(256, 512), (512,), (64, 512), (64,)] * 25
    kinds = [[WHERE.normal(*s, seed=k + 4 * i) for i, s in enumerate(shapes)] for k in range(4)]
    kinds[3] = [v.abs() for v in kinds[3]]
    return Workload(adam, kinds)


def build_rotary() -> Workload:
    angles = WHERE.normal(256, 64, seed=2)
    return parts(rotary, [(4, 8, 256, 64)] * 2, angles.cos(), angles.sin())()


ROWS, WIDTH = 2048, 768
IMAGES = (8, 64, 56, 56)
CAUSAL = torch.ones(256, 256, dtype=torch.bool).tril()
CLASSES = WHERE.whole(1024, high=4000)

OPS: dict[str, Make] = {
    "softmax": parts(lambda x: x.softmax(-1), [(ROWS, 1024)]),
    "layer norm": parts(
        lambda x, w, b: F.layer_norm(x, (WIDTH,), w, b), [(ROWS, WIDTH), (WIDTH,), (WIDTH,)]
    ),
    "RMS norm": parts(rms_norm, [(ROWS, WIDTH), (WIDTH,)]),
    "group norm": parts(lambda x, w, b: F.silu(F.group_norm(x, 8, w, b)), [IMAGES, (64,), (64,)]),
    "batch norm training": parts(batch_norm, [IMAGES, (64,), (64,)]),
    "cross entropy": parts(F.cross_entropy, [(1024, 4000)], CLASSES),
    "attention naive": parts(attention, [(4, 8, 256, 64)] * 3, CAUSAL),
    "GELU MLP": parts(gelu_mlp, [(512, 256), (1024, 256), (1024,), (256, 1024), (256,)]),
    "rotary": build_rotary,
    "Adam, 100 parameters": build_adam,
}
BLOCKS = {
    "BERT block": ("bert", 1),
    "GPT-2 block": ("gpt2", 1),
    "Llama block": ("llama", 1),
    "T5 block": ("t5", 2),
    "ViT block": ("vit", 1),
    "ConvNeXt": ("convnext", 1),
    "ResNet": ("resnet", 1),
    "U-Net": ("unet", 1),
}
FORWARD_ONLY = ("Adam, 100 parameters",)

NAMES = [*OPS, *BLOCKS]
"""The rows of the table, in order."""


def phases(name: str) -> list[str]:
    """`forward`, and `training` for what has a gradient."""
    return ["forward"] if name in FORWARD_ONLY else ["forward", "training"]


def workload(name: str, phase: str) -> Workload:
    """The workload of a row: forward without gradients, or forward and backward."""
    torch.manual_seed(0)
    if name in OPS:
        work = OPS[name]()
        return work if phase == "forward" else with_gradients(work)
    family, layers = BLOCKS[name]
    task = MODELS[family](replace(SMALL, layers=layers))
    if phase == "forward":
        task.eval().requires_grad_(False)
        return Workload(task, task.inputs)
    task.train()
    parameters = [p for p in task.parameters() if p.requires_grad]
    return Workload(task.loss, task.inputs, (torch.ones(()),), wrt=parameters)


def with_gradients(work: Workload) -> Workload:
    """Forward and backward, with gradients of all floating inputs that are normal values."""
    leaves = [t for t in tensors(work.args) if t.is_floating_point()]
    if work.fn is rotary:
        leaves = leaves[:2]
    for leaf in leaves:
        leaf.requires_grad_()
    out = work.fn(*work.args)
    generator = torch.Generator().manual_seed(7)
    tangent = torch.randn(out.shape, generator=generator)
    return replace(work, tangents=(tangent,), wrt=leaves)
