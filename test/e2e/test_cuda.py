"""Programs and models through the Triton emitter on a GPU, against eager. Skipped without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
STRICT: dict[str, Any] = {"strict": True}

Program = Callable[..., Any]

PROGRAMS: dict[str, tuple[Program, list[tuple[int, ...]]]] = {
    "add_relu_mul": (lambda x, y: torch.relu(x + y) * 2, [(1024, 1024), (1024, 1024)]),
    "chain": (lambda x: torch.relu(x.sin() + 1), [(1024, 1024)]),
    "epilogue": (lambda x: torch.relu((x.sin() + 1).sum(1)) * 2, [(1024, 1024)]),
    "wall": (lambda x: torch.relu(x.sin() + x.sin().sum()), [(1024, 1024)]),
    "mismatch": (lambda x: (x.sin(), x.t().cos().contiguous()), [(1024, 1024)]),
    "softmax": (lambda x: x.softmax(-1), [(64, 1024)]),
    "softmax_long": (lambda x: x.softmax(-1), [(16, 50257)]),
    "layer_norm": (lambda x: F.layer_norm(x, (1024,)), [(64, 1024)]),
    "columns": (lambda x: (x.sum(0), x.var(0), x.amax(0)), [(4096, 768)]),
    "arg": (lambda x: (x.argmax(1), x.argmin(0), x.argmax()), [(300, 1000)]),
    "scan": (lambda x: (x.cumsum(1), x.cumsum(0)), [(64, 3000)]),
    "gelu": (lambda x: (F.gelu(x), x.tanh(), x.sigmoid(), torch.log1p(x.abs())), [(513, 1027)]),
    "cat": (lambda x, y: torch.cat([x, y], 1).relu(), [(33, 70), (33, 129)]),
    "pad": (lambda x: F.pad(x, (1, 2, 3, 4)) * 2, [(33, 65)]),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), [(8, 16, 28, 28)]),
    "group_norm": (lambda x: F.group_norm(x, 4), [(8, 16, 28, 28)]),
    "pool": (lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 3)), [(4, 8, 30, 30)]),
}


def agree(program: Program, make: Callable[[], list[Any]], tolerance: float = 1e-4) -> None:
    """Compiled equals eager on fresh inputs."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    compiled: Any = torch.compile(program, backend="minductor", options=STRICT)
    args = make()
    want = program(*[a.clone() for a in args])
    got = compiled(*[a.clone() for a in args])
    torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)


@needs_gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, dtype: torch.dtype) -> None:
    """Every program equals eager in f32 and bf16."""
    program, shapes = PROGRAMS[name]
    half = dtype == torch.bfloat16
    if half and name in ("arg", "scan", "wall"):
        pytest.skip("ties and long sums in bf16 are not comparable point by point")
    agree(
        program,
        lambda: [torch.randn(s, device="cuda").to(dtype) for s in shapes],
        3e-2 if half else 1e-3,
    )


@needs_gpu
def test_indexing() -> None:
    """Gathers, scatters, embedding and losses with integer inputs."""
    x = torch.randn(64, 100, device="cuda")
    i = torch.randint(-64, 64, (50,), device="cuda")
    t = torch.randint(0, 100, (64,), device="cuda")
    agree(lambda x, i: x[i] * 2, lambda: [x, i])
    agree(lambda x, i: x.index_put((i,), x[:50], accumulate=True), lambda: [x, i])
    agree(lambda x, t: F.cross_entropy(x, t), lambda: [x, t])
    agree(lambda x, t: x.gather(1, t[:, None]), lambda: [x, t])


@needs_gpu
def test_index_fault_is_reported() -> None:
    """An index outside its dimension is an error, not a read of other memory."""
    code = (
        "import torch\n"
        "f = torch.compile(lambda x, i: x[i] * 2, backend='minductor', options={'strict': True})\n"
        "f(torch.randn(4, device='cuda'), torch.tensor([9], device='cuda'))\n"
        "torch.cuda.synchronize()"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode != 0


def train_step(model: nn.Module, run: Program, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Loss and gradients of one step."""
    model.zero_grad(set_to_none=True)
    loss = run(**inputs).loss
    loss.backward()
    found = {"loss": loss.detach().clone()}
    found |= {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    return found


def _gpt2() -> tuple[nn.Module, dict[str, Tensor]]:
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        n_layer=4, n_head=4, n_embd=256, vocab_size=1000, n_positions=128,
        attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0,
    )  # fmt: skip
    ids = torch.randint(0, 1000, (4, 128), device="cuda")
    return transformers.GPT2LMHeadModel(config).cuda(), {"input_ids": ids, "labels": ids}


def _bert() -> tuple[nn.Module, dict[str, Tensor]]:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        num_hidden_layers=4, hidden_size=256, num_attention_heads=4, intermediate_size=1024,
        vocab_size=1000, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    ids = torch.randint(0, 1000, (4, 128), device="cuda")
    return transformers.BertForMaskedLM(config).cuda(), {"input_ids": ids, "labels": ids}


@needs_gpu
@pytest.mark.parametrize("make", [_gpt2, _bert], ids=["gpt2", "bert"])
def test_training_step(make: Callable[[], tuple[nn.Module, dict[str, Tensor]]]) -> None:
    """Loss and all gradients of a training step equal eager's."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model, inputs = make()
    want = train_step(model, model, inputs)
    graphs: list[str] = []
    options = STRICT | {"report": lambda r: graphs.append(r["kind"])}
    compiled: Any = torch.compile(model, backend="minductor", options=options)
    got = train_step(model, compiled, inputs)
    assert "forward" in graphs
    assert "backward" in graphs
    for name, value in want.items():
        torch.testing.assert_close(got[name], value, rtol=2e-3, atol=2e-4, msg=name)


@needs_gpu
def test_cpu_tensors_beside_cuda_ones_stay_calls() -> None:
    """Positions made on the CPU, indices there, a result on the CPU: one graph, right values."""

    def program(x: Tensor, table: Tensor, index: Tensor) -> tuple[Tensor, ...]:
        where = torch.arange(x.shape[0]).to(x.device)
        mean = table.mean(0)
        return x * where[:, None] + table[index].to(x.device), mean, x[index].sum()

    x, table = torch.randn(8, 16, device="cuda"), torch.randn(32, 16)
    index = torch.tensor([3, 1, 0, 7, 7, 2, 5, 4])
    compiled: Any = torch.compile(program, backend="minductor", options=STRICT)
    torch.testing.assert_close(compiled(x, table, index), program(x, table, index))
