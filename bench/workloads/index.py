"""Embedding, gather, scatter, cross entropy."""

import torch
import torch.nn.functional as F
from torch import Tensor

from bench.workload import Build, Where, Workload

VOCABULARY, WIDTH = 20000, 512


def build_embedding(where: Where) -> Workload:
    n = where.rows(4096)
    table, ids = where.normal(VOCABULARY, WIDTH), where.whole(n, high=VOCABULARY)
    moved = n * WIDTH * table.element_size()
    reads = moved + 8 * n
    return Workload(lambda i, w: F.embedding(i, w) * 2, [ids, table], reads=reads, writes=moved)


def build_gather(where: Where) -> Workload:
    n = where.rows(2048)
    x, i = where.normal(n, 1024), where.whole(n, 1024, high=1024)
    return Workload(lambda x, i: x.gather(1, i) + 1, [x, i])


def build_index_put(where: Where) -> Workload:
    n = where.rows(2048)
    x, i = where.normal(2048, WIDTH, dtype=torch.float32), where.whole(n, high=2048)
    v = where.normal(n, WIDTH, seed=1, dtype=torch.float32)
    return Workload(lambda x, i, v: x.index_put((i,), v * 2, accumulate=True), [x, i, v])


def build_cross_entropy(where: Where) -> Workload:
    n = where.rows(128)
    x, t = where.normal(n, VOCABULARY).requires_grad_(), where.whole(n, high=VOCABULARY)
    one = torch.ones((), device=where.device)
    return Workload(lambda x, t: F.cross_entropy(x.float(), t), [x, t], (one,))


def build_attention(where: Where) -> Workload:
    shape = (where.rows(2), 8, 256, 64)
    args = [where.normal(*shape, seed=s) for s in range(3)]

    def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return ((q @ k.mT) * 0.125).softmax(-1) @ v

    floor = lambda: args[0] @ args[1].mT @ args[2]  # noqa: E731
    return Workload(attention, args, floor=floor)


TABLE: dict[str, Build] = {
    "embedding": build_embedding,
    "gather": build_gather,
    "index_put": build_index_put,
    "cross_entropy_train": build_cross_entropy,
    "attention_naive": build_attention,
}
