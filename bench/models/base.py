"""A model with its inputs and loss, at one of three sizes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Size:
    """Dimensions shared by the families: sequence models use the first row, images the second."""

    layers: int
    width: int
    heads: int
    length: int
    batch: int
    vocabulary: int
    image: int
    channels: int
    images: int


SIZES = {
    "tiny": Size(4, 64, 4, 24, 2, 211, 32, 8, 2),
    "small": Size(4, 256, 4, 128, 4, 2000, 64, 32, 4),
    "large": Size(12, 768, 12, 512, 16, 32000, 224, 64, 32),
}


class Task(nn.Module):
    """`forward` gives the model's main tensor, `loss` a scalar of it.

    `pick` calls the wrapped module and selects the tensor; `score` makes the scalar.
    """

    def __init__(
        self,
        module: nn.Module,
        inputs: tuple[Tensor, ...],
        pick: Callable[..., Tensor],
        score: Callable[..., Tensor],
    ) -> None:
        super().__init__()
        self.module = module
        self.inputs = inputs
        self._pick = pick
        self._score = score

    def forward(self, *inputs: Tensor) -> Tensor:
        return self._pick(self.module, *inputs)

    def loss(self, *inputs: Tensor) -> Tensor:
        """Scalar loss in f32."""
        return self._score(self._pick(self.module, *inputs), *inputs)

    def place(self, device: str, dtype: torch.dtype) -> "Task":
        """Weights and floating inputs at `device` in `dtype`."""
        self.to(device=device, dtype=dtype)
        self.inputs = tuple(
            x.to(device, dtype) if x.is_floating_point() else x.to(device) for x in self.inputs
        )
        return self


Builder = Callable[[Size], Task]


def tokens(size: Size, vocabulary: int | None = None) -> Tensor:
    """Seeded token ids of shape (batch, length)."""
    generator = torch.Generator().manual_seed(1)
    shape = (size.batch, size.length)
    return torch.randint(0, vocabulary or size.vocabulary, shape, generator=generator)


def pictures(size: Size, channels: int = 3) -> Tensor:
    """Seeded images of shape (images, channels, image, image)."""
    generator = torch.Generator().manual_seed(1)
    return torch.randn(size.images, channels, size.image, size.image, generator=generator)


def token_loss(logits: Tensor, ids: Tensor, *_: Any) -> Tensor:
    """Cross entropy of each position's logits against the next token."""
    flat = logits[:, :-1].flatten(0, 1).float()
    return nn.functional.cross_entropy(flat, ids[:, 1:].flatten())


def class_loss(logits: Tensor, *_: Any) -> Tensor:
    """Cross entropy against the classes 0, 1, 2, ..., one an image."""
    classes = torch.arange(logits.shape[0], device=logits.device) % logits.shape[1]
    return nn.functional.cross_entropy(logits.float(), classes)


def square_loss(values: Tensor, *_: Any) -> Tensor:
    """Mean square."""
    return values.float().square().mean()
