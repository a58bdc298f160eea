"""The fastest simple kernel on a GPU for a mix of reads and writes: blocks in, blocks out.

A copy, a read and a fill do not reach the same bandwidth; a kernel is held against a loop of its
own mix, of as many bytes in all, in one launch.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
import triton
import triton.language as tl

BLOCK = 1024
"""Elements of 4 bytes that a program moves at a time."""
MOST = 8
"""Blocks of a program."""


@triton.jit
def move(  # pyright: ignore[reportUnknownParameterType]
    source,  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
    target,  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
    R: tl.constexpr,
    W: tl.constexpr,
    B: tl.constexpr,
):
    """A program reads R blocks and writes W blocks."""
    at = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for r in tl.static_range(R):  # pyright: ignore[reportGeneralTypeIssues]
        total += tl.load(source + (at * R + r) * B + lane)
    for w in tl.static_range(W):  # pyright: ignore[reportGeneralTypeIssues]
        tl.store(target + (at * W + w) * B + lane, total)
    if W == 0:  # never so, but who could know: the reads stay
        tl.store(target + lane, total, mask=total < 0.0)


def mixes(reads: int, writes: int) -> Iterator[tuple[int, int]]:
    """Blocks read and written by a program: the nearest share of few, then twice and more of it."""
    share = writes / max(1, reads + writes)
    pairs = [(r, w) for r in range(MOST // 2 + 1) for w in range(MOST // 2 + 1) if 0 < r + w]
    r, w = min(pairs, key=lambda p: (round(abs(p[1] / (p[0] + p[1]) - share), 9), sum(p)))
    times = 1
    while times * (r + w) <= MOST:
        yield times * r, times * w
        times *= 2


def move_steps(reads: int, writes: int) -> dict[str, tuple[Callable[[], object], int]]:
    """Name -> (step, bytes that it moves): loops of about so many bytes, of that mix."""
    out: dict[str, tuple[Callable[[], object], int]] = {}
    kernel: Any = move
    for r, w in mixes(reads, writes):
        programs = max(1, (reads + writes) // (4 * BLOCK * (r + w)))
        source = torch.ones(max(1, programs * r) * BLOCK, device="cuda")
        target = torch.empty(max(1, programs * w) * BLOCK, device="cuda")

        def step(p: int = programs, s: Any = source, t: Any = target, m: Any = (r, w)) -> object:
            return kernel[(p,)](s, t, R=m[0], W=m[1], B=BLOCK, num_warps=4)

        out[f"{r} in, {w} out"] = (step, programs * (r + w) * BLOCK * 4)
    return out
