"""Run by test_triton.py in a process of its own: Triton's mode is fixed when it is imported.

python triton_child.py interpret    programs through Triton's interpreter on CPU tensors
python triton_child.py dynamic      some of them with symbolic sizes, rows short and long
python triton_child.py elementary   functions of f32 over all sizes of argument, special ones too
python triton_child.py cubin        the kernels of programs compiled for sm_90, no device needed
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

if sys.argv[1] in ("interpret", "dynamic", "elementary"):
    os.environ["TRITON_INTERPRET"] = "1"

import torch
import torch.nn.functional as F

I64 = torch.tensor([3, -1, 0, 3, 5])

PROGRAMS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "pointwise": (lambda x, y: torch.relu(x + y) * 2, [(64, 100), (64, 100)]),
    "epilogue": (lambda x: torch.relu((x.sin() + 1).sum(1)) * 2, [(64, 100)]),
    "wall": (lambda x: torch.relu(x.sin() + x.sin().sum()), [(64, 100)]),
    "mismatch": (lambda x: (x.sin(), x.t().cos().contiguous()), [(64, 100)]),
    "softmax": (lambda x: x.softmax(-1), [(33, 100)]),
    "softmax_long": (lambda x: x.softmax(-1), [(2, 5000)]),
    "layer_norm": (lambda x: F.layer_norm(x, (100,)), [(33, 100)]),
    "columns": (lambda x: (x.sum(0), x.var(0), x.amax(0)), [(70, 33)]),
    "total": (lambda x: (x.sum(), x.amax(), x.argmax()), [(70, 100)]),
    "arg": (lambda x: (x.argmax(1), x.argmin(0)), [(33, 100)]),
    "scan": (lambda x: (x.cumsum(1), x.cumsum(0)), [(33, 100)]),
    "gather": (lambda x, i: x[i] * 2, [(8, 100), I64]),
    "accumulate": (
        lambda x, i: x.index_put((i,), x[:5] * 0 + 1, accumulate=True), [(8, 100), I64],
    ),
    "cat": (lambda x, y: torch.cat([x, y], 1).relu(), [(8, 20), (8, 13)]),
    "pad": (lambda x: F.pad(x, (1, 2, 3, 4)) * 2, [(8, 20)]),
    "group_norm": (lambda x: F.group_norm(x, 2), [(2, 8, 6, 6)]),
    "group_norm_long": (lambda x, w: F.group_norm(x, 2, w, w), [(1, 4, 96, 96), (4,)]),
    "max_pool": (lambda x: F.max_pool2d(x, 2), [(2, 3, 8, 8)]),
    "pools": (lambda x: (F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2)), [(2, 3, 14, 10)]),
    "upsample": (
        lambda x: (
            F.interpolate(x, scale_factor=2),
            F.interpolate(x, scale_factor=2, mode="bilinear") * 2,
        ),
        [(2, 3, 7, 5)],
    ),
    "bytes": (
        lambda u: (((u.float() - 127).relu() / 0.02).round() * 0.02).clamp(0, 255).to(torch.uint8),
        [torch.arange(256, dtype=torch.uint8)],
    ),
    "divided": (
        lambda x, y: (x / 3, y / x, (x * 0) / y, x / 0.0, -x / 4), [(8, 20), (8, 20)],
    ),
    "foreach": (
        lambda x, y, z: torch._foreach_mul(torch._foreach_add([x, y, z], 1.5), [2.0, 3.0, 4.0]),
        [(8, 20), (7,), (33, 100)],
    ),
    "integers": (lambda i: ((i * 3 + 1) // 2, i % 3, i << 2, i.bfloat16()), [I64]),
    "gelu": (lambda x: (F.gelu(x), x.tanh(), x.sigmoid(), torch.log1p(x.abs())), [(33, 100)]),
    "row_long": (lambda x: x.log_softmax(-1), [(2, 9000)]),
    "column_parts": (lambda x: (x.sum(0), *torch.var_mean(x, 0)), [(3000, 40)]),
    "parts": (lambda x: (x.flatten().logsumexp(0), *torch.var_mean(x)), [(90, 100)]),
    "batch_norm": (
        lambda x: F.batch_norm(x, None, None, training=True).relu(), [(16, 3, 14, 14)],
    ),
    "channels": (lambda x, y: (x.sum((0, 2, 3)), (x * y).sum((0, 2, 3))), [(16, 3, 14, 14)] * 2),
    "arg_nan": (lambda x: (x.argmax(1), x.argmin(1), x[0].argmax()), [(8, 20)]),
    "half": (
        lambda x: (F.gelu(x.tanh()), x.sigmoid() / 3, (x * 0.01).tanh(), x.softmax(-1)),
        [torch.linspace(-9, 9, 800).bfloat16().reshape(8, 100)],
    ),
    "spared": (
        lambda x, w, y: torch.where((y < 0.3)[:, None], x @ w, float("nan")),
        [(16, 40), (40, 64), (16,)],
    ),
    "nan": (lambda x: (x.amax(1), torch.maximum(x, x.flip(0))), [(8, 20)]),
}  # fmt: skip


def layer_norm_backward(g: Any, x: Any, w: Any, b: Any) -> Any:
    mean, rstd = x.mean(1, keepdim=True), x.var(1, keepdim=True).add(1e-5).rsqrt()
    shape, mask = [x.shape[1]], [True, True, True]
    return torch.ops.aten.native_layer_norm_backward(g, x, shape, mean, rstd, w, b, mask)


ROWS_AND_COLUMNS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "norm_backward": (layer_norm_backward, [(64, 100), (64, 100), (100,), (100,)]),
    "bias_gradient": (lambda g, x: ((d := g * (x > 0)), d.sum(0)), [(64, 48), (64, 48)]),
    "images": (lambda g: ((d := g.relu()) * 2, d.sum((0, 1))), [(8, 8, 48)]),
    "both_sums": (lambda x: (x.sum(1), x.sum(0), x.amax(0)), [(96, 40)]),
    "scaled_rows": (lambda x: ((s := x.softmax(1)), s.sum(0)), [(64, 70)]),
}
PROGRAMS.update(ROWS_AND_COLUMNS)
PAD = torch.ops.aten.reflection_pad1d_backward.default
REPLICATE = torch.ops.aten.replication_pad2d_backward.default
COLLIDING: dict[str, Any] = {
    "mirrored": (lambda g, x: PAD(g, x, [3, 2]), [(2, 9), (2, 4)]),
    "replicated": (lambda g, x: REPLICATE(g, x, [2, 1, 0, 3]), [(2, 6, 7), (2, 3, 4)]),
}
"""Several elements of a row are added to one."""
PROGRAMS.update(COLLIDING)


def inputs(specs: list[Any]) -> list[torch.Tensor]:
    torch.manual_seed(0)
    out = [s.clone() if isinstance(s, torch.Tensor) else torch.randn(s) for s in specs]
    if out[0].shape == (8, 20):
        out[0][2, 3] = float("nan")
    return out


def interpret() -> None:
    for name, (program, specs) in PROGRAMS.items():
        torch._dynamo.reset()
        options: Any = {"strict": True, "target": "triton"}
        compiled: Any = torch.compile(program, backend="minductor", options=options)
        got, want = compiled(*inputs(specs)), program(*inputs(specs))
        # the interpreter cuts bits off where it makes bf16
        near = 8e-3 if name == "half" else 1e-4
        torch.testing.assert_close(got, want, rtol=near, atol=1e-4, equal_nan=True, msg=name)
        print(f"equal {name}")


DYNAMIC = ("softmax", "layer_norm", "columns", "cat")
SIZES = ((3, 100), (2, 1030), (5, 37))
COLUMN_SIZES = ((3, 9), (1030, 7), (5, 4))
"""Few columns: the interpreter folds each element of a tile in Python."""


def dynamic() -> None:
    """One compile for all sizes, rows at both sides of what a program holds."""
    for name in DYNAMIC:
        program = PROGRAMS[name][0]
        if name == "layer_norm":
            program = lambda x: F.layer_norm(x, (x.shape[1],))  # noqa: E731
        torch._dynamo.reset()
        count: list[Any] = []
        options: Any = {"strict": True, "target": "triton", "report": count.append}
        compiled: Any = torch.compile(program, backend="minductor", options=options, dynamic=True)
        for size in COLUMN_SIZES if name == "columns" else SIZES:
            args = inputs([size] * len(PROGRAMS[name][1]))
            torch.testing.assert_close(
                compiled(*args), program(*args), rtol=1e-4, atol=1e-4, msg=f"{name} {size}"
            )
        assert len(count) == 1, f"{name}: {len(count)} compiles"
        print(f"equal {name}")


def elementary() -> None:
    """Against eager, relative to what the interpreter's a * b + c in two roundings allows."""
    inf, nan = float("inf"), float("nan")
    special = torch.tensor([0.0, -0.0, inf, -inf, nan, 1e-40, -1e-40, 88.5, 88.8, -88.0, -103.5])
    huge = torch.tensor([131073.0, -2e5, 1e7, 3e38, -1e30, 127.5, 128.0, -126.5, -149.0, -151.0])
    x = torch.cat([special, huge, torch.linspace(-90, 90, 4001), torch.linspace(-2, 2, 1001)])
    for name in ("sin", "cos", "exp", "exp2", "tanh", "sigmoid", "erf"):
        function = getattr(torch, name)
        torch._dynamo.reset()
        options: Any = {"strict": True, "target": "triton"}
        compiled: Any = torch.compile(lambda x: function(x), backend="minductor", options=options)
        got, want = compiled(x), function(x)
        near = 6e-6 if name in ("sin", "cos") else 1e-45
        torch.testing.assert_close(got, want, rtol=4e-7, atol=near, equal_nan=True, msg=name)
        zero = want == 0
        assert torch.equal(torch.signbit(got[zero]), torch.signbit(want[zero])), name
        print(f"equal {name}")
    fast(torch.cat([special, huge, torch.linspace(-9, 9, 4001), torch.linspace(-0.1, 0.1, 1001)]))


def fast(x: torch.Tensor) -> None:
    """Those for results of half precision, in f16, which the interpreter rounds right."""
    y = torch.cat([x.abs(), torch.linspace(0.9, 1.1, 1001)]).half()
    for name in ("sin", "cos", "tanh", "sigmoid", "erf", "gelu", "log"):
        function = getattr(torch, name, F.gelu)
        arg = y if name == "log" else x.half()
        torch._dynamo.reset()
        options: Any = {"strict": True, "target": "triton"}
        compiled: Any = torch.compile(lambda x: function(x), backend="minductor", options=options)
        got, want = compiled(arg), function(arg.double()).half()
        near = 2e-7 if name == "gelu" else 6e-8
        torch.testing.assert_close(got, want, rtol=1.1e-3, atol=near, equal_nan=True, msg=name)
        zero = want == 0
        assert torch.equal(torch.signbit(got[zero]), torch.signbit(want[zero])), name
        print(f"equal fast {name}")


def cubin() -> None:
    from triton.backends.compiler import GPUTarget
    from xdsl.parser import Parser

    from minductor import export_aten
    from minductor.passes.context import MiniContext
    from minductor.passes.pipelines import build_pipeline
    from minductor.runtime.triton_loader import Launch, compile_kernel
    from minductor.tools.targets import emit

    for name in (
        "pointwise",
        "softmax",
        "softmax_long",
        "layer_norm",
        "columns",
        "total",
        "cat",
        "spared",
    ):
        program, specs = PROGRAMS[name]
        with tempfile.TemporaryDirectory() as folder:
            export_aten(program, *inputs(specs), training=False, path=folder)
            (text,) = [p.read_text() for p in Path(folder).glob("*.mlir")]
            ctx = MiniContext()
            module = Parser(ctx, text).parse_module()
            for item in build_pipeline("default-cuda"):
                item.apply(ctx, module)
            path = Path(folder) / "kernels.py"
            path.write_text(emit("triton", module))
            scope: dict[str, Any] = {"__name__": "kernels", "__file__": str(path)}
            import linecache

            linecache.checkcache(str(path))
            exec(compile(path.read_text(), str(path), "exec"), scope)
            for kernel, row in scope["LAUNCH"].items():
                target = GPUTarget("cuda", 90, 32)
                built = compile_kernel(scope[kernel], Launch(**row), target)
                assert built.asm["cubin"], kernel
                print(f"built {kernel}")


if __name__ == "__main__":
    modes = {"interpret": interpret, "dynamic": dynamic, "cubin": cubin, "elementary": elementary}
    modes[sys.argv[1]]()
