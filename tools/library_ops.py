"""Ops that stay calls of a library's kernels, by intent: what each family is and why.

Every other op without a lowering is a call because nobody has written one.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Family(NamedTuple):
    """Packets that match a pattern, and why a kernel of ours would not be better."""

    name: str
    pattern: str
    why: str


FAMILIES = (
    Family("matmul", r"(b?add)?b?mm|addbmm|addmv|addr|mv|dot|vdot|_int_mm|_scaled_mm", "BLAS"),
    Family("convolution", r".*convolution.*|conv_.*|mkldnn_.*|slow_conv.*", "oneDNN, cuDNN"),
    Family("attention", r"_scaled_dot_product.*|_flash_attention.*|_efficient_attention.*", "SDPA"),
    Family("fft", r"_fft_.*", "pocketfft, MKL, cuFFT"),
    Family(
        "linalg",
        r"_?linalg_.*|cholesky.*|lu_unpack|ormqr|geqrf|triangular_solve|_cdist_.*|_pdist_.*|"
        r"_trilinear|logdet|_determinant",
        "LAPACK, MAGMA; distances of all pairs are products of matrices",
    ),
    Family(
        "sort",
        r"sort|topk|kthvalue|median|nanmedian|mode|msort|argsort|unique.*|_unique.*|randperm|histc",
        "a whole row has to move; PyTorch's parallel sorts",
    ),
    Family(
        "data-dependent",
        r"nonzero|masked_select|_local_scalar_dense|bincount|repeat_interleave|_assert.*",
        "the size of the result is known when the values are",
    ),
    Family(
        "lookup",
        r"_embedding_bag.*|grid_sampler.*_backward",
        "rows are read, or added to, at places that the data give",
    ),
    Family("symbolic", r"sym_.*", "a size or stride: an index expression in the IR, never a call"),
)
"""The named list, in the order in which the document shows it."""


def family_of(packet: str) -> Family | None:
    """The family of an op, given its name without the overload."""
    return next((one for one in FAMILIES if re.fullmatch(one.pattern, packet)), None)
