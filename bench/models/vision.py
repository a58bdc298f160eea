"""Image models: transformers' own classes, and a handwritten Mixer, U-Net and MLP."""

from itertools import pairwise
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from bench.models.base import Size, Task, class_loss, pictures, square_loss


def _logits(module: nn.Module, images: Tensor, *_: Any) -> Tensor:
    return module(pixel_values=images).logits


def _call(module: nn.Module, *inputs: Tensor) -> Tensor:
    return module(*inputs)


def vit(size: Size) -> Task:
    """Vision transformer with a classification head."""
    config = transformers.ViTConfig(
        image_size=size.image,
        patch_size=max(size.image // 14, 4),
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=4 * size.width,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=10,
    )
    module = transformers.ViTForImageClassification(config)
    return Task(module, (pictures(size),), _logits, class_loss)


def convnext(size: Size) -> Task:
    """ConvNeXt of four stages."""
    widths = [size.channels * 2**k for k in range(4)]
    depths = [1, 1, max(size.layers // 2, 1), 1]
    config = transformers.ConvNextConfig(
        hidden_sizes=widths, depths=depths, num_labels=10, drop_path_rate=0.0
    )
    module = transformers.ConvNextForImageClassification(config)
    return Task(module, (pictures(size),), _logits, class_loss)


def resnet(size: Size) -> Task:
    """ResNet with bottleneck blocks: ResNet-50's depths from 12 layers on, a short one below."""
    depths = [3, 4, 6, 3] if size.layers >= 12 else [1, 1, 1, 1]
    config = transformers.ResNetConfig(
        embedding_size=size.channels,
        hidden_sizes=[4 * size.channels * 2**k for k in range(4)],
        depths=depths,
        num_labels=10,
    )
    module = transformers.ResNetForImageClassification(config)
    return Task(module, (pictures(size),), _logits, class_loss)


class MixerBlock(nn.Module):
    """Token mixing, then channel mixing, each behind a layer norm and a residual."""

    def __init__(self, patches: int, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.tokens = nn.Sequential(nn.Linear(patches, width), nn.GELU(), nn.Linear(width, patches))
        self.channels = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.tokens(self.norms[0](x).mT).mT
        return x + self.channels(self.norms[1](x))


class Mixer(nn.Module):
    """MLP-Mixer on square patches."""

    def __init__(self, size: Size, patch: int) -> None:
        super().__init__()
        patches = (size.image // patch) ** 2
        self.stem = nn.Conv2d(3, size.width, patch, patch)
        self.blocks = nn.Sequential(*(MixerBlock(patches, size.width) for _ in range(size.layers)))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x).flatten(2).mT
        return self.head(self.norm(self.blocks(x)).mean(1))


def mixer(size: Size) -> Task:
    """MLP-Mixer with patches of an eighth of the image (16 pixels when that is larger)."""
    patch = min(size.image // 8, 16)
    return Task(Mixer(size, patch), (pictures(size),), _call, class_loss)


def double(inside: int, outside: int) -> nn.Sequential:
    """Two convolutions with batch norm and ReLU."""
    layers: list[nn.Module] = []
    for a, b in ((inside, outside), (outside, outside)):
        layers += [nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Three levels down by max pooling, three up by bilinear upsampling, joined by cat."""

    def __init__(self, width: int) -> None:
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width]
        pairs = list(pairwise(widths))
        self.first = double(3, width)
        self.down = nn.ModuleList([double(a, b) for a, b in pairs])
        self.up = nn.ModuleList([double(a + b, a) for a, b in reversed(pairs)])
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = [self.first(x)]
        for level in self.down:
            kept.append(level(nn.functional.max_pool2d(kept[-1], 2)))
        x = kept.pop()
        for level in self.up:
            x = nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
            x = level(torch.cat([x, kept.pop()], 1))
        return self.last(x).sigmoid()


def unet(size: Size) -> Task:
    """U-Net on the images."""
    return Task(UNet(size.channels), (pictures(size),), _call, square_loss)


class Mlp(nn.Module):
    """Linear layers with GELU, layer norm and residuals."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(layers)])
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = x + nn.functional.gelu(layer(norm(x)))
        return self.head(x)


def mlp(size: Size) -> Task:
    """Residual MLP on `batch * length` rows."""
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(size.batch * size.length, size.width, generator=generator)
    return Task(Mlp(size.width, size.layers), (rows,), _call, class_loss)
