"""Model families of the benchmark, of the tests and of docs/models.md: name -> builder."""

from bench.models.base import SIZES, Builder, Size, Task
from bench.models.text import bert, gpt2, llama, t5
from bench.models.vision import convnext, mixer, mlp, resnet, unet, vit

MODELS: dict[str, Builder] = {
    "bert": bert,
    "gpt2": gpt2,
    "llama": llama,
    "t5": t5,
    "vit": vit,
    "convnext": convnext,
    "resnet": resnet,
    "mixer": mixer,
    "unet": unet,
    "mlp": mlp,
}

__all__ = ["MODELS", "SIZES", "Builder", "Size", "Task"]
