"""Compiled graphs called without AOTAutograd's wrappers, where those have nothing to do.

Around its graphs AOTAutograd replays mutations and aliases, unwraps tensor subclasses, threads
tokens and random states, and prepares every call for all of that. A graph that has none of it needs
only an `autograd.Function` that saves what the forward hands to the backward; here is one, with
AOTAutograd's own rules for what is left: tangents in the layout that the backward was compiled for,
saved tensors and their version checks, results without a gradient, autocast off, no double
backward. `refusal` says why a graph keeps AOTAutograd's wrappers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch._dynamo import compiled_autograd
from torch._functorch._aot_autograd import runtime_wrappers
from torch._guards import TracingContext
from torch.fx import GraphModule

from minductor.eager import Boxed
from minductor.lazy import is_batched, or_eager
from minductor.traced import is_tangent

_C: Any = torch._C

_NAMESPACES = ("aten", "prims")
_DOUBLE = "torch.compile with aot_autograd does not currently support double backward"
_NESTED = (
    "It looks like you're trying to call a compiled backward function within vmap/grad/vjp, which "
    "isn't supported. Try wrapping vmap inside torch.compile, or skip compiling the backward "
    "function."
)
_DETERMINISTIC = (
    "This compiled backward function is being run with torch.use_deterministic_algorithms(True), "
    "but it was previously generated during the forward function while "
    "torch.use_deterministic_algorithms(False) was set."
)


@dataclass(frozen=True)
class Layout:
    """Size and stride of a tangent, as the backward was compiled for it; where they are symbolic,
    the memory format whose strides they are."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    format: torch.memory_format | None = None


@dataclass(frozen=True)
class Seen:
    """A graph that AOTAutograd had compiled, and what its text says.

    inputs: how many; holes: results that are None; foreign: an op that is neither ATen's nor a
    prim, if there is one; tangents: layouts of the gradients that come in, None where symbolic.
    """

    product: Boxed
    inputs: int
    holes: frozenset[int] = frozenset()
    foreign: str | None = None
    tangents: tuple[Layout | None, ...] = ()


def seen(graph: GraphModule, product: Boxed) -> Seen:
    """What there is to say of a graph (taken now: others may change it later) and its product."""
    nodes = list(graph.graph.nodes)
    inputs = [n for n in nodes if n.op == "placeholder"]
    foreign = next((str(n.target) for n in nodes if n.op == "call_function" and _foreign(n)), None)
    returned: Any = nodes[-1].args[0]
    holes = frozenset(i for i, r in enumerate(returned) if r is None)
    tangents = [n.meta.get("val") for n in inputs if is_tangent(n)]
    return Seen(product, len(inputs), holes, foreign, tuple(map(_layout, tangents)))


def _foreign(node: Any) -> bool:
    if isinstance(node.target, torch._ops.OpOverload):
        return node.target.namespace not in _NAMESPACES
    return isinstance(node.target, torch._ops.HigherOrderOperator)


def _layout(value: Any) -> Layout | None:
    if type(value) is not Tensor and not isinstance(value, torch._subclasses.FakeTensor):
        return None
    size, stride = tuple(value.shape), tuple(value.stride())
    return Layout(size, stride) if all(type(n) is int for n in (*size, *stride)) else None


def refusal(meta: Any, graphs: Mapping[str, Seen], inputs: Sequence[Any]) -> str | None:
    """Why the graphs of a trace keep AOTAutograd's wrappers, or None.

    meta: its `ViewAndMutationMeta`; inputs: those of Dynamo's graph.
    """
    first = graphs.get("forward") or graphs.get("inference")
    if meta is None or first is None:
        return "what AOTAutograd knows of the graph cannot be read"
    backward = graphs.get("backward")
    if ("forward" in graphs) != (backward is not None):
        return "one half of the graph was not compiled"
    foreign = next((g.foreign for g in graphs.values() if g.foreign is not None), None)
    if foreign is not None:
        return f"{foreign} is not an op of torch"
    if not all(type(x) in _TENSORS for x in inputs):
        return "an input is a float or a tensor subclass"
    if not first.inputs == len(inputs) == len(meta.input_info):
        return "the graph takes other inputs than the function"
    if getattr(TracingContext.try_get(), "fakify_first_call", False):
        return "the first call is answered with fake tensors"
    if getattr(meta, "dynamic_outputs", False) and _mark_function() is None:
        return "results cannot be marked as dynamic"
    reason = next((why for name, why in _WORK.items() if getattr(meta, name, None)), None)
    if reason is not None or backward is None:
        return reason
    return _backward_refusal(meta, backward)


_TENSORS = (Tensor, torch.nn.Parameter, torch._subclasses.FakeTensor, torch.SymInt, int)

_WORK = {
    "num_mutated_inp_runtime_indices": "inputs are written after the graph",
    "num_outputs_aliased": "results share memory with inputs or with each other",
    "num_intermediate_bases": "results share memory with each other",
    "tokens": "effects are kept in order by tokens",
    "num_backward_tokens": "effects are kept in order by tokens",
    "is_rng_op_functionalized": "random states are threaded through the graphs",
    "num_graphsafe_rng_states": "random states are threaded through the graphs",
    "act_input_indices": "an input waits for a collective",
    "num_opaque_objects_saved_for_bw": "objects are saved for the backward",
    "indices_of_inputs_that_requires_grad_with_mutations_in_bw": "the backward writes inputs",
}
"""Fields of AOTAutograd's metadata that ask for something at run time, and what that is."""


def _backward_refusal(meta: Any, backward: Seen) -> str | None:
    layouts = _tangents(meta, backward)
    for i, info in enumerate(meta.input_info):
        if i in backward.holes and info.requires_grad:
            return "an input asks for a gradient and gets none"
    if None in layouts or len(layouts) != len(_with_tangents(meta)):
        return "the layout of a tangent is not known"
    if _hooks_are_traced():
        return "hooks on saved tensors are traced"
    return None


def _tangents(meta: Any, backward: Seen) -> tuple[Layout | None, ...]:
    """Layouts of the tangents; for symbolic ones the memory format that AOTAutograd chose."""
    chosen = getattr(meta, "subclass_tangent_meta", None) or ()
    formats = [getattr(getattr(m, "memory_format", None), "memory_format", None) for m in chosen]
    if len(formats) != len(backward.tangents):
        return backward.tangents
    return tuple(
        Layout((), (), made) if known is None and made is not None else known
        for known, made in zip(backward.tangents, formats, strict=True)
    )


def _hooks_are_traced() -> bool:
    """Whether hooks that are there now became part of the graphs: those that are graphs."""
    hooks = _C._autograd._top_saved_tensors_default_hooks(True)
    return hooks is not None and all(isinstance(hook, GraphModule) for hook in hooks)


def _with_tangents(meta: Any) -> list[int]:
    """Results whose gradients the backward takes."""
    asks = lambda info: getattr(info, "requires_grad_for_backward", info.requires_grad)  # noqa: E731
    infos = enumerate(meta.output_info)
    return [i for i, info in infos if issubclass(info.raw_type, Tensor) and asks(info)]


@dataclass(frozen=True)
class Plan:
    """What a call has to do.

    returns: how many results are the user's; checked: how many saved tensors follow them whose
    versions are checked (more may follow); numbers: how many sizes are saved, behind all
    tensors; dynamic: dimensions of results that may vary, for Dynamo to know; constant: results
    without a gradient; unsafe_views: results that are made to look like no view; written:
    inputs whose version counts up; autocast: whether it is on outside, and off inside;
    free_order: whether it was compiled outside of deterministic mode; tangents: result and
    layout of each.
    """

    forward: Boxed
    backward: Boxed | None
    returns: int
    checked: int
    numbers: int
    dynamic: tuple[tuple[int, set[int]], ...]
    constant: tuple[int, ...]
    unsafe_views: tuple[int, ...]
    written: tuple[int, ...]
    autocast: bool
    free_order: bool
    tangents: tuple[tuple[int, Layout], ...] = field(default=())


def plan_of(meta: Any, graphs: Mapping[str, Seen]) -> Plan:
    """The plan of graphs that `refusal` has nothing against; during their compile."""
    backward = graphs.get("backward")
    first = graphs.get("forward") or graphs["inference"]
    outputs = list(enumerate(meta.output_info))
    returns = meta.num_outputs
    unchecked = getattr(meta, "num_tensors_saved_with_no_vc_check", None) or 0
    layouts = () if backward is None else _tangents(meta, backward)
    numbers = getattr(meta, "num_symints_saved_for_bw", None) or 0
    saved = 0 if backward is None else backward.inputs - len(layouts) - numbers
    places = () if backward is None else _with_tangents(meta)
    return Plan(
        first.product,
        None if backward is None else backward.product,
        returns,
        saved - unchecked,
        numbers,
        tuple((i, dims) for i, info in outputs if (dims := getattr(info, "dynamic_dims", None))),
        tuple(i for i, info in outputs if not info.requires_grad),
        tuple(meta.unsafe_view_out_indices),
        tuple(meta.mutated_graph_handled_indices_seen_by_autograd),
        torch._C._is_any_autocast_enabled(),
        meta.deterministic is False,
        tuple((i, one) for i, one in zip(places, layouts, strict=True) if one is not None),
    )


def call_of(
    plan: Plan, wrapped: Callable[..., Any], eager: Callable[..., Any]
) -> Callable[..., Any]:
    """The callable of Dynamo's graph: tensors in, a list or tuple of results out.

    wrapped: the same with AOTAutograd's wrappers, whose backward compiled autograd can take along;
    eager: the graph as it is, for forward-mode differentiation and tensors without memory.
    """
    call = _inference(plan) if plan.backward is None else _training(plan, wrapped)
    call = or_eager(call, eager)
    return _marking(call, plan.dynamic) if plan.dynamic else call


def _marking(
    call: Callable[..., Any], dynamic: Sequence[tuple[int, set[int]]]
) -> Callable[..., Any]:
    """The call, whose results tell Dynamo at the next graph which of their sizes vary."""
    mark = _mark_function()
    assert mark is not None

    def marked(*args: Any) -> Any:
        results = call(*args)
        for i, dims in dynamic:
            mark(results[i], dims)
        return results

    return marked


def _mark_function() -> Callable[[Tensor, set[int]], None] | None:
    """AOTAutograd's way to mark a tensor, which has changed its name; None where it has another."""
    names = ("mark_dynamo_propagated_dynamic_indices", "maybe_mark_dynamic_helper")
    return next((f for n in names if (f := getattr(runtime_wrappers, n, None)) is not None), None)


def _inference(plan: Plan) -> Callable[..., Any]:
    run = _quiet(plan.forward, plan.autocast)
    written = plan.written

    def call(*args: Any) -> Any:
        if written:
            torch.autograd.graph.increment_version([args[i] for i in written])
        if not torch.is_grad_enabled():
            return run(list(args))
        torch._C._set_grad_enabled(False)
        try:
            return run(list(args))
        finally:
            torch._C._set_grad_enabled(True)

    return call


def _quiet(product: Boxed, autocast: bool) -> Boxed:
    """The product with autocast off: its ops have the dtypes that were traced."""
    if not autocast:
        return product

    def run(args: list[Any]) -> Any:
        with torch._C._DisableAutocast():
            return product(args)

    return run


def _training(plan: Plan, wrapped: Callable[..., Any]) -> Callable[..., Any]:
    assert plan.backward is not None
    run, run_back = (_quiet(p, plan.autocast) for p in (plan.forward, plan.backward))
    returns, checked, numbers = plan.returns, plan.checked, plan.numbers

    class CompiledFunction(torch.autograd.Function):
        boxed_grads_call = True  # gradients come in a list, and go as soon as they are used

        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            results = run(list(args))
            ctx.numbers = results[len(results) - numbers :]
            if numbers:
                results = results[:-numbers]
            kept = [x.detach() if x._is_view() else x for x in results[returns:]]
            ctx.save_for_backward(*kept[:checked])
            ctx.unchecked = kept[checked:]
            out = list(results[:returns])
            for i in plan.unsafe_views:
                out[i] = torch.ops.aten._unsafe_view(out[i], out[i].shape)
            if plan.constant:
                ctx.mark_non_differentiable(*(o for i in plan.constant if _is_tensor(o := out[i])))
                ctx._materialize_non_diff_grads = False
            return tuple(out)

    def backward(ctx: Any, *given: Any) -> Any:
        boxed = len(given) == 1 and isinstance(given[0], list)
        gradients: list[Any] = given[0] if boxed else list(given)
        if _C._functorch.peek_interpreter_stack() is not None:
            raise RuntimeError(_NESTED)
        if plan.free_order and torch.are_deterministic_algorithms_enabled():
            raise RuntimeError(_DETERMINISTIC)
        tangents = [_coerced(gradients[i], layout) for i, layout in plan.tangents]
        gradients.clear()
        args = [*ctx.numbers, *ctx.saved_tensors, *ctx.unchecked, *tangents]
        del tangents, given
        if torch.is_grad_enabled():
            return _once(ctx, run_back, args)
        ctx.maybe_clear_saved_tensors()
        return tuple(run_back(args))

    direct: Any = CompiledFunction
    direct.backward = _untraced(backward)
    apply, written = direct.apply, plan.written

    def call(*args: Any) -> Any:
        if compiled_autograd.compiled_autograd_enabled:
            return wrapped(*args)
        if written:
            torch.autograd.graph.increment_version([args[i] for i in written])
        if torch.is_grad_enabled():
            return apply(*args)
        with torch.enable_grad():  # the graph was traced with it on
            return apply(*args)

    return call


_untraced: Any = torch._dynamo.disable
"""A backward runs where Dynamo may be listening: our products are not for it to trace."""


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _coerced(gradient: Any, layout: Layout) -> Any:
    """A tangent in the strides that the backward reads.

    Raises RuntimeError for a tensor subclass that is not a parameter: the backward was compiled
    for a plain tensor.
    """
    gradient = _plain(gradient)
    if gradient is None or gradient.stride() == layout.stride or is_batched(gradient):
        return gradient
    if layout.format is not None:
        return gradient.contiguous(memory_format=layout.format)
    made = torch.empty_strided(
        layout.size, layout.stride, dtype=gradient.dtype, device=gradient.device
    )
    return made.copy_(gradient)


def _plain(gradient: Any) -> Any:
    if type(gradient) is Tensor or gradient is None or not _is_wrapper(gradient):
        return gradient
    raise RuntimeError(
        f"a gradient is a {type(gradient).__name__} where the backward was compiled for a plain "
        "tensor; call .detach() on results that need no gradient, or give plain gradients"
    )


def _is_wrapper(value: Any) -> bool:
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    return is_traceable_wrapper_subclass(value)


def _once(outer: Any, run_back: Boxed, args: list[Any]) -> Any:
    """Gradients that are part of a graph, which ends in an error when it is followed."""

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *unused: Any) -> Any:
            outer.maybe_clear_saved_tensors()
            return tuple(run_back(list(args)))

        @staticmethod
        def backward(ctx: Any, *unused: Any) -> Any:
            raise RuntimeError(_DOUBLE)

    apply: Any = Once.apply
    # saved tensors are detached: without this one the gradients would look like constants
    return apply(torch.empty(0, requires_grad=True), *args)
