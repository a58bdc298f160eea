"""The table of passes: name -> "module:Class", imported at first use.

To add a pass: write `passes/<level>/<name>.py` with a `MiniPass`, add its row here, its place in
`passes/pipelines.py`, and its lit file `test/lit/passes/<level>/<name-with-dashes>.mlir`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module

from xdsl.passes import ModulePass

PASSES: dict[str, str] = {
    # aten
    "retarget": "minductor.passes.aten.retarget:RetargetPass",
    "aten-foreach": "minductor.passes.aten.foreach:AtenForeachPass",
    "aten-peak": "minductor.passes.aten.peak:AtenPeakPass",
    "aten-fold": "minductor.passes.aten.fold:AtenFoldPass",
    "aten-algebra": "minductor.passes.aten.algebra:AtenAlgebraPass",
    "aten-views": "minductor.passes.aten.views:AtenViewsPass",
    "aten-cat": "minductor.passes.aten.cat:AtenCatPass",
    "aten-reductions": "minductor.passes.aten.reductions:AtenReductionsPass",
    "aten-cse": "minductor.passes.aten.cse:AtenCsePass",
    "aten-dce": "minductor.passes.aten.dce:AtenDcePass",
    "aten-patterns": "minductor.passes.aten.patterns:AtenPatternsPass",
    "aten-attention": "minductor.passes.aten.attention:AtenAttentionPass",
    "aten-scatter": "minductor.passes.aten.scatter:AtenScatterPass",
    "aten-conv-norm": "minductor.passes.aten.conv_norm:AtenConvNormPass",
    "aten-conv-layout": "minductor.passes.aten.conv_layout:AtenConvLayoutPass",
    "aten-conv-split": "minductor.passes.aten.conv_split:AtenConvSplitPass",
    "aten-conv-bias": "minductor.passes.aten.conv_bias:AtenConvBiasPass",
    "aten-products": "minductor.passes.aten.products:AtenProductsPass",
    "aten-bias": "minductor.passes.aten.bias:AtenBiasPass",
    # lowerings
    "aten-to-loop": "minductor.lowering.aten_to_loop.convert:AtenToLoopPass",
    "loop-to-kernel": "minductor.lowering.loop_to_kernel.convert:LoopToKernelPass",
    # loop
    "loop-simplify-index": "minductor.passes.loop.simplify_index:LoopSimplifyIndexPass",
    "loop-inline": "minductor.passes.loop.inline:LoopInlinePass",
    "loop-layout": "minductor.passes.loop.layout:LoopLayoutPass",
    "loop-fuse": "minductor.passes.loop.fuse:LoopFusePass",
    # kernel
    "kernel-peel": "minductor.passes.kernel.peel:KernelPeelPass",
    "kernel-predicate": "minductor.passes.kernel.predicate:KernelPredicatePass",
    "kernel-onehot": "minductor.passes.kernel.onehot:KernelOnehotPass",
    "kernel-tile": "minductor.passes.kernel.tile:KernelTilePass",
    "kernel-privatise": "minductor.passes.kernel.privatise:KernelPrivatisePass",
    "kernel-online": "minductor.passes.kernel.online:KernelOnlinePass",
    "kernel-moments": "minductor.passes.kernel.moments:KernelMomentsPass",
    "kernel-share": "minductor.passes.kernel.share:KernelSharePass",
    "kernel-keep": "minductor.passes.kernel.keep:KernelKeepPass",
    "kernel-jam": "minductor.passes.kernel.jam:KernelJamPass",
    "kernel-vectorize": "minductor.passes.kernel.vectorize:KernelVectorizePass",
    "kernel-strength": "minductor.passes.kernel.strength:KernelStrengthPass",
    "kernel-pack": "minductor.passes.kernel.pack:KernelPackPass",
    "kernel-call": "minductor.passes.kernel.call:KernelCallPass",
    "kernel-threads": "minductor.passes.kernel.threads:KernelThreadsPass",
    "kernel-reciprocal": "minductor.passes.kernel.reciprocal:KernelReciprocalPass",
    "kernel-narrow": "minductor.passes.kernel.narrow:KernelNarrowPass",
    "kernel-own": "minductor.passes.kernel.own:KernelOwnPass",
    "kernel-atomics": "minductor.passes.kernel.atomics:KernelAtomicsPass",
    "kernel-flatten": "minductor.passes.kernel.flatten:KernelFlattenPass",
    "kernel-collapse": "minductor.passes.kernel.collapse:KernelCollapsePass",
    "kernel-cross": "minductor.passes.kernel.cross:KernelCrossPass",
    "kernel-split": "minductor.passes.kernel.split:KernelSplitPass",
    "kernel-persist": "minductor.passes.kernel.persist:KernelPersistPass",
    "kernel-digits": "minductor.passes.kernel.digits:KernelDigitsPass",
    "kernel-blocks": "minductor.passes.kernel.blocks:KernelBlocksPass",
    "kernel-fast-math": "minductor.passes.kernel.fast_math:KernelFastMathPass",
    "kernel-index-width": "minductor.passes.kernel.index_width:KernelIndexWidthPass",
    "kernel-autotune": "minductor.passes.kernel.autotune:KernelAutotunePass",
    "kernel-extern-out": "minductor.passes.kernel.extern_out:KernelExternOutPass",
    "kernel-order": "minductor.passes.kernel.order:KernelOrderPass",
    "kernel-wait": "minductor.passes.kernel.wait:KernelWaitPass",
    "kernel-inplace": "minductor.passes.kernel.inplace:KernelInplacePass",
    "kernel-spare": "minductor.passes.kernel.spare:KernelSparePass",
    "kernel-memory": "minductor.passes.kernel.memory:KernelMemoryPass",
    "kernel-turn": "minductor.passes.kernel.turn:KernelTurnPass",
    "kernel-pool": "minductor.passes.kernel.pool:KernelPoolPass",
    "kernel-overlap": "minductor.passes.kernel.overlap:KernelOverlapPass",
    "kernel-stream": "minductor.passes.kernel.stream:KernelStreamPass",
    "kernel-tabulate": "minductor.passes.kernel.tabulate:KernelTabulatePass",
    "kernel-abreast": "minductor.passes.kernel.abreast:KernelAbreastPass",
    "kernel-prefetch": "minductor.passes.kernel.prefetch:KernelPrefetchPass",
    "kernel-capture": "minductor.passes.kernel.capture:KernelCapturePass",
    # any level
    "verify-stage": "minductor.passes.verify_stage:VerifyStagePass",
}
"""minductor's passes, by level, in the order of the default pipeline."""

BORROWED = ("canonicalize", "cse", "dce", "mlir-opt")
"""xDSL's general passes that `mini-opt` offers too."""


class UnknownPass(ValueError):
    """No pass has this name."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error message: ", did you mean 'x'?", or the known names when none is near."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    if close:
        return f", did you mean '{close[0]}'?"
    return f", known: {', '.join(names)}" if names else ", there is none"


def pass_names() -> list[str]:
    """Names of all passes, minductor's first."""
    return [*PASSES, *(name for name in BORROWED if name not in PASSES)]


def load_pass(name: str) -> type[ModulePass]:
    """The class of a pass. Raises UnknownPass with the nearest known name."""
    if name in PASSES:
        return _load(name, PASSES[name])
    if name in BORROWED:
        from xdsl.transforms import get_all_passes

        return get_all_passes()[name]()
    raise UnknownPass(f"unknown pass '{name}'{nearest(name, pass_names())}")


def pass_factories() -> dict[str, Callable[[], type[ModulePass]]]:
    """minductor's passes as the lazy factories that xDSL's tools take."""

    def factory(name: str) -> Callable[[], type[ModulePass]]:
        return lambda: load_pass(name)

    return {name: factory(name) for name in PASSES}


def _load(name: str, target: str) -> type[ModulePass]:
    module, _, attribute = target.partition(":")
    found = getattr(import_module(module), attribute)
    assert isinstance(found, type)
    assert issubclass(found, ModulePass)
    assert found.name == name, f"{target} calls itself '{found.name}', the registry '{name}'"
    return found
