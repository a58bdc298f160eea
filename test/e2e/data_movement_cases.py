"""Calls of data-movement ops, one table a family: name -> (function, inputs).

Each is lowered and interpreted by `test_data_movement.py` and compared with torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

A = torch.ops.aten
Case = tuple[Callable[..., Any], tuple[Tensor, ...]]


def floats(*sizes: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Distinct values, exact in every dtype while there are few."""
    count = torch.Size(sizes).numel()
    return (torch.arange(count) - 3).to(dtype).reshape(sizes)


def ints(*values: int) -> Tensor:
    return torch.tensor(values)


def calling(op: Callable[..., Any], *extra: Any, **keywords: Any) -> Callable[..., Any]:
    """A function of tensors that passes further arguments to the op."""
    return lambda *tensors: op(*tensors, *extra, **keywords)


def views() -> dict[str, Case]:
    x, y = floats(2, 3, 4), floats(6, 4)
    t = floats(4, 3, 2).permute(2, 1, 0)
    return {
        "view": (lambda x: A.view(x, [6, 4]) + 0, (x,)),
        "view-infer": (lambda x: A.view(x, [-1, 2]) + 0, (x,)),
        "view-of-permute": (
            lambda x: (
                A.view(
                    A.clone(A.permute(x, [2, 0, 1]), memory_format=torch.contiguous_format), [8, 3]
                )
                + 0
            ),
            (x,),
        ),
        "unsafe-view": (lambda x: A._unsafe_view(A.permute(x, [2, 0, 1]).clone(), [4, 6]), (x,)),
        "reshape-copies": (lambda t: torch.reshape(t, (6, 4)), (t,)),
        "permute": (lambda x: A.permute(x, [2, 0, 1]) * 1, (x,)),
        "transpose": (lambda x: A.transpose(x, 0, -1) * 1, (x,)),
        "t": (lambda y: A.t(y) * 1, (y,)),
        "unsqueeze": (lambda x: A.unsqueeze(x, -2) * 1, (x,)),
        "squeeze": (lambda x: A.squeeze(A.unsqueeze(A.unsqueeze(x, 0), 2)) * 1, (x,)),
        "squeeze-dim": (lambda x: A.squeeze(A.unsqueeze(x, 1), 1) * 1, (x,)),
        "squeeze-dims": (lambda x: A.squeeze(A.unsqueeze(A.unsqueeze(x, 1), 0), [0, 2]) * 1, (x,)),
        "expand": (lambda y: A.expand(y, [3, 6, 4]) * 1, (y,)),
        "expand-alone": (lambda y: A.expand(A.select(y, 1, 0).unsqueeze(1), [6, 5]), (y,)),
        "slice": (lambda x: A.slice(x, 2, 1, 4, 2) * 1, (x,)),
        "slice-negative": (lambda y: A.slice(y, 0, -4, -1) * 1, (y,)),
        "slice-beyond": (lambda y: A.slice(y, 0, -40, 99) * 1, (y,)),
        "slice-output": (lambda x: A.slice(x, 1, 1, 3), (x,)),
        "select": (lambda x: A.select(x, 1, -1) * 1, (x,)),
        "split": (lambda y: [p * 1 for p in A.split(y, 4)], (y,)),
        "split-with-sizes": (lambda y: [p * 1 for p in A.split_with_sizes(y, [1, 3, 2])], (y,)),
        "unbind": (lambda x: [p * 1 for p in A.unbind(x, 1)], (x,)),
        "diagonal": (lambda x: A.diagonal(x, 1, 2, 1) * 1, (x,)),
        "unfold": (lambda y: A.unfold(y, 0, 3, 2) * 1, (y,)),
        "as-strided": (lambda y: A.as_strided(y * 2, [3, 4], [5, 2], 1) * 1, (y,)),
        "as-strided-argument": (lambda y: A.as_strided(y, [3, 4], [5, 2]) * 1, (y,)),
        "alias-outputs": (lambda y: [(z := y * 2), A.view(z, [24])], (y,)),
        "scalar": (lambda x: A.view(x.sum(), [1, 1]) * 2, (x,)),
        "no-elements": (lambda x: A.view(A.slice(x, 0, 1, 1), [4, 0]) * 2, (x,)),
        "sum-of-nothing": (lambda x: A.view(A.slice(x, 0, 1, 1), [4, 0, 3]).sum(1), (x,)),
    }


def copies() -> dict[str, Case]:
    x, y = floats(2, 3, 4), floats(6, 4)
    c = floats(2, 3, 4, 5).to(memory_format=torch.channels_last)
    return {
        "flip": (lambda x: A.flip(x, [0, 2]), (x,)),
        "roll": (lambda x: A.roll(x, [1, -2], [0, 2]), (x,)),
        "roll-flat": (lambda x: A.roll(x, [5]), (x,)),
        "repeat": (lambda x: A.repeat(x, [2, 1, 2, 3]), (x,)),
        "rot90": (lambda y: A.rot90(y, 1, [0, 1]), (y,)),
        "rot90-back": (lambda x: A.rot90(x, -1, [1, 2]), (x,)),
        "clone": (lambda y: A.clone(A.t(y), memory_format=torch.contiguous_format), (y,)),
        "clone-channels-last": (lambda c: A.clone(c), (c,)),
        "permute-copy": (lambda x: A.permute_copy(x, [1, 2, 0]), (x,)),
        "split-copy": (lambda y: A.split_copy(y, 4), (y,)),
        "expand-copy": (lambda y: A.expand_copy(y, [2, 6, 4]), (y,)),
        "diag-embed": (lambda y: A.diag_embed(y, -1, 0, 2), (y,)),
        "tril": (lambda x: A.tril(x, 1), (x,)),
        "triu": (lambda y: A.triu(y, -2), (y,)),
        "triu-far": (lambda y: A.triu(y, 9), (y,)),
    }


def parts() -> dict[str, Case]:
    x, y = floats(2, 3, 4), floats(6, 4) * 2
    return {
        "slice-scatter": (lambda x, s: A.slice_scatter(x, s, 2, 1, 3), (x, floats(2, 3, 2) * 5)),
        "slice-scatter-step": (lambda y, s: A.slice_scatter(y, s, 0, -5, 6, 2), (y, floats(3, 4))),
        "slice-scatter-none": (lambda y, s: A.slice_scatter(y, s, 0, 3, 3), (y, floats(0, 4))),
        "select-scatter": (lambda x, s: A.select_scatter(x, s, 1, -1), (x, floats(2, 4) * 7)),
        "diagonal-scatter": (lambda x, s: A.diagonal_scatter(x, s, -1, 0, 2), (x, floats(3, 1))),
        "as-strided-scatter": (
            lambda y, s: A.as_strided_scatter(y * 1, s, [2, 3], [9, 2], 1),
            (y, floats(2, 3)),
        ),
        "copy": (lambda y, s: A.copy(y, s), (y, ints(1, 2, 3, 4))),
        "cat": (lambda x, z: A.cat([x, z, x], 1), (x, floats(2, 2, 4))),
        "cat-promotes": (lambda x, z: A.cat([x, z], -1), (x, floats(2, 3, 1, dtype=torch.int32))),
        "cat-empty": (lambda x, e: A.cat([e, x], 0), (x, floats(0))),
        "cat-many": (lambda y: A.cat([y * k for k in range(19)], 1), (y,)),
        "cat-of-views": (lambda y: A.cat([A.slice(y, 1, 2), A.neg(A.slice(y, 1, 0, 2))], 1), (y,)),
        "stack": (lambda x: A.stack([x, x * 2, x + 1], -1), (x,)),
        "pad": (lambda x: A.constant_pad_nd(x, [1, 2, 0, 1], 0.5), (x,)),
        "pad-crop": (lambda x: A.constant_pad_nd(x, [-1, 2, 1, -2]), (x,)),
        "pad-ints": (lambda i: A.constant_pad_nd(i, [2, 0], 3), (ints(1, 2),)),
        "reflection-pad": (lambda x: A.reflection_pad1d(x, [3, 2]), (x,)),
        "replication-pad": (lambda x: A.replication_pad2d(x, [1, 2, 3, 0]), (x,)),
    }


def reads() -> dict[str, Case]:
    x, y = floats(2, 3, 4), floats(6, 4)
    i, j = ints(0, -1, 2), ints(3, 1, 0)
    return {
        "index": (lambda y, i: A.index(y, [i]), (y, i)),
        "index-hole": (lambda x, i: A.index(x, [None, i]), (x, i)),
        "index-two": (lambda x, i, j: A.index(x, [None, i, j]), (x, i, j)),
        "index-apart": (lambda x, i, j: A.index(x, [i, None, j]), (x, ints(1, 0, 1), j)),
        "index-broadcast": (lambda y, i, j: A.index(y, [i.unsqueeze(1), j]), (y, i, ints(0, 3))),
        "index-int32": (lambda y, i: A.index(y, [i.int()]), (y, i)),
        "index-scalar": (lambda x, i: A.index(x, [None, i]), (x, torch.tensor(1))),
        "index-of-view": (
            lambda x, i: A.index(A.view(A.permute(x, [1, 0, 2]), [3, 8]), [i]),
            (x.permute(1, 0, 2).contiguous().permute(1, 0, 2), i),
        ),
        "index-select": (lambda x, i: A.index_select(x, 2, i), (x, ints(3, 3, 0))),
        "gather": (lambda y, i: A.gather(y, 1, i), (y, ints(0, 3, 1, 2, 2, 0).reshape(3, 2))),
        "gather-flat": (lambda v, i: A.gather(v, 0, i), (torch.tensor(3.0), ints(0, 0))),
        "take": (lambda x, i: A.take(x, i), (x, ints(0, -1, 13, 5).reshape(2, 2))),
        "embedding": (lambda y, i: A.embedding(y, i), (y, ints(5, 0, 0, 2).reshape(2, 2))),
    }


def _reducing(word: str, own: bool) -> Callable[..., Any]:
    return lambda x, i, s: A.scatter_reduce(x, 0, i, s, word, include_self=own)


def _index_reducing(word: str) -> Callable[..., Any]:
    return lambda y, i, v: A.index_reduce(y, 0, i, v, word, include_self=False)


def _max_backward(args: tuple[Any, ...]) -> Callable[..., Any]:
    return lambda g, x, i: A.max_pool2d_with_indices_backward(g, x, *args, i)


def writes() -> dict[str, Case]:
    y, h = floats(6, 4), floats(6, 4).bfloat16()
    i = ints(0, -1, 2, 0)
    v = floats(4, 4) * 10
    at = ints(0, 3, 1, 2, 2, 0, 0, 3).reshape(2, 4)
    s = floats(2, 4) * 3 + 1
    mask = floats(6) > 0
    n, si = floats(6, 4).long(), (floats(2, 4) * 3).long()
    one = torch.tensor(7.0)
    reduces = {
        f"scatter-reduce-{r}{'' if own else '-alone'}-{x.dtype}".replace("torch.", ""): (
            _reducing(r, own),
            (x, at, src),
        )
        for r in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
        for x, src in ((y, s), (n, si), (h, s.bfloat16()))
    }
    reduces |= {
        f"index-reduce-{r}": (
            _index_reducing(r),
            (y, ints(0, 5, 2, 0), v),
        )
        for r in ("prod", "mean", "amax")
    }
    return reduces | {
        "masked-scatter": (
            lambda y, m, s: A.masked_scatter(y, m, s),
            (y, floats(4) > -2, floats(3, 9) * 2),
        ),
        "index-put": (lambda y, i, v: A.index_put(y, [i], v), (y, i, v)),
        "index-put-add": (lambda y, i, v: A.index_put(y, [i], v, True), (y, i, v)),
        "index-put-hole": (lambda y, i, v: A.index_put(y, [None, i], v), (y, i, floats(6, 4) * 9)),
        "index-put-broadcast": (lambda y, i, v: A.index_put(y, [i], v, True), (y, i, one)),
        "index-put-view": (lambda y, i, v: A.index_put(A.t(y), [i], v), (y.t().contiguous(), i, v)),
        "index-put-mask": (lambda y, m, v: A.index_put(y, [m], v), (y, mask, one)),
        "index-put-mask-add": (lambda y, m, v: A.index_put(y, [m], v, True), (y, y > 4, one)),
        "index-put-mask-row": (lambda y, m, v: A.index_put(y, [m], v), (y, mask, floats(1, 4))),
        "index-put-mask-second": (
            lambda y, m, v: A.index_put(y, [None, m], v),
            (y, floats(4) > -2, floats(6, 1)),
        ),
        "scatter": (lambda y, i, s: A.scatter(y, 0, i, s), (y, at, s)),
        "scatter-dim1": (lambda y, i, s: A.scatter(y, 1, i, s), (y, at, s)),
        "scatter-value": (lambda y, i: A.scatter(y, 1, i, 2.5), (y, at)),
        "scatter-scalar": (lambda x, i: A.scatter(x, 0, i, 2.5), (torch.tensor(1.0), ints(0))),
        "scatter-multiply": (lambda y, i, s: A.scatter(y, 0, i, s, reduce="multiply"), (y, at, s)),
        "scatter-add": (lambda y, i, s: A.scatter_add(y, 0, i, s), (y, at, s)),
        "scatter-add-half": (lambda h, i, s: A.scatter_add(h, 0, i, s), (h, at, s.bfloat16())),
        "scatter-none": (lambda y, i, s: A.scatter_add(y, 0, i, s), (y, at[:0], s[:0])),
        "index-add": (lambda y, i, v: A.index_add(y, 0, i, v, alpha=2), (y, ints(0, 5, 2, 0), v)),
        "index-copy": (lambda y, i, v: A.index_copy(y, 0, i, v), (y, ints(0, 5, 2, 0), v)),
        "index-fill": (lambda y, i: A.index_fill(y, 1, i, 3.0), (y, i)),
        "put": (lambda y, i, s: A.put(y, i, s), (y, ints(0, -1, 5, 0), floats(2, 2) * 4)),
    }


def pools() -> dict[str, Case]:
    x = torch.sin(floats(2, 3, 7, 8) * 1.7)
    c = x.to(memory_format=torch.channels_last)
    nan = x.clone()
    nan[0, 0, 2, 3:5] = float("nan")
    out: dict[str, Case] = {}
    for name, args in {
        "2": ([2, 2],),
        "3-stride2-pad1": ([3, 3], [2, 2], [1, 1]),
        "3-dilated": ([3, 2], [1, 2], [1, 1], [2, 1]),
        "3-ceil": ([3, 3], [2, 2], [1, 1], [1, 1], True),
        "7": ([7, 7], [1, 1], [3, 3]),
    }.items():
        for kind, t in (("", x), ("-channels-last", c), ("-nan", nan), ("-half", x.bfloat16())):
            out[f"max-pool-{name}{kind}"] = (calling(A.max_pool2d_with_indices, *args), (t,))
        _, i = A.max_pool2d_with_indices(x, *args)
        g = torch.cos(floats(*i.shape))
        full = (*args, *([2, 2], [0, 0], [1, 1], False)[len(args) - 1 :])
        out[f"max-pool-{name}-backward"] = (_max_backward(full), (g, x, i))
    for name, args in {
        "2": ([2, 2],),
        "3-stride2-pad1": ([3, 3], [2, 2], [1, 1]),
        "3-no-pad": ([3, 3], [2, 2], [1, 1], False, False),
        "3-ceil": ([3, 2], [2, 2], [1, 1], True),
        "override": ([3, 3], [2, 1], [0, 0], False, True, 5),
        "7": ([7, 7], [1, 1], [3, 3]),
    }.items():
        out[f"avg-pool-{name}"] = (calling(A.avg_pool2d, *args), (x,))
        g = torch.cos(floats(*A.avg_pool2d(x, *args).shape))
        full = (*args, *([2, 2], [0, 0], False, True, None)[len(args) - 1 :])
        out[f"avg-pool-{name}-backward"] = (calling(A.avg_pool2d_backward, *full), (g, x))
    return out | _more_pools()


def _more_pools() -> dict[str, Case]:
    x, v = torch.sin(floats(2, 3, 6, 8) * 1.7), torch.sin(floats(1, 2, 4, 4, 6))
    g = torch.cos(floats(2, 3, 3, 2))
    wide = floats(2, 3, 12, 8)
    return {
        "avg-pool-half": (lambda x: A.avg_pool2d(x, [2, 2]), (x.bfloat16(),)),
        "avg-pool1d": (lambda x: A.avg_pool1d(x, [3], [2], [1]), (x[0],)),
        "avg-pool3d": (lambda v: A.avg_pool3d(v, [2, 2, 3]), (v,)),
        "max-pool3d": (
            lambda v: A.max_pool3d_with_indices(v, [2, 2, 3], [1, 2, 2], [1, 0, 1]),
            (v,),
        ),
        "adaptive": (lambda x: A._adaptive_avg_pool2d(x, [3, 2]), (x,)),
        "adaptive-one": (lambda x: A._adaptive_avg_pool2d(x, [1, 1]), (x,)),
        "adaptive-max": (lambda x: A.adaptive_max_pool2d(x, [4, 3]), (x,)),
        "adaptive-max-backward": (
            lambda g, x, i: A.adaptive_max_pool2d_backward(g, x, i),
            (g, x, A.adaptive_max_pool2d(x, [3, 2])[1]),
        ),
        "average-of-ints": (lambda w: A.avg_pool2d(w, [2, 3]), (wide.long() - 100,)),
        "reflection-backward": (
            lambda g, x: A.reflection_pad2d_backward(g, x, [1, 2, 0, 3]),
            (floats(2, 3, 9, 11), x),
        ),
        "replication-backward": (
            lambda g, x: A.replication_pad1d_backward(g, x, [1, 2]),
            (floats(3, 6, 11), x[0]),
        ),
        "adaptive-uneven": (lambda x: A._adaptive_avg_pool2d(x, [5, 3]), (x,)),
        "adaptive-more": (lambda x: A._adaptive_avg_pool2d(x, [9, 8]), (x,)),
        "adaptive-uneven-backward": (
            lambda g, x: A._adaptive_avg_pool2d_backward(g, x),
            (torch.cos(floats(2, 3, 5, 3)), x),
        ),
        "adaptive-backward": (lambda g, x: A._adaptive_avg_pool2d_backward(g, x), (g, x)),
        "nearest": (lambda x: A.upsample_nearest2d(x, [12, 24]), (x,)),
        "nearest-odd": (lambda x: A.upsample_nearest2d(x, [7, 11]), (x,)),
        "nearest-scale": (lambda x: A.upsample_nearest2d(x, [9, 10], 1.5, 1.3), (x,)),
        "nearest-exact": (lambda x: A._upsample_nearest_exact2d(x, [7, 11]), (x,)),
        "nearest1d": (lambda x: A.upsample_nearest1d(x, [16]), (x[0],)),
        "unpool": (
            lambda g, i: A.max_unpool2d(g, i, [6, 8]),
            (g, A.adaptive_max_pool2d(x, [3, 2])[1]),
        ),
        "linear": (lambda x: A.upsample_linear1d(x, [13], False), (x[0],)),
        "bilinear": (lambda x: A.upsample_bilinear2d(x, [12, 16], False), (x,)),
        "bicubic": (lambda x: A.upsample_bicubic2d(x, [7, 5], True), (x,)),
        "bilinear-backward": (
            lambda w: A.upsample_bilinear2d_backward(w, [12, 8], [2, 3, 6, 8], False),
            (wide,),
        ),
        "nearest-backward": (
            lambda w: A.upsample_nearest2d_backward(w, [12, 8], [2, 3, 6, 8]),
            (wide,),
        ),
    }


CASES: dict[str, Case] = views() | copies() | parts() | reads() | writes() | pools()
