"""The pass manager of a compile: runs passes, times them, and makes failures replayable.

Verification between passes is a debug option (it costs about as much as a pass). A failure of any
kind is wrapped in a `PassFailure` that names the pass and holds the IR before it as text. That
text is not kept on the way: the manager prints the module once, before the first pass, and gets
the text back by running the earlier passes again, since every pass is deterministic.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from minductor.dialects.printing import module_text
from minductor.passes.base import PlanRefused
from minductor.passes.leaner import leaner
from minductor.passes.remarks import sink_of

PassHook = Callable[[ModulePass, ModuleOp], None]
"""Called after a pass with the pass and the module, for dumps and progress."""


@dataclass(frozen=True)
class PassTiming:
    """Wall time of one pass, verification not included."""

    name: str
    seconds: float


class PassFailure(Exception):
    """A pass raised, or left IR that does not verify.

    `ir` is the text before the pass, `spec` the pass with its options: `mini-opt` on the one with
    `-p` the other fails in the same way. `passes` are all passes from the start, that one last.
    """

    def __init__(self, name: str, spec: str, passes: tuple[str, ...], ir: str, why: str) -> None:
        super().__init__(f"pass '{name}' failed: {why}")
        self.pass_name = name
        self.spec = spec
        self.passes = passes
        self.ir = ir
        self.why = why

    def save(self, folder: Path) -> Path:
        """Writes the IR with the command that replays the failure; returns the file."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"failed-{self.pass_name}.mlir"
        path.write_text(f"// replay: mini-opt {path.name} -p '{self.spec}'\n{self.ir}\n")
        return path


@dataclass
class PassManager:
    """Runs a list of passes over a module."""

    passes: Sequence[ModulePass]
    verify_each: bool = False
    after_pass: PassHook | None = None
    restarted: Callable[[ModuleOp], None] | None = None
    """Called with the module before the first pass when a refused plan is made anew."""
    timings: list[PassTiming] = field(default_factory=list[PassTiming], init=False)

    def run(self, ctx: Context, module: ModuleOp, start_text: str | None = None) -> None:
        """Applies the passes in order. Raises PassFailure.

        `start_text` is the printed module, if the caller has it already (the cache key is made of
        it); otherwise it is printed here.
        """
        if not self.passes:
            return
        start = module_text(module) if start_text is None else start_text
        try:
            self._run(ctx, module, start)
        except PassFailure as failure:
            if not isinstance(failure.__cause__, PlanRefused):
                raise
            self._again(ctx, module, start, failure)

    def _again(self, ctx: Context, module: ModuleOp, start: str, refused: PassFailure) -> None:
        """Run leaner passes from the start, for a plan that was refused."""
        given = self.passes
        for what, passes in leaner(given):
            fresh = Parser(ctx, start).parse_module()
            for block in list(module.body.blocks):
                module.body.detach_block(block)
            module.body.add_block(fresh.body.detach_block(0))
            sink_of(ctx).refused(refused.pass_name, f"a plan, so without {what}", refused.why)
            self.passes = passes
            if self.restarted is not None:
                self.restarted(module)
            try:
                self._run(ctx, module, start)
                return
            except PassFailure as failure:
                if not isinstance(failure.__cause__, PlanRefused):
                    raise
        self.passes = given
        raise refused

    def _run(self, ctx: Context, module: ModuleOp, start: str) -> None:
        for position, one in enumerate(self.passes):
            begin = time.perf_counter()
            try:
                one.apply(ctx, module)
                self.timings.append(PassTiming(one.name, time.perf_counter() - begin))
                if self.verify_each:
                    module.verify()
            except Exception as error:
                raise self._failure(ctx, start, position, error) from error
            if self.after_pass is not None:
                self.after_pass(one, module)

    def _failure(self, ctx: Context, start: str, position: int, error: Exception) -> PassFailure:
        failed = self.passes[position]
        specs = tuple(str(one) for one in self.passes[: position + 1])
        why = f"{type(error).__name__}: {error}"
        try:
            ir, spec = replay(ctx, start, self.passes[:position]), specs[-1]
        except Exception as second:
            # the start with all passes replays it as well
            ir, spec = start, ",".join(specs)
            why += f" (the IR before the pass could not be rebuilt: {second})"
        return PassFailure(failed.name, spec, specs, ir, why)


def replay(ctx: Context, text: str, passes: Sequence[ModulePass]) -> str:
    """The text of the module that `passes` make of `text`."""
    fresh = ctx.clone()
    module = Parser(fresh, text).parse_module()
    for one in passes:
        one.apply(fresh, module)
    return module_text(module)
