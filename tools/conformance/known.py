"""What is not compared, or not compiled, by name and with the reason."""

from __future__ import annotations

import torch

UNINITIALISED = frozenset(
    {
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "resize_",
        "resize_as_",
    }
)
"""Entries whose elements are whatever the memory held: metadata alone is compared."""

RANDOM_STATE = {
    "torch.ops.aten._efficient_attention_forward": (2, 3),
    "torch.ops.aten._flash_attention_forward": (2, 3),
}
"""Results that hold the state of a random generator: metadata alone is compared."""

EAGER_REFUSES: dict[str, str] = {
    "_softmax_backward_data": "the CUDA kernel takes no f32 gradient for a half input, loops do",
}
"""Entries with samples that eager refuses without need -> why that is no error of ours."""

SKIPPED: dict[str, str] = {
    "jiterator_2inputs_2outputs": "compiles CUDA source of its own",
    "jiterator_4inputs_with_extra_args": "compiles CUDA source of its own",
    "jiterator_binary": "compiles CUDA source of its own",
    "jiterator_binary_return_by_ref": "compiles CUDA source of its own",
    "jiterator_unary": "compiles CUDA source of its own",
}
"""Entries that are not run."""

FALLBACKS: dict[str, str] = {
    "sparse": "sparse tensors are left to eager (docs/limits.md)",
    "quantised": "quantised tensors are left to eager (docs/limits.md)",
}
"""Words in the reason of a refusal -> why it is no failure. Every other fallback is an error."""


def checks_strides(entry: str) -> bool:
    """Whether forward strides are compared: torch 2.11's fake tensors promise contiguous results of
    fft, a layout that its kernels do not give."""
    release = tuple(int(n) for n in torch.__version__.split(".")[:2])
    return not (entry.startswith("fft.") and release < (2, 12))


def allowed_fallback(text: str) -> str | None:
    """Why a graph may be left to eager, given the text of the refusal; None where it may not."""
    if "not supported:" not in text:
        return None
    return next((why for word, why in FALLBACKS.items() if word in text), None)
