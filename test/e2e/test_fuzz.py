"""Random programs against eager: a fixed shard, and the fuzzer itself on a planted fault."""

import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import torch
from harness import ours_only
from torch import Tensor

from minductor.codegen.cpp import module as cpp_module
from minductor.tools.fuzz import run as fuzz_run
from minductor.tools.fuzz.__main__ import main, options_of
from minductor.tools.fuzz.check import Checker
from minductor.tools.fuzz.draw import Wanted, program_of
from minductor.tools.fuzz.families import FAMILIES
from minductor.tools.fuzz.ideal import Ideal, Kept
from minductor.tools.fuzz.program import Input, Program
from minductor.tools.fuzz.run import Campaign
from minductor.tools.fuzz.shrink import shrink
from minductor.validate.tolerance import Nudge

pytestmark = ours_only


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_shard_is_clean(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_run, "MOST_SHRINKS", 20)
    finds = list(Campaign(12, seed, validate=25).finds())
    assert not finds, "\n".join(f"{f.fault}\n{f.program.script({}, '')}" for f in finds)


def test_programs_are_the_same_for_a_seed() -> None:
    first, second = (
        [program_of(Random(k), Wanted(dynamic=50)).source() for k in range(12)] for _ in range(2)
    )
    assert first == second
    assert len(set(first)) > 9


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_writes_programs_that_eager_runs(family: str) -> None:
    lines = 0
    for k in range(12):
        program = program_of(Random(k), Wanted(families=(family,), grads=0))
        program.function()(*program.make())
        lines += len(program.lines)
    assert lines > 4


def test_a_planted_fault_is_found_made_small_and_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = cpp_module.emit_cpp
    wrong = re.compile(r"(auto v_\d+ = \(?[^;]*?) \* ")
    monkeypatch.setattr(cpp_module, "emit_cpp", lambda m: wrong.sub(r"\1 + ", right(m)))
    monkeypatch.setenv("MINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(fuzz_run, "MOST_SHRINKS", 15)
    flags = "--n 1 --seed 5 --families pointwise --grads 0 --dynamic 0 --validate 0 --keep"
    assert main([*flags.split(), str(tmp_path)]) == 1
    assert "find 1 (seed 5): value: result" in capsys.readouterr().out
    monkeypatch.undo()
    script = next(tmp_path.glob("find-*.py"))
    text = script.read_text()
    assert len(re.findall(r"^    v\d", text, re.MULTILINE)) <= 9
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "same" in done.stdout  # by then nothing is wrong any more
    assert "DIFFERS" not in done.stdout


def test_a_program_shrinks_to_what_fails() -> None:
    inputs = tuple(Input(f"x{k}", torch.float32, (5, 7), "strided") for k in range(3))
    lines = tuple(f"v{k} = x{k % 3} * {k}" for k in range(8))
    program = Program(inputs, lines, ("v1", "v5", "v7"), dynamic=True)
    small = shrink(program, lambda p: "v5 = x2 * 5" in p.lines and "v5" in p.returns, 200)
    assert small.lines == ("v5 = x2 * 5",)
    assert small.returns == ("v5",)
    assert [one.layout for one in small.inputs] == ["dense"]
    assert not small.dynamic


def test_rounding_inside_eagers_kernels_is_no_fault() -> None:
    x = Input("x", torch.bfloat16, (33, 2), seed=10)
    program = Program((x,), ("y = x.sinh() // 0.3", "z = y.log_softmax(1)"), ("z",))
    assert Checker().fault(program) is None
    f = program.function()
    with Ideal():
        meant = f(*program.make())[0]
    assert not torch.equal(meant, f(*program.make())[0])


def test_half_types_kept_in_f32_are_no_fault() -> None:
    """tan of a large number: where a bf16 is rounded before decides over the outcome."""
    x = torch.randn(500, generator=torch.Generator().manual_seed(3)).to(torch.bfloat16)

    def f(x: Tensor) -> Tensor:
        x.neg_()
        return torch.tan((x**-3).view(50, 10)).float()

    with Kept():
        kept = f(x.clone())
    assert torch.equal(kept.view(-1), torch.tan((-x).float() ** -3))
    one = Input("x", torch.bfloat16, (16, 17), seed=31, values="special")
    program = Program((one,), ("y = torch.tan(x ** -3)", "z = y.double() < 1e-3"), ("z",))
    assert Checker().fault(program) is None


def test_expanded_results_are_kept_beside() -> None:
    """A result whose elements share memory cannot be written, but is known."""
    x = torch.tensor([[1.001], [2.0]]).half()
    with Kept():
        wide = (x * x).expand(2, 3) * 1.5
    assert torch.equal(wide, ((x.float() ** 2).expand(2, 3) * 1.5).half())


@pytest.mark.parametrize("mode", [Ideal, Kept])
def test_a_better_result_moves_by_what_its_op_moves(mode: type[Ideal | Kept]) -> None:
    """A nudge inside reaches the result, and nothing that stood in memory before does."""
    x = torch.linspace(1.0, 2.0, 64).half()

    def nudged() -> Tensor:
        with Nudge(3), mode():
            return x.exp() * 1.5

    with mode():
        still = x.exp() * 1.5
    first = nudged()
    assert not torch.equal(first, still)
    assert float((first / still - 1).abs().max()) < 4 * torch.finfo(torch.float16).eps
    for _ in range(20):
        torch.full((64,), 6e4, dtype=torch.float16)  # leaves its values to whoever comes next
        assert torch.equal(nudged(), first)


def test_fractions_of_large_half_values_are_no_fault() -> None:
    """bf16 numbers above 256 are whole, so that no nudge gives them the fraction that f32 keeps."""
    inputs = (
        Input("x1", torch.bfloat16, (16, 7), values="special", seed=85),
        Input("x3", torch.bfloat16, (16, 7), seed=32),
    )
    lines = ("v5 = x3 // 0.3", "v11 = torch.cosh(v5)", "v15 = torch.remainder(v11, x1)")
    assert Checker().fault(Program(inputs, lines, ("v15",)), validate=True) is None


def test_what_a_copy_overwrites_does_not_count() -> None:
    into = torch.full((8,), 1e30)
    with Nudge(0):
        into.copy_(torch.full((8,), 1 / 3, dtype=torch.float64))
    assert float((into * 3 - 1).abs().max()) < 1e-6


def test_a_shard_is_clean_with_everything_fused() -> None:
    """Whatever is legal in one kernel, whatever it costs."""
    options = {"pipeline": "default-cpu{preset=most max-peak=none}"}
    finds = list(Campaign(10, 5, options=options).finds())
    assert not finds, "\n".join(f"{f.fault}\n{f.program.script(options, '')}" for f in finds)


def test_tensors_without_memory_are_left_alone() -> None:
    """Autograd adds zeros that have none, and asks for shapes with meta tensors."""
    zero = torch._efficientzerotensor((3,))
    with Nudge(0):
        assert (torch.ones(3) + zero).shape == (3,)
        assert torch._efficientzerotensor((2,))._is_zerotensor()


def test_sums_of_large_whole_numbers_hang_on_their_order() -> None:
    x = Input("x", torch.int64, (4, 8, 16), seed=43, values="special")
    lines = ("y = x.sum(-3, dtype=torch.float64)", "z = torch.logical_or(x % ((x & 7) + 1), y)")
    assert Checker().fault(Program((x,), lines, ("z",))) is None


def test_options_of_the_command_line() -> None:
    assert options_of("isa=avx2,threads=1,emulate=true") == {
        "isa": "avx2",
        "threads": 1,
        "emulate": True,
    }
    pipeline = options_of("without=kernel-peel+kernel-vectorize")["pipeline"]
    assert "kernel-threads" in pipeline
    assert "kernel-peel" not in pipeline
    with pytest.raises(ValueError, match="no pass 'kernel-pel'"):
        options_of("without=kernel-pel")
