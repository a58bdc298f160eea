"""A refused plan is made anew with less fusion; the last resort lifts the bound."""

from xdsl.parser import Parser

from minductor.dialects.printing import module_text
from minductor.passes.context import MiniContext
from minductor.passes.manager import PassManager
from minductor.passes.pipelines import build_pipeline

TEXT = """
func.func @inference(%x: !aten.t<f32[4096]>) -> !aten.t<f32[4096]>
    attributes {eager_peak = BOUND : i64} {
  %a = aten.sin.default(%x) : !aten.t<f32[4096]>
  %b = aten.cos.default(%a) : !aten.t<f32[4096]>
  func.return %b : !aten.t<f32[4096]>
}
"""
PIPELINE = (
    "aten-to-loop,loop-simplify-index,loop-inline,loop-fuse,loop-to-kernel,kernel-memory{slack=0}"
)


def compiled(bound: int) -> tuple[str, list[str]]:
    """The module after the pipeline, and the reasons for which it was run again."""
    ctx = MiniContext()
    module = Parser(ctx, TEXT.replace("BOUND", str(bound))).parse_module()
    starts: list[str] = []
    manager = PassManager(
        build_pipeline(PIPELINE), restarted=lambda m: starts.append(module_text(m))
    )
    manager.run(ctx, module)
    module.verify()
    assert all("aten.sin" in text for text in starts)
    reasons = [r.subject for r in ctx.remarks.of("kernel-memory", "refused")]
    assert len(reasons) == len(starts)
    return module_text(module), reasons


def test_a_plan_within_the_bound_stands() -> None:
    text, reasons = compiled(16384)
    assert reasons == []
    assert text.count("kernel.func") == 1


def test_a_bound_that_nothing_keeps_is_lifted_last() -> None:
    text, reasons = compiled(1)
    assert reasons == [
        "a plan, so without fusion",
        "a plan, so without fusion and inlining",
        "a plan, so without the bound",
    ]
    assert text.count("kernel.func") == 1
