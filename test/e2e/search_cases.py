"""Searches, distances and gradients of embeddings: name -> (function, inputs)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

A = torch.ops.aten
Case = tuple[Callable[..., Any], tuple[Tensor, ...]]
NAN, INF = float("nan"), float("inf")


def searches() -> dict[str, Case]:
    edges = torch.tensor([-1.0, 0.0, 0.0, 2.0, 7.5])
    x = torch.tensor([[NAN, INF, -INF, -0.0, 0.0], [2.0, 7.5, 7.6, -1.0, -3.0]])
    rows = torch.tensor([[1, 3, 5, 7], [2, 2, 2, 9]])
    values = torch.tensor([[0, 3, 8], [2, 1, 10]])
    mixed = torch.tensor([3.0, 1.0, 2.0])
    sorter = torch.tensor([1, 2, 0])
    return {
        "bucketize": (lambda x, e: A.bucketize(x, e), (x, edges)),
        "bucketize-right": (lambda x, e: A.bucketize(x, e, right=True), (x, edges)),
        "bucketize-int32": (lambda x, e: A.bucketize(x, e, out_int32=True), (x.t(), edges)),
        "bucketize-number": (lambda e: A.bucketize(1.5, e), (edges,)),
        "bucketize-half": (lambda x, e: A.bucketize(x, e), (x.bfloat16(), edges.bfloat16())),
        "bucketize-one": (lambda x, e: A.bucketize(x, e), (x, edges[:1])),
        "bucketize-none": (lambda x, e: A.bucketize(x, e), (x, edges[:0])),
        "bucketize-unsorted": (lambda x, e: A.bucketize(x, e), (x, edges.flip(0))),
        "searchsorted": (lambda r, v: A.searchsorted(r, v), (rows, values)),
        "searchsorted-side": (lambda r, v: A.searchsorted(r, v, side="right"), (rows, values)),
        "searchsorted-sorter": (
            lambda m, v, s: A.searchsorted(m, v, sorter=s),
            (mixed, x.nan_to_num(), sorter),
        ),
    }


def _cdist_back(p: float) -> Callable[..., Any]:
    return lambda g, x, y, d: A._cdist_backward(g, x, y, p, d)


def _pair_distances(p: float) -> Callable[..., Any]:
    return lambda x: A._pdist_forward(x, p)


def _pairs_back(p: float) -> Callable[..., Any]:
    return lambda g, x, d: A._pdist_backward(g, x, p, d)


def _row_distances(p: float) -> Callable[..., Any]:
    return lambda x, y: A._cdist_forward(x, y, p, None)


def distances() -> dict[str, Case]:
    x = torch.sin(torch.arange(40.0).reshape(2, 5, 4) * 1.3)
    y = torch.cos(torch.arange(24.0).reshape(1, 6, 4))
    y[0, 0] = x[0, 0]
    wide = y.expand(2, 6, 4)
    out: dict[str, Case] = {}
    for p in (0.0, 1.0, 1.5, 2.0, 3.0, INF):
        out[f"cdist-{p}"] = (_row_distances(p), (x, y))
        pairs = A._pdist_forward(x[0], p)
        tangents = torch.cos(pairs * 3)
        out[f"pdist-backward-{p}"] = (_pairs_back(p), (tangents, x[0], pairs))
        out[f"pdist-{p}"] = (_pair_distances(p), (x[0],))
        found = A._cdist_forward(x, wide, p, None)
        grad = torch.sin(found + 1)
        args = (grad, x, wide.contiguous(), found)
        out[f"cdist-backward-{p}"] = (_cdist_back(p), args)
    out["dist"] = (lambda x, y: A.dist(x, y, 2), (x[0, 0], y[0, 2]))
    return out


def embeddings() -> dict[str, Case]:
    grad = torch.sin(torch.arange(24.0).reshape(2, 3, 4))
    i = torch.tensor([[0, 4, 4], [2, 0, 4]])
    mask = torch.tensor([[True, False, True, True], [False, True, False, False]])
    return {
        "backward": (lambda g, i: A.embedding_dense_backward(g, i, 6, -1, False), (grad, i)),
        "padding": (lambda g, i: A.embedding_dense_backward(g, i, 6, 4, False), (grad, i)),
        "frequencies": (lambda g, i: A.embedding_dense_backward(g, i, 6, 2, True), (grad, i)),
        "int32": (lambda g, i: A.embedding_dense_backward(g, i, 5, -1, False), (grad, i.int())),
        "masked-scatter-backward": (
            lambda g, m: A.masked_scatter_backward(g, m, [2, 3]),
            (grad[:, 0], mask),
        ),
        "masked-scatter-backward-broadcast": (
            lambda g, m: A.masked_scatter_backward(g, m, [20]),
            (grad, mask[0]),
        ),
    }


CASES: dict[str, Case] = searches() | distances() | embeddings()
