"""`python -m minductor.tools.demo`: GPT-2 of four layers, one inference and one training step.

The model is transformers' own class with random weights from a config. Compile times come from two
fresh processes, the first with an empty cache, the second with the cache that the first left; speed
comes from rounds in which eager, TorchInductor and minductor take turns in one process.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

TOLERANCE = 1e-4
"""Largest error against eager that passes: f32, four layers, values of order one."""

Report = dict[str, Any]
Step = Callable[[], list[Any]]


@dataclass
class Sizes:
    """What the demo builds: sizes of the model and of the batch."""

    layers: int = 4
    width: int = 256
    heads: int = 4
    tokens: int = 128
    batch: int = 4
    vocabulary: int = 2000


@dataclass
class Outcome:
    """What one of the two programs showed; times in seconds, bytes a call."""

    compile_s: float
    graphs: list[str]
    kernels: list[dict[str, Any]]
    externs: dict[str, int]
    floor: int
    unfused: int
    planned: int
    fallbacks: list[str] = field(default_factory=list[str])
    error: float = 0.0
    times: dict[str, float] = field(default_factory=dict[str, float])


def summarise(reports: list[Report], compile_s: float) -> Outcome:
    """One outcome of the reports of all graphs of a program. The only reader of reports."""
    externs: dict[str, int] = {}
    for report in reports:
        for schema, count in report["externs"].items():
            externs[schema] = externs.get(schema, 0) + count
    kernels = [
        {"graph": r["kind"], "name": k["name"], "origins": list(k["origins"]), "bytes": k["bytes"]}
        for r in reports
        for k in r["kernels"]
    ]
    floor, unfused, planned = (
        sum(r["bytes"][key] for r in reports) for key in ("floor", "unfused", "planned")
    )
    graphs = [r["kind"] for r in reports]
    fallbacks = [r["fallback"] for r in reports if r.get("fallback")]
    return Outcome(compile_s, graphs, kernels, externs, floor, unfused, planned, fallbacks)


def build(sizes: Sizes) -> tuple[Any, Any]:
    """The model without dropout (so that eager and compiled agree) and a batch of token ids."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=sizes.vocabulary,
        n_positions=sizes.tokens,
        n_embd=sizes.width,
        n_layer=sizes.layers,
        n_head=sizes.heads,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = transformers.GPT2LMHeadModel(config)
    return model, torch.randint(0, sizes.vocabulary, (sizes.batch, sizes.tokens))


def programs(model: Any, ids: Any) -> dict[str, tuple[Callable[..., Any], Callable[..., Step]]]:
    """Name -> function to compile, and what makes a step (flat list of results) of it."""
    import torch

    weights = list(model.parameters())

    def logits() -> Any:
        return model(input_ids=ids, use_cache=False).logits

    def loss() -> Any:
        flat = logits()[:, :-1].flatten(0, 1)
        return torch.nn.functional.cross_entropy(flat, ids[:, 1:].flatten())

    def inference(fn: Callable[..., Any]) -> Step:
        def step() -> list[Any]:
            with torch.no_grad():
                return [fn()]

        return step

    def training(fn: Callable[..., Any]) -> Step:
        def step() -> list[Any]:
            value = fn()
            return [value.detach(), *torch.autograd.grad(value, weights)]

        return step

    return {"inference": (logits, inference), "training": (loss, training)}


def worst(got: list[Any], want: list[Any]) -> float:
    """Largest absolute difference over all results."""
    assert len(got) == len(want)
    return max(float((a - b).abs().max()) for a, b in zip(got, want, strict=True))


def rounds(steps: dict[str, Step], seconds: float) -> dict[str, float]:
    """Median time of each step, the steps taking turns until `seconds` are spent."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values[1:]) for name, values in times.items()}


def measure(
    sizes: Sizes, rivals: list[str], seconds: float, backend: str = "minductor"
) -> dict[str, Outcome]:
    """Compile both programs, compare with eager, and time them beside `rivals`."""
    import torch

    importlib.import_module("minductor.backend")  # Before the clock starts, as torch is.
    model, ids = build(sizes)
    outcomes: dict[str, Outcome] = {}
    for name, (fn, make) in programs(model, ids).items():
        torch._dynamo.reset()
        reports: list[Report] = []
        options: dict[str, Any] | None = None
        if backend == "minductor":
            options = {"report": reports.append, "progress": False}
        step = make(torch.compile(fn, backend=backend, options=options))
        start = time.perf_counter()
        got = step()
        outcome = summarise(reports, time.perf_counter() - start)
        eager = make(fn)
        outcome.error = worst(got, eager())
        if seconds:
            steps = {"eager": eager, "minductor": step}
            for rival in rivals:
                steps[rival] = make(torch.compile(fn, backend=rival))
                steps[rival]()
            outcome.times = rounds(steps, seconds)
        outcomes[name] = outcome
    return outcomes


def child(folder: Path, arguments: list[str]) -> dict[str, Outcome]:
    """Run `measure` in a fresh process that uses the caches in `folder`."""
    names = ("MINDUCTOR_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TMPDIR")
    env = {**os.environ, "OMP_PROC_BIND": "true"}
    for name in names:
        (folder / name.lower()).mkdir(exist_ok=True, mode=0o700)
        env[name] = str(folder / name.lower())
    out = folder / "result.json"
    command = [sys.executable, "-m", "minductor.tools.demo", "--child", str(out), *arguments]
    subprocess.run(command, env=env, check=True, timeout=1200)
    return {name: Outcome(**row) for name, row in json.loads(out.read_text()).items()}


def mega(count: float) -> str:
    """Bytes as megabytes."""
    return f"{count / 1e6:.1f} MB"


def show(cold: dict[str, Outcome], warm: dict[str, Outcome]) -> None:
    """Print the table of both programs and the list of their fused kernels."""
    rows: list[tuple[str, Callable[[str], str]]] = [
        ("graphs", lambda n: ", ".join(cold[n].graphs)),
        ("max error against eager", lambda n: f"{cold[n].error:.1e}"),
        ("fused kernels", lambda n: str(len(cold[n].kernels))),
        ("extern calls", lambda n: str(sum(cold[n].externs.values()))),
        ("bytes: floor", lambda n: mega(cold[n].floor)),
        ("bytes: unfused", lambda n: mega(cold[n].unfused)),
        ("bytes: planned", lambda n: mega(cold[n].planned)),
        ("compile, cold", lambda n: f"{cold[n].compile_s:.2f} s"),
        ("compile, warm", lambda n: f"{warm[n].compile_s:.2f} s"),
    ]
    for contender in next(iter(cold.values())).times:
        rows.append(
            (f"time: {contender}", lambda n, c=contender: f"{cold[n].times[c] * 1e3:.2f} ms")
        )
    for rival in next(iter(cold.values())).times:
        if rival != "minductor":
            rows.append((f"speed against {rival}", lambda n, c=rival: speed(cold[n].times, c)))
    print(f"{'':28}{'inference':>22}{'training step':>22}")
    for label, value in rows:
        print(f"{label:28}{value('inference'):>22}{value('training'):>22}")
    for name, outcome in cold.items():
        print(f"\n{name}: extern calls")
        for schema, count in sorted(outcome.externs.items()):
            print(f"  {count:4} x {schema}")
        print(f"{name}: fused kernels, bytes a call")
        for kernel in outcome.kernels:
            print(f"  {mega(kernel['bytes']):>10}  {kernel['graph']}: {kernel['name']}")


def speed(times: dict[str, float], rival: str) -> str:
    """How many times faster than `rival`."""
    return f"{times[rival] / times['minductor']:.2f}x"


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default in asdict(Sizes()).items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, default=4.0, help="time to measure each program")
    parser.add_argument("--no-rivals", action="store_true", help="leave TorchInductor out")
    parser.add_argument("--backend", default="minductor", help="another one to try the demo itself")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Exit status 0 when both programs were compiled and agree with eager."""
    args = parse(argv)
    sizes = Sizes(**{name: getattr(args, name) for name in asdict(Sizes())})
    rivals = [] if args.no_rivals else ["inductor"]
    if args.child:
        rows = measure(sizes, rivals, args.seconds, args.backend)
        Path(args.child).write_text(json.dumps({name: asdict(row) for name, row in rows.items()}))
        return 0
    shape = f"{sizes.layers} layers of width {sizes.width}, {sizes.batch} x {sizes.tokens} tokens"
    print(f"GPT-2, {shape}, random weights, f32, CPU", flush=True)
    given = [f"--{name}={value}" for name, value in asdict(sizes).items()]
    given.append(f"--backend={args.backend}")
    with tempfile.TemporaryDirectory(prefix="minductor-demo-") as folder:
        warm_only = [*given, "--seconds=0", "--no-rivals"]
        cold = child(Path(folder), warm_only)
        warm = child(Path(folder), warm_only)
        timed = child(
            Path(folder), [*given, f"--seconds={args.seconds}", *(["--no-rivals"] * (not rivals))]
        )
    for name, outcome in cold.items():
        outcome.times = timed[name].times
    show(cold, warm)
    return 1 if faults(cold) else 0


def faults(outcomes: dict[str, Outcome]) -> list[str]:
    """What went wrong, each also printed to stderr."""
    found: list[str] = []
    for name, outcome in outcomes.items():
        found += [f"{name} runs eagerly: {reason}" for reason in outcome.fallbacks]
        if not outcome.graphs:
            found.append(f"{name}: no graph was compiled")
        if not outcome.error <= TOLERANCE:
            found.append(f"{name}: error {outcome.error:.1e} above {TOLERANCE:.1e}")
    for text in found:
        print(text, file=sys.stderr)
    return found


if __name__ == "__main__":
    sys.exit(main())
