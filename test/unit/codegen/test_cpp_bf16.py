"""f32 to bf16 in vectors of every width: the bits that PyTorch stores, also of what is rare."""

from __future__ import annotations

import ctypes
import platform

import pytest
import torch
from cpp_build import ISAS, build_code

LANES = (1, 8, 16, 32, 64)
HERE = ISAS if platform.machine() == "x86_64" else ["native"]


@pytest.fixture(scope="module", params=HERE)
def lib(request, tmp_path_factory) -> ctypes.CDLL:
    code = [
        f'extern "C" void {name}{n}(const f32 *x, {kind} *o, i64 n) '
        f"{{ lane_loop<{n}, 1, 1>(0, n, [&](auto L, i64 j) HOT "
        f"{{ st(L, o + j, {name}(ld(L, x + j))); }}); }}"
        for n in LANES
        for name, kind in (("to_bf16", "u16"), ("as_bf16", "f32"))
    ]
    return build_code("\n".join(code), tmp_path_factory.mktemp("bf16"), request.param)


def points() -> torch.Tensor:
    """Random bits, then ties, subnormals, infinities and NaNs, each among ordinary numbers."""
    bits = torch.randint(-(2**31), 2**31, (60000,)).to(torch.int32)
    ends = [0x7FFFFFFF, 0x7F800001, 0x7FC00000, 0x7F800000, 0x7F7FFFFF, 1, 0x7FFFFF, 0x8000, 0]
    ties = [0x3F808000, 0x3F818000, 0x3F807FFF, 0x3F808001, 0x00008000, 0x00018000]
    rare = torch.tensor([*ends, *ties], dtype=torch.int32)
    among = torch.full((len(rare) * 2, 67), 0x3F812345, dtype=torch.int32)
    among[:, 5] = torch.cat([rare, rare | torch.tensor(-(2**31), dtype=torch.int32)])
    among[:, 40] = among[:, 5]
    return torch.cat([bits, among.flatten()]).view(torch.float32)


@pytest.mark.parametrize("lanes", LANES)
def test_bits_are_those_of_torch(lib, lanes):
    x = points()
    out, back = torch.empty_like(x, dtype=torch.int16), torch.empty_like(x)
    for name, to in (("to_bf16", out), ("as_bf16", back)):
        fn = getattr(lib, f"{name}{lanes}")
        fn(*(ctypes.c_void_p(t.data_ptr()) for t in (x, to)), ctypes.c_longlong(x.numel()))
    exact = x.to(torch.bfloat16)
    nan = x.isnan()
    assert torch.equal(out[~nan], exact.view(torch.int16)[~nan])
    assert (out[nan] == 0x7FC0).all()
    assert torch.equal(back[~nan].view(torch.int32), exact.float()[~nan].view(torch.int32))
    assert back[nan].isnan().all()
