"""Views, joins and tensors made of symbolic sizes: values at each size, one compile."""

import pytest
import torch
import torch.nn.functional as F
from harness import integers, uniform
from over_sizes import (
    EVEN,
    FOURS,
    LOOSE,
    SIDES,
    Program,
    image,
    matrix,
    pair,
    row,
    run,
    square,
    wide,
)

P = Program
FEW = (5, 7, 12)


def shuffled(x: torch.Tensor) -> torch.Tensor:
    """Channels of two groups in turn; guards say in thirty ways that their number is even."""
    channels, n = x.shape
    return x.reshape(channels // 2, 2, n).transpose(0, 1).reshape(channels, n) * 2


VIEWS: dict[str, Program] = {
    "shuffled": P(shuffled, matrix, EVEN, None),
    "halves": P(lambda x: x.view(-1, x.shape[0] // 2) * 2, matrix, EVEN, None),
    "two_rows": P(lambda x: x.view(2, -1).sum(1), row, EVEN, tol=LOOSE),
    "pairs": P(lambda x: x.view(-1, 2).sum(1) * 2, row, EVEN),
    "pairs_of_rows": P(lambda x: x.reshape(x.shape[0] // 2, 12).amax(1), matrix, EVEN, None),
    "flatten_transposed": P(lambda x: x.t().flatten() + 1, square),
    "flatten_and_back": P(lambda x: (x.flatten() * 2).view_as(x).sum(0), square, tol=LOOSE),
    "transpose_reshape": P(
        lambda x: x.t().reshape(x.shape[0], x.shape[1]).sin().sum(0), square, tol=LOOSE
    ),
    "swap_by_view": P(lambda x: x.view(x.shape[1], x.shape[0]).cumsum(1), square, tol=LOOSE),
    "unflatten": P(lambda x: x.unflatten(1, (2, 3)).permute(2, 0, 1).flatten(1) + 1, matrix),
    "chunk": P(lambda x: [c * 2 for c in x.chunk(2, 1)], wide, EVEN),
    "chunk_rest": P(lambda x: [c + 1 for c in torch.chunk(x, 3, 0)], matrix, graphs=None),
    "split": P(lambda x: [c.sum() for c in x.split(x.shape[0] // 2)], row, EVEN),
    "split_sizes": P(lambda x: [c * 2 for c in x.split([2, x.shape[0] - 3, 1])], matrix),
    "tensor_split": P(lambda x: [c + 1 for c in x.tensor_split((2, -1))], matrix),
    "tensor_split_3": P(lambda x: [c + 1 for c in x.tensor_split(3)], matrix, graphs=None),
    "unfold": P(lambda x: x.unfold(0, 3, 2).sum(-1), row),
    "unfold_wide": P(lambda x: x.unfold(1, 4, 1).amax(-1) * 2, wide),
    "as_strided": P(
        lambda x: torch.as_strided(x, (x.shape[0] - 1, 2), (x.stride(0), x.stride(1))) * 2, matrix
    ),
    "windows": P(lambda x: torch.as_strided(x, (x.shape[0] - 3, 4), (1, 1)).sum(1), row),
    "diagonal": P(lambda x: x.diagonal() * 2 + x.diagonal(1)[: x.shape[0]], square),
    "tril": P(lambda x: x.tril() + x.triu(2), square),
    "flip": P(lambda x: x.flip(0, 1) + x, square),
    "roll": P(lambda x: x.roll(2, 0) - x.roll((1, -1), (0, 1)), square),
    "roll_by_size": P(lambda x: x.roll(x.shape[0] // 2, 0), row),
    "repeat": P(lambda x: x.repeat(2, 3) * 2, square),
    "repeat_by_size": P(lambda x: x[:2].repeat(x.shape[0], 1).sum(1), matrix),
    "tile": P(lambda x: x.tile((x.shape[0], 1)).sum(0), row, (*FEW, 33), tol=LOOSE),
    "expand_sum": P(lambda x: x[:, None].expand(-1, x.shape[0]).sum(0), row, tol=LOOSE),
    "expand_outer": P(lambda x: (x[:, None] * x[None, :]).sum(1), row, tol=LOOSE),
    "narrow": P(lambda x: x.narrow(0, 1, x.shape[0] - 2).exp(), matrix),
    "middle": P(lambda x: x[x.shape[0] // 3 : -(x.shape[0] // 4)] * 2, matrix),
    "steps": P(lambda x: (x[::2] * 2, x[1::3], x[:-1:2].sum(0)), matrix, tol=LOOSE),
    "negative_start": P(lambda x: x[-3:] + x[:3], matrix),
    "last": P(lambda x: x[-1] + x[x.shape[0] // 2], matrix),
    "columns": P(lambda x: x[:, -x.shape[0] // 2 :].sum(1), square, tol=LOOSE),
    "movedim": P(
        lambda x: x.movedim(-1, 0).reshape(x.shape[3], -1).sum(1), image, SIDES, tol=LOOSE
    ),
    "squeeze": P(lambda x: x[:, :1].squeeze(1) * x.unsqueeze(1).squeeze(1).amax(1), square),
    "select_scatter": P(lambda x: x.select_scatter(x[0] * 2, 0, x.shape[0] - 1), matrix),
    "slice_scatter": P(lambda x: x.slice_scatter(x[1:] * 2, 0, 0, x.shape[0] - 1), matrix),
    "diagonal_scatter": P(lambda x: x.diagonal_scatter(x[:, 0] * 2), square),
    "channel_shuffle": P(
        lambda x: x.view(2, 3, 2, x.shape[2] // 2, -1).transpose(2, 3).reshape(6, -1) + 1,
        image,
        EVEN[:5],
    ),
    "window_partition": P(
        lambda x: (
            x.view(x.shape[0] // 4, 4, x.shape[1] // 4, 4).transpose(1, 2).reshape(-1, 16).exp()
        ),
        lambda n: [uniform(n, 2 * n)],
        FOURS[:5],
    ),
}

JOINS: dict[str, Program] = {
    "lengths": P(lambda x, y: torch.cat([x, y, x[1:]]) * 2, pair),
    "columns": P(lambda x, y: torch.cat([x.t(), y.t()], 1).sum(1), pair, tol=LOOSE),
    "then_slice": P(lambda x, y: torch.cat([x, y])[x.shape[0] - 1 :] + 1, pair),
    "computed": P(
        lambda x, y: torch.cat([x.relu(), y.exp(), x.new_zeros(x.shape[0], 6)]).amax(1), pair
    ),
    "stack": P(lambda x: torch.stack([x, x * 2, x + 1], 1).flatten(0, 1), matrix),
    "rotate_halves": P(
        lambda x: torch.cat([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], -1), wide
    ),
    "pad_by_size": P(lambda x: F.pad(x, (0, 0, x.shape[0] // 2, 1), value=2.0) + 1, matrix),
    "pad_to_multiple": P(
        lambda x: F.pad(x, (0, (-x.shape[0]) % 8)).view(-1, 8).sum(1), row, graphs=None
    ),
    "pad_negative": P(lambda x: F.pad(x, (-1, 2, -2, -1)) * 2, matrix),
    "pad_reflect": P(lambda x: F.pad(x, (2, 1, 3, 2), mode="reflect") * 2, image, SIDES),
    "pad_replicate": P(lambda x: F.pad(x, (2, 1, 3, 2), mode="replicate"), image, SIDES),
    "pad_circular": P(lambda x: F.pad(x, (2, 1, 3, 2), mode="circular"), image, SIDES),
    "block_diagonal": P(lambda x: torch.block_diag(x, x[:2]), matrix),
    "meshgrid": P(
        lambda x: torch.stack(
            torch.meshgrid(torch.arange(x.shape[0]), torch.arange(x.shape[1]), indexing="ij")
        ),
        square,
    ),
    "cartesian": P(lambda x: torch.cartesian_prod(x, x[:3]), row),
}

MADE: dict[str, Program] = {
    "arange": P(lambda x: torch.arange(x.shape[0]) + x, row),
    "arange_step": P(lambda x: torch.arange(1, x.shape[0], 3, dtype=torch.float32) * 2, row),
    "arange_back": P(lambda x: torch.arange(x.shape[0], 0, -1) * x, row),
    "linspace": P(lambda x: torch.linspace(0, 1, x.shape[0]) + x, row, FEW, None),
    "full_of_size": P(lambda x: torch.full((x.shape[0], 2), x.shape[0]) + 1, row),
    "ones": P(lambda x: torch.zeros_like(x) + x.new_ones(x.shape[0], 1), matrix),
    "eye": P(lambda x: torch.eye(x.shape[0], x.shape[1]) + x, square),
    "mask_of_lengths": P(
        lambda m, x: torch.where(torch.arange(x.shape[1]) < m[:, None], x, 0.0).sum(1),
        lambda n: [torch.tensor([1, n // 2, n]), uniform(3, n)],
        tol=LOOSE,
    ),
    "causal_mask": P(
        lambda x: x.masked_fill(
            torch.ones(x.shape[0], x.shape[1], dtype=torch.bool).triu(1), float("-inf")
        ).softmax(-1),
        square,
    ),
    "positions": P(
        lambda x: (
            (torch.arange(x.shape[0])[:, None] / (10000 ** (torch.arange(0, 6, 2) / 6))).sin()
            + x[:, :3]
        ),
        matrix,
    ),
    "one_hot": P(lambda i: F.one_hot(i, 7) * 2, lambda n: [integers(n, low=0, high=7)]),
    "one_hot_of_size": P(
        lambda i: F.one_hot(i, i.shape[0] + 1).sum(0),
        lambda n: [integers(n, low=0, high=n)],
        FEW,
        None,
    ),
    "tril_indices": P(
        lambda x: torch.tril_indices(x.shape[0], x.shape[1]) + 1, square, FEW, graphs=None
    ),
    "relative_positions": P(
        lambda x: (torch.arange(x.shape[0])[None] - torch.arange(x.shape[0])[:, None]).clamp(-4, 4),
        row,
    ),
    "mean_by_hand": P(lambda x: x.sum() / x.numel() + x.shape[0] ** 0.5, square, tol=LOOSE),
    "sizes_in_python": P(
        lambda x: x * (x.shape[0] * 2 + 1) - x.shape[1] / 3 + max(x.shape[0], 9) - min(20, len(x)),
        square,
        tol=LOOSE,
    ),
    "size_returned": P(lambda x: (x.shape[0] * 2, x + 1, x.numel() // 3), square),
}

TABLES = {"views": VIEWS, "joins": JOINS, "made": MADE}
ALL = {f"{t}-{k}": p for t, rows in TABLES.items() for k, p in rows.items()}


@pytest.mark.parametrize("name", ALL)
def test_over_sizes(name: str) -> None:
    """Right at each size, from as few graphs as Dynamo makes."""
    run(ALL[name])
