"""Values of half types that are compared with copies and extremes of themselves."""

from __future__ import annotations

import pytest
import torch

from test.e2e.test_column_reductions import compiled


def diagonal(x):
    v = torch.asin(x)
    matrix = torch.diag_embed(v)
    return matrix, matrix < v, matrix - v


def stacked(x):
    v = torch.asin(x)
    both = torch.stack([v, v])
    return both, both == v


def records(x):
    v = torch.asin(x)
    best, _ = v.cummax(-1)
    return best, best == v


def rests(x):
    v = torch.asin(x)
    both = torch.stack([v, v])
    return both, torch.remainder(both, v), torch.fmod(both, v)


def wholes(x):
    v = torch.asin(x)
    both = torch.stack([v, v])
    return both, both // v


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("fn", [diagonal, stacked, records, rests, wholes])
def test_equal_to_itself(fn, dtype):
    x = torch.linspace(-0.9, 0.9, 7).to(dtype)
    for ours, eager in zip(compiled(fn)(x)[1:], fn(x)[1:], strict=True):
        torch.testing.assert_close(ours, eager, rtol=0, atol=0, equal_nan=True)
