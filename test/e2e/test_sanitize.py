"""Generated code under the compiler's sanitizers, and with vector instructions taken away."""

from __future__ import annotations

import shutil

import pytest
import torch

from minductor.tools.sanitize.__main__ import sanitize
from minductor.tools.sanitize.builds import ISA_FLAGS, KINDS, of_device, reports
from minductor.tools.sanitize.child import compiled, results
from minductor.tools.sanitize.programs import PROGRAMS, SHARD

GCC = pytest.mark.skipif(shutil.which("g++") is None, reason="the flags are those of g++")


@GCC
@pytest.mark.parametrize("kind", of_device("cpu"))
def test_an_update_of_rows(kind):
    """The planted fault is seen, and nothing in rows that threads add to."""
    outcome = sanitize(kind, KINDS[kind].isas[-1], "index_put")
    assert outcome.ran == 1
    assert not outcome.faults, outcome.faults


@GCC
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "isa"), [(n, i) for n in of_device("cpu") for i in KINDS[n].isas])
def test_a_shard(kind, isa):
    outcome = sanitize(kind, isa, "shard")
    assert outcome.ran == len(SHARD)
    assert not outcome.faults, outcome.faults


def test_reports_of_other_code_do_not_count(tmp_path):
    mine = f"==1==ERROR: AddressSanitizer: heap-buffer-overflow\n  #0 k {tmp_path}/lib.so\n=====\n"
    other = "==1==ERROR: AddressSanitizer: heap-buffer-overflow\n  #0 at::add libtorch.so\n=====\n"
    assert len(reports(KINDS["address"], other + mine, tmp_path)) == 1
    fault = "========= Invalid __global__ write of size 4 bytes\n=========     at {}+0x60\n"
    both = fault.format("triton_red_fused_sum_0") + fault.format("void at::native::add")
    assert len(reports(KINDS["memcheck"], both, tmp_path)) == 1
    line = f"{tmp_path}/k.cpp:3:5: runtime error: index 16 out of bounds\n"
    assert (
        len(reports(KINDS["undefined"], line + line + "/usr/x.cpp: runtime error: \n", tmp_path))
        == 1
    )


def same(name, isa, monkeypatch):
    """Scheduled for one width, built with all of the machine's instructions and with its own alone.

    Without the instruction for x * y + z the polynomials round twice; tanh is cut into pieces by
    AVX-512 alone, which moves its last place; and functions of kernels that store bf16 start from
    the machine's own estimates, a small part of bf16's last place apart.
    """
    monkeypatch.delenv("CXX", raising=False)
    program, options = PROGRAMS[name], {"isa": isa}
    whole = results(program, compiled(program, options))
    monkeypatch.setenv("CXX", " ".join(["g++", *ISA_FLAGS[isa]]))
    near = 2e-6 if isa == "portable" else 5e-7 if "tanh" in name else 0
    for a, b in zip(results(program, compiled(program, options)), whole, strict=True):
        unit = 2.0**-7 if a.dtype == torch.bfloat16 else near
        torch.testing.assert_close(a, b, rtol=unit, atol=near, equal_nan=True)


QUICK = ("gelu_tanh", "max_pool", "batch_norm", "argmax")


@GCC
@pytest.mark.parametrize("isa", ["avx2", "portable"])
@pytest.mark.parametrize("name", QUICK)
def test_fewer_instructions(name, isa, monkeypatch):
    same(name, isa, monkeypatch)


@GCC
@pytest.mark.slow
@pytest.mark.parametrize("isa", ["avx2", "portable"])
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in QUICK])
def test_every_program_with_fewer_instructions(name, isa, monkeypatch):
    same(name, isa, monkeypatch)
