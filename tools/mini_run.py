"""mini-run: execute a module of any level with its interpreter, print or compare the results.

    mini-run m.mlir                          seeded random inputs, results printed
    mini-run m.mlir --inputs in.npz          arrays by argument name, or arr_0, arr_1, ..
    mini-run m.mlir --inputs in.pt           the list of arguments, as torch.save wrote it
    mini-run m.mlir --save out.npz           results as out_0, out_1, ..
    mini-run m.mlir --compare other.mlir     the same inputs through both; exit 1 where they differ
    mini-run m.mlir -p default-cpu           run a pipeline first
    mini-run kernel.mlir --compiled          emit, build and call it instead

`--compare` looks at results and at mutated arguments, with the tolerances of docs/validate.md
unless --rtol or --atol is given.

Levels are told by the ops of the function: `aten`, `loop`, or `kernel` (host program @call).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from minductor.interpreters.run import level_of, run_entry
from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline

if TYPE_CHECKING:
    from minductor.validate.snapshot import Snapshot

Runner = Callable[[list[Any]], list[Any]]

INT_HIGH = 8
"""Random integers lie in 0 .. INT_HIGH - 1, so that they serve as indices of small sizes."""


class RunError(Exception):
    """A message for the user: what, where and the mend."""


def read_module(ctx: Context, path: str) -> ModuleOp:
    """Parse and verify a module; `-` is standard input."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text()
        module = Parser(ctx, text, path).parse_module()
        module.verify()
    except OSError as e:
        raise RunError(f"cannot read {path}: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise RunError(f"cannot read {path}: it is not text; mini-run takes IR files") from e
    except (ParseError, VerifyException, DiagnosticException) as e:
        raise RunError(f"{path}: {str(e).splitlines()[-1].strip()} (see mini-opt {path})") from e
    return module


def entry(module: ModuleOp, name: str | None) -> func.FuncOp:
    """The function to run: by name, else @call, else the only one that is not private."""
    functions = [
        op for op in module.body.block.ops if isinstance(op, func.FuncOp) and not op.is_declaration
    ]
    public = [f for f in functions if f.sym_visibility is None]
    wanted = [f for f in functions if f.sym_name.data == (name or "call")] or (
        public if name is None and len(public) == 1 else []
    )
    if not wanted:
        known = ", ".join(f"@{f.sym_name.data}" for f in functions) or "none"
        raise RunError(f"no function @{name or 'call'}; the module has {known} (use --function)")
    return wanted[0]


def random_inputs(fn: func.FuncOp, seed: int) -> list[Any]:
    """Seeded inputs for a function: normal floats, small integers, symbols at their hints."""
    import torch

    from minductor.dialects.attrs import SymbolsAttr
    from minductor.dialects.types import FloatType, IntType, TensorType
    from minductor.interpreters.memory import allocate, flat_storage

    generator = torch.Generator().manual_seed(seed)
    declared = fn.attributes.get("symbols")
    symbols = declared.hints(7) if isinstance(declared, SymbolsAttr) else {}
    out: list[Any] = []
    for type_ in fn.function_type.inputs:
        if isinstance(type_, IntType):
            out.append(type_.data.eval({a: symbols.setdefault(a, 7) for a in type_.data.vars()}))
        elif isinstance(type_, FloatType):
            out.append(0.5)
        elif isinstance(type_, TensorType):
            exprs = (*type_.sizes, *type_.strides)
            for atom in (a for e in exprs for a in e.vars("su")):
                symbols.setdefault(atom, 7)
            tensor = allocate(type_, symbols)
            flat = flat_storage(tensor)
            if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
                flat.copy_(torch.randn(flat.shape, generator=generator))
            else:
                flat.copy_(torch.randint(0, INT_HIGH, flat.shape, generator=generator))
            out.append(tensor)
        else:
            raise RunError(f"no random input of type {type_}; give --inputs")
    return out


def load_inputs(fn: func.FuncOp, path: str) -> list[Any]:
    """Arrays of an .npz by argument name, else by position; or the list in a .pt file."""
    if path.endswith(".pt"):
        return _load_list(fn, path)
    import numpy as np
    import torch

    from minductor.dialects.types import TensorType
    from minductor.interpreters.points import torch_dtype

    try:
        arrays = dict(np.load(path))
    except (OSError, ValueError) as e:
        raise RunError(f"cannot read inputs from {path}: {e}") from e
    out: list[Any] = []
    for i, arg in enumerate(fn.body.block.args):
        key = arg.name_hint if arg.name_hint in arrays else f"arr_{i}"
        if key not in arrays:
            raise RunError(f"{path} has no array '{arg.name_hint}' or '{key}' for argument {i}")
        if isinstance(arg.type, TensorType):
            out.append(torch.from_numpy(arrays[key]).to(torch_dtype(arg.type.dtype)))
        else:
            out.append(arrays[key].item())
    return out


def _load_list(fn: func.FuncOp, path: str) -> list[Any]:
    import torch

    try:
        args = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, ValueError) as e:
        raise RunError(f"cannot read inputs from {path}: {e}") from e
    wanted = len(fn.body.block.args)
    if not isinstance(args, list) or len(args) != wanted:
        raise RunError(f"{path} holds no list of {wanted} arguments")
    return args


def describe(results: Sequence[Any]) -> str:
    """Results as text: dtype, sizes, strides and values."""
    lines: list[str] = []
    for i, value in enumerate(results):
        if hasattr(value, "stride"):
            head = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
            lines.append(f"out_{i}: {head} strides {list(value.stride())}\n{value}")
        else:
            lines.append(f"out_{i}: {value}")
    return "\n".join(lines)


def differences(a: Sequence[Any], b: Sequence[Any], rtol: float, atol: float) -> list[str]:
    """What differs between two lists of results."""
    import torch

    if len(a) != len(b):
        return [f"{len(a)} results against {len(b)}"]
    out: list[str] = []
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        try:
            torch.testing.assert_close(
                x, y, rtol=rtol, atol=atol, equal_nan=True, check_stride=False
            )
        except AssertionError as e:
            out.append(f"out_{i}: {' '.join(str(e).split())}")
    return out


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mini-run", description="Run a module of any level with its interpreter."
    )
    parser.add_argument("file", help="module text, - for standard input")
    parser.add_argument("-p", "--passes", default="", help="pipeline to run first")
    parser.add_argument("--function", help="function to run (default: @call, or the only one)")
    parser.add_argument(
        "--inputs", help=".npz by argument name or arr_0, arr_1, ..; .pt with a list"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of random inputs")
    parser.add_argument("--save", help=".npz for the results")
    parser.add_argument("--compare", help="another module to run on the same inputs")
    parser.add_argument("--compiled", action="store_true", help="emit, build and call the module")
    parser.add_argument("--rtol", type=float)
    parser.add_argument("--atol", type=float)
    return parser


def _save(path: str, results: Sequence[Any]) -> None:
    import numpy as np

    arrays: dict[str, Any] = {f"out_{i}": np.asarray(r) for i, r in enumerate(results)}
    try:
        np.savez(path, allow_pickle=False, **arrays)
    except OSError as e:
        raise RunError(f"cannot write {path}: {e.strerror}") from e


def run(options: argparse.Namespace) -> int:
    """The work of the command; raises RunError."""
    import torch

    from minductor.validate.snapshot import Snapshot

    ctx = MiniContext()
    module = read_module(ctx, options.file)
    fn = entry(module, options.function)
    args = load_inputs(fn, options.inputs) if options.inputs else random_inputs(fn, options.seed)
    for item in build_pipeline(options.passes):
        item.apply(ctx, module)
    fn = entry(module, options.function if not options.passes else None)
    torch.manual_seed(options.seed)
    inputs = Snapshot(args)
    if not options.compare:
        results = _runner(module, fn, options.compiled)(inputs.fresh())
        if options.save:
            _save(options.save, results)
        print(describe(results))
        return 0
    other = read_module(ctx, options.compare)
    named = not options.compiled and level_of(fn) == level_of(entry(other, None)) == "aten"
    want = _runner(other, entry(other, None), named=named)
    found = _compared(_runner(module, fn, options.compiled, named), want, inputs, options)
    print("\n".join(found) if found else "equal: all results")
    return 1 if found else 0


def _runner(
    module: ModuleOp, fn: func.FuncOp, compiled: bool = False, named: bool = False
) -> Callable[[list[Any]], list[Any]]:
    """The function in its interpreter, or compiled; see `run_entry` for `named`."""
    if compiled:
        from minductor.validate.build import built

        return built(module)
    return lambda args: run_entry(module, fn, args, named)


def _compared(
    run: Runner, want: Runner, inputs: Snapshot, options: argparse.Namespace
) -> list[str]:
    """What differs between two runs on the same inputs."""
    from minductor.validate.compare import Reference, outcome

    got = outcome(run, inputs)
    if options.save:
        _save(options.save, got)
    if options.rtol is None and options.atol is None:
        found = Reference(want, inputs).difference(got)
        return [] if found is None else [found]
    rtol, atol = options.rtol or 0.0, options.atol or 0.0
    return differences(got, outcome(want, inputs), rtol, atol)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    options = _parser().parse_args(argv)
    try:
        return run(options)
    except (RunError, ValueError, IndexError, ZeroDivisionError, DiagnosticException) as e:
        print(f"mini-run: error: {e}", file=sys.stderr)
        return 2
    except (RuntimeError, TypeError, OverflowError, MemoryError) as e:
        # what torch says of operands that no verifier looks at
        print(f"mini-run: error: the module cannot be run: {first_line(e)}", file=sys.stderr)
        return 2


def first_line(error: Exception) -> str:
    """The kind of an error and the first line of its text."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


if __name__ == "__main__":
    sys.exit(main())
