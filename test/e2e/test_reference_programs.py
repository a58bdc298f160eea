"""The reference programs under `preset=seed`: their log lines word for word, and their kernels."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from child import run_child
from harness import check, compiled, ours_only, uniform
from torch import Tensor


def simple(x: Tensor, y: Tensor) -> Tensor:
    return torch.relu(x + y) * 2


def chain(x: Tensor) -> Tensor:
    return torch.relu(torch.sin(x) + 1)


def epilogue(x: Tensor) -> Tensor:
    z = torch.sin(x) + 1
    return torch.relu(z.sum(dim=1)) * 2


def wall(x: Tensor) -> Tensor:
    y = torch.sin(x)
    return torch.relu(y + y.sum())


def mismatch(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.sin(x), torch.cos(x.t()).contiguous()


def softmax(x: Tensor) -> Tensor:
    return torch.softmax(x, -1)


def layer_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (1024,))


@dataclass(frozen=True)
class Reference:
    """Source of the program, lines its log must hold, lines it must not, kernels it must give."""

    source: str
    lines: tuple[str, ...]
    absent: tuple[str, ...]
    kernels: tuple[str, ...]
    shape: str = "1024, 1024"


GROUP_0 = "op0.group.iteration = "
REFERENCES = {
    "chain": Reference(
        "torch.relu(torch.sin(x) + 1)",
        (
            "===== attempting fusion (1/10): 1 nodes =====",
            "SchedulerNode(name='op0'), Pointwise(['[1024, 1024]', "
            "'origins=OrderedSet([relu, add, sin])'])",
            "found 0 possible fusions",
        ),
        ("fusing op0",),
        ("cpp_fused_add_relu_sin_0",),
    ),
    "epilogue": Reference(
        "torch.relu((torch.sin(x) + 1).sum(dim=1)) * 2",
        (
            "===== attempting fusion (1/10): 2 nodes =====",
            "op0.writes = [MemoryDep('buf0', c0, {c0: 1024})]",
            "op1.unmet_dependencies = [MemoryDep('buf0', c0, {c0: 1024})]",
            "op0 and op1 has 4096 shared data",
            "found 1 possible fusions",
            "fusing op0 with op1",
            "completed fusion round (1/10): fused 2 nodes into 1 nodes",
        ),
        ("cannot fuse op0 with op1",),
        ("cpp_fused_add_mul_relu_sin_sum_0",),
    ),
    "wall": Reference(
        "(lambda y: torch.relu(y + y.sum()))(torch.sin(x))",
        (
            "===== attempting fusion (1/10): 2 nodes =====",
            "op0.met_dependencies = [MemoryDep('arg0_1', c0, {c0: 1048576})]",
            GROUP_0 + "((), (1048576,))",
            "op1.group.iteration = ((1048576,), ())",
            "op0 and op1 has 4194308 shared data",
            "cannot fuse op0 with op1: ",
            "found 0 possible fusions",
        ),
        ("fusing op0",),
        ("cpp_fused_sin_sum_0", "cpp_fused_add_relu_sin_1"),
    ),
    "mismatch": Reference(
        "(torch.sin(x), torch.cos(x.t()).contiguous())",
        (
            "MemoryDep('arg0_1', c0, {c0: 1048576})",
            "MemoryDep('arg0_1', c0 + 1024*c1, {c0: 1024, c1: 1024})",
            "op0 and op1 has 0 shared data",
            "cannot fuse op0 with op1: no shared data",
        ),
        ("fusing op0",),
        ("cpp_fused_sin_0", "cpp_fused_1"),
    ),
    "softmax": Reference("torch.softmax(x, -1)", (), (), ("cpp_fused__softmax_0",), "64, 1024"),
}

SCRIPT = """
for name, source, shape, options in {programs}:
    torch._dynamo.reset()
    x = torch.randn(*shape)
    print("=== begin", name, flush=True)
    f = eval("lambda x: " + source)
    compile(f, options=options)(x)
    print("=== end", name, flush=True)
"""
EVERY_LOG = "aten,ir_pre_fusion,ir_post_fusion,fusion,kernel,output_code"


def run_logged(folder: Path, logs: str, options: dict[str, str]) -> dict[str, str]:
    rows = [
        (name, r.source, tuple(map(int, r.shape.split(", "))), options)
        for name, r in REFERENCES.items()
    ]
    env = {"MINDUCTOR_LOGS": logs} if logs else {}
    script = SCRIPT.format(programs=rows)
    code, out = run_child(script, MINDUCTOR_CACHE_DIR=str(folder), **env)
    assert code == 0, out[-3000:]
    found = re.findall(r"=== begin (\w+)\n(.*?)=== end \1\n", out, re.DOTALL)
    return dict(found)


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each program logs with every log on."""
    return run_logged(tmp_path_factory.mktemp("logged"), EVERY_LOG, {"preset": "seed"})


@ours_only
@pytest.mark.parametrize("name", REFERENCES)
def test_lines_of_the_logs(logged: dict[str, str], name: str) -> None:
    reference, text = REFERENCES[name], logged[name]
    for line in reference.lines:
        assert line in text, f"no {line!r} in\n{text}"
    for line in reference.absent:
        assert line not in text, f"{line!r} in\n{text}"


@ours_only
@pytest.mark.parametrize("name", REFERENCES)
def test_kernels_by_name(logged: dict[str, str], name: str) -> None:
    names = set(re.findall(r"\bcpp_fused_\w*\d+\b", logged[name]))
    assert len(names) == len(REFERENCES[name].kernels), names


@ours_only
def test_logs_through_options(tmp_path: Path, logged: dict[str, str]) -> None:
    options = {"preset": "seed", "logs": "fusion"}
    text = run_logged(tmp_path, "", options)
    assert "op0 and op1 has 4096 shared data" in text["epilogue"]
    assert "#include" not in text["epilogue"]
    assert 'extern "C"' not in text["epilogue"]


def kernels_of(fn: object, *args: Tensor) -> list[dict[str, object]]:
    subject = compiled(fn, options={"preset": "seed"})
    subject(*args)
    assert len(subject.reports) == 1
    return subject.reports[0]["kernels"]


@ours_only
@pytest.mark.parametrize(
    ("fn", "names"),
    [
        (chain, ["cpp_fused_add_relu_sin_0"]),
        (epilogue, ["cpp_fused_add_mul_relu_sin_sum_0"]),
    ],
)
def test_one_kernel_of_this_name(fn: object, names: list[str]) -> None:
    assert [k["name"] for k in kernels_of(fn, uniform(1024, 1024))] == names


@ours_only
def test_simple_program_is_one_kernel() -> None:
    kernels = kernels_of(simple, uniform(1024), uniform(1024))
    assert [k["name"] for k in kernels] == ["cpp_fused_add_mul_relu_0"]


@ours_only
@pytest.mark.parametrize(("fn", "count"), [(wall, 2), (mismatch, 2), (softmax, 1), (layer_norm, 1)])
def test_number_of_kernels(fn: object, count: int) -> None:
    shape = (64, 1024) if fn in (softmax, layer_norm) else (1024, 1024)
    assert len(kernels_of(fn, uniform(*shape))) == count


@ours_only
@pytest.mark.parametrize("fn", [softmax, layer_norm])
def test_each_row_is_read_once(fn: object) -> None:
    subject = compiled(fn, options={"preset": "seed"})
    subject(uniform(64, 1024))
    ledger = subject.reports[0]["bytes"]
    assert ledger["planned"] == ledger["floor"] == 2 * 64 * 1024 * 4


@ours_only
@pytest.mark.parametrize(("size", "threads"), [(1024, False), (1048576, True)])
def test_threads_only_where_they_pay(tmp_path: Path, size: int, threads: bool) -> None:
    script = f"""
torch.set_num_threads(2)
f = compile(lambda x, y: torch.relu(x + y) * 2, options={{"preset": "seed"}})
f(torch.ones({size}), torch.ones({size}))
"""
    code, out = run_child(script, MINDUCTOR_CACHE_DIR=str(tmp_path), MINDUCTOR_LOGS="output_code")
    assert code == 0, out
    assert ("#pragma omp parallel" in out) == threads


PROGRAMS = [simple, chain, epilogue, wall, mismatch, softmax, layer_norm]


@pytest.mark.parametrize("fn", PROGRAMS)
def test_values(fn: object) -> None:
    shape = (64, 1024) if fn in (softmax, layer_norm) else (1024, 1024)
    args = [uniform(*shape, seed=s) for s in range(2 if fn is simple else 1)]
    # The wall adds a sum of a million terms to each element.
    check(fn, lambda: args, tol=(1e-4, 2e-3) if fn is wall else None, options={"preset": "seed"})
