"""The pass manager: timings, verification, failures that can be replayed."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from minductor.dialects.printing import module_text
from minductor.passes.base import MiniPass
from minductor.passes.context import MiniContext
from minductor.passes.manager import PassFailure, PassManager
from minductor.passes.remarks import Remark, sink_of

TEXT = "func.func @f() {\n  func.return\n}"


@dataclass(frozen=True)
class RenamePass(MiniPass):
    name = "t-rename"
    to: str = "g"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.ops:
            inner.properties["sym_name"] = StringAttr(self.to)
            sink_of(ctx).accepted(self.name, self.to, "renamed", bytes=0)


@dataclass(frozen=True)
class RefusePass(MiniPass):
    name = "t-refuse"
    why: str = "no"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException(self.why)


@dataclass(frozen=True)
class BreakPass(MiniPass):
    name = "t-break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.ops:
            del inner.properties["sym_name"]


def parsed(ctx: MiniContext) -> ModuleOp:
    return Parser(ctx, TEXT).parse_module()


def test_passes_run_in_order_with_timings_and_hook() -> None:
    ctx = MiniContext()
    module = parsed(ctx)
    seen: list[str] = []
    manager = PassManager(
        [RenamePass("g"), RenamePass("h")],
        verify_each=True,
        after_pass=lambda done, m: seen.append(f"{done}: {'@h' in module_text(m)}"),
    )
    manager.run(ctx, module)
    assert seen == ["t-rename: False", 't-rename{to="h"}: True']
    assert [timing.name for timing in manager.timings] == ["t-rename", "t-rename"]
    assert "func.func @h()" in module_text(module)


def test_failure_names_the_pass_and_holds_the_ir_before_it(tmp_path: Path) -> None:
    ctx = MiniContext()
    manager = PassManager([RenamePass("g"), RefusePass("cannot"), RenamePass("h")])
    with pytest.raises(PassFailure, match=r"pass 't-refuse' failed: .*cannot") as raised:
        manager.run(ctx, parsed(ctx))
    failure = raised.value
    assert isinstance(failure.__cause__, PassFailedException)
    assert "func.func @g()" in failure.ir
    assert failure.spec == 't-refuse{why="cannot"}'
    assert failure.passes == ("t-rename", 't-refuse{why="cannot"}')
    lines = failure.save(tmp_path).read_text().splitlines()
    assert lines[0].startswith("// replay: mini-opt failed-t-refuse.mlir -p 't-refuse")
    Parser(MiniContext(), "\n".join(lines)).parse_module().verify()


def test_ir_that_does_not_verify_is_a_failure_of_its_pass() -> None:
    ctx = MiniContext()
    with pytest.raises(PassFailure, match="t-break"):
        PassManager([BreakPass()], verify_each=True).run(ctx, parsed(ctx))


def test_the_start_replays_when_the_ir_before_cannot_be_rebuilt() -> None:
    ctx = MiniContext()
    manager = PassManager([RenamePass("g"), RefusePass()])
    with pytest.raises(PassFailure, match="could not be rebuilt") as raised:
        manager.run(ctx, parsed(ctx), start_text="not ir")
    assert raised.value.ir == "not ir"
    assert raised.value.spec == "t-rename,t-refuse"


def test_remarks_print_with_reason_bytes_and_location() -> None:
    ctx = MiniContext()
    PassManager([RenamePass("g")]).run(ctx, parsed(ctx))
    sink_of(ctx).refused("loop-fuse", "op0, op1", "no shared data", bytes="4*s0", location='"m":1')
    assert list(ctx.remarks.lines()) == [
        "// remark: [t-rename] accepted g: renamed {bytes = 0}",
        '// remark: [loop-fuse] refused op0, op1: no shared data {bytes = 4*s0} at "m":1',
    ]
    assert list(ctx.remarks.of("t-rename", "refused")) == []
    assert ctx.remarks.drain()[0] == Remark("t-rename", "accepted", "g", "renamed", bytes=0)
    assert ctx.remarks.remarks == []


def test_a_foreign_context_drops_remarks() -> None:
    ctx = Context()
    sink_of(ctx).note("p", "x")
    assert sink_of(ctx).remarks == []


def test_a_clone_keeps_dialects_and_sink() -> None:
    ctx = MiniContext()
    clone = ctx.clone()
    assert set(clone.registered_dialect_names) >= {"aten", "loop", "kernel", "scalar", "func"}
    assert clone.remarks is ctx.remarks
