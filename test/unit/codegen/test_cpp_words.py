"""Elements of two bytes that lie apart: gathers by index, and picks that are widened at once."""

from __future__ import annotations

import ctypes
import mmap
import platform

import pytest
import torch
from cpp_build import ISAS, build_code

HERE = ISAS if platform.machine() == "x86_64" else ["native"]
LANES = (1, 8, 16, 32, 64)
PICKS = ((2, 1, 0), (1, 2, 0), (1, 2, 1), (3, 2, 0), (-1, 1, 0))


def _gather(lanes: int) -> str:
    return (
        f'extern "C" void gather{lanes}(const u16 *x, const i64 *j, u16 *o, i64 n) '
        f"{{ lane_loop<{lanes}, 1, 1>(0, n, [&](auto L, i64 i) HOT "
        f"{{ st(L, o + i, ld_at(L, x, ld(L, j + i))); }}); }}"
    )


def _pick(at: int, lanes: int) -> str:
    a, b, c = PICKS[at]
    return (
        f'extern "C" void pick{at}_{lanes}(const u16 *x, f32 *o, i64 n) '
        f"{{ lane_loop<{lanes}, 1, 1>(0, n, [&](auto L, i64 i) HOT "
        f"{{ st(L, o + i, bf16_to(ld_words<{a}, {b}, {c}>(L, x + i * {a} / {b}))); }}); }}"
    )


@pytest.fixture(scope="module", params=HERE)
def lib(request, tmp_path_factory) -> ctypes.CDLL:
    code = [_gather(n) for n in LANES]
    code += [_pick(at, n) for at in range(len(PICKS)) for n in LANES if n > 1]
    return build_code("\n".join(code), tmp_path_factory.mktemp("words"), request.param)


def _pointers(*tensors: torch.Tensor) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(t.data_ptr()) for t in tensors]


def _at_the_end(count: int) -> torch.Tensor:
    """Elements of two bytes, the last of which is the last of mapped memory."""
    size = mmap.PAGESIZE * (1 + count * 2 // mmap.PAGESIZE)
    whole = mmap.mmap(-1, size + mmap.PAGESIZE)
    out = torch.frombuffer(whole, dtype=torch.int16)[: size // 2][-count:]
    libc = ctypes.CDLL(None)
    end = out.data_ptr() + 2 * count
    assert libc.mprotect(ctypes.c_void_p(end), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    return out.copy_(torch.randint(-(2**15), 2**15, (count,)))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("shift", [0, 1])
def test_gathered_words(lib, lanes, shift):
    """At even and odd addresses, up to the last element before a page that must not be touched."""
    x = _at_the_end(901)[shift:]
    j = torch.randint(0, len(x), (777,))
    j[0], j[100] = len(x) - 1, 0
    out = torch.empty(777, dtype=torch.int16)
    getattr(lib, f"gather{lanes}")(*_pointers(x, j, out), ctypes.c_longlong(777))
    assert torch.equal(out, x[j])


@pytest.mark.parametrize("lanes", [n for n in LANES if n > 1])
@pytest.mark.parametrize("at", range(len(PICKS)))
def test_picks_are_widened(lib, at, lanes):
    """As an index says, in whole vectors and a tail, no element beyond the last one touched."""
    a, b, c = PICKS[at]
    n = 5 * lanes + lanes // 2 + 2
    j = torch.tensor([i // lanes * lanes * a // b for i in range(n)])
    j += torch.tensor([a * (i % lanes) if a < 0 else (a * (i % lanes) + c) // b for i in range(n)])
    x = _at_the_end(int(j.max() - j.min()) + 1)
    first = ctypes.c_void_p(x.data_ptr() - 2 * int(j.min()))
    out = torch.empty(n)
    getattr(lib, f"pick{at}_{lanes}")(first, *_pointers(out), ctypes.c_longlong(n))
    wanted = x.view(torch.bfloat16).float()[j - j.min()]
    assert torch.equal(out.view(torch.int32), wanted.view(torch.int32))
