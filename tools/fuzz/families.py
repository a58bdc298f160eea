"""What programs are made of: families of statements, as templates (`Writer.fill`).

Left out is what PyTorch leaves undefined: casts of floats outside an integer's range, the least
integer divided by -1, division of integers by zero, the sign and the bits of a NaN, the mean that
`var_mean` gives beside infinities (its running mean is NaN or infinite by the order of elements),
and what eager's vectors and its scalar tail see differently: gradients of bounded activations at
NaN, and layer_norm where squares overflow.
"""

from __future__ import annotations

from collections.abc import Callable

from minductor.tools.fuzz.writer import Dropped, Writer

_FLOAT_FUNCTIONS = """abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos
atan sinh cosh tanh asinh acosh atanh sigmoid erf erfc floor ceil trunc round frac sign reciprocal
square isnan isinf isfinite relu sgn positive isposinf isneginf nan_to_num lgamma""".split()

_ACTIVATIONS = """gelu silu softplus elu selu leaky_relu mish logsigmoid softsign tanhshrink
celu""".split()

_BOUNDED = "hardtanh relu6 softshrink hardshrink".split()

POINTWISE = [
    "{a} + {a2}",
    "{a} * {a2}",
    "{n} - {n2}",
    "{a} / {a2}",
    *(f"torch.{name}({{f}})" for name in _FLOAT_FUNCTIONS),
    *(f"F.{name}({{f}})" for name in _ACTIVATIONS),
    *(f"F.{name}({{f}}.nan_to_num())" for name in _BOUNDED),
    "F.hardsigmoid({f}.float())",  # eager multiplies by the f32 1/6 in f64 as well
    "F.hardswish({f}.float())",
    "{a} + {c}",
    "{a} * {c}",
    "{c} - {n}",
    "{c} / {f}",
    "torch.add({n}, {n2}, alpha={k})",
    "torch.sub({f}, {f2}, alpha=0.5)",
    "torch.addcmul({f}, {f2}, {f3}, value=0.5)",
    "torch.addcdiv({f}, {f2}, {f3}, value=2.0)",
    "torch.lerp({f}, {f2}, 0.3)",
    "{f} ** {k}",
    "{f}.abs() ** {f2}",
    "{i} ** {p}",
    "torch.maximum({a}, {a2})",
    "torch.minimum({a}, {a2})",
    "torch.fmax({n}, {n2})",
    "torch.fmin({n}, {n2})",
    "torch.atan2({f}, {f2})",
    "torch.hypot({f}, {f2})",
    "torch.copysign({f}, {f2}.nan_to_num())",
    "torch.signbit({f}.nan_to_num())",
    "torch.logaddexp({f}, {f2})",
    "torch.xlogy({f}, {f2})",
    "torch.nextafter({f}, {f2})",
    "torch.heaviside({f}, {f2})",
    "torch.threshold({f}, 0.1, 20.0)",
    "torch.abs({i})",
    "-{n}",
    "torch.sign({i})",
    "torch.square({i})",
    "torch.sqrt({g})",
    "torch.exp({g})",
    "F.relu({i})",
]

COMPARISONS = [
    *(f"{{a}} {sign} {{a2}}" for sign in ("<", "<=", ">", ">=", "==", "!=")),
    *(f"{{a}} {sign} {{c}}" for sign in ("<", ">=", "==")),
    "torch.where({b}, {a}, {a2})",
    "torch.where({a} > {c}, {a}, {c})",
    "torch.where({b}, {c}, {a})",
    "{a}.masked_fill({b}, 2)",
    "{n}.clamp(-1, 2)",
    "{n}.clamp(min={c})",
    "{n}.clamp(max={c})",
    "torch.clamp({n}, {n2}, {n3})",
    "torch.logical_and({a}, {a2})",
    "torch.logical_or({a}, {a2})",
    "torch.logical_xor({a}, {a2})",
    "torch.logical_not({a})",
    "torch.isclose({f}, {f2})",
    "{b} & {b2}",
    "{b} | {b2}",
    "{b} ^ {b2}",
    "~{b}",
]

INTEGERS = [
    "{i} & {i2}",
    "{i} | {i2}",
    "{i} ^ {i2}",
    "~{g}",
    "{i} << ({i2} & 7)",
    "{i} >> ({i2} & 7)",
    "{i} << {i2}",
    "{i} >> {p}",
    "{i} // (({i2} & 7) + 1)",
    "{i} % (({i2} & 7) + 1)",
    "torch.div({i}, ({i2} & 7) + 1, rounding_mode='trunc')",
    "torch.div({i}, -({i2} & 7) - 2, rounding_mode='floor')",
    "torch.fmod({i}, ({i2} & 7) + 2)",
    "torch.remainder({i}, -({i2} & 7) - 2)",
    "{i} // {p}",
    "{i} % {p}",
    "{i} / {p}",
    "torch.div({f}, {f2}, rounding_mode='floor')",
    "torch.div({f}, {f2}, rounding_mode='trunc')",
    "torch.remainder({f}, {f2})",
    "torch.fmod({f}, {f2})",
    "{f} % 1.5",
    "{f} // 0.3",
    "torch.gcd({i}, {i2})",
    "{i} + {k}",
    "{i} * {k}",
]

CASTS = [
    "{g}.to({t})",
    "{f}.to(torch.float32)",
    "{f}.to(torch.float64)",
    "{f}.to(torch.bfloat16)",
    "{f}.to(torch.float16)",
    "{f}.nan_to_num(0, 9, -9).clamp(-9, 9).to(torch.int32)",
    "{f}.nan_to_num(0, 9, -9).clamp(-9, 9).to(torch.int8)",
    "{f}.nan_to_num(0, 9, 0).clamp(0, 200).to(torch.uint8)",
    "{f}.nan_to_num(0, 9, -9).clamp(-9, 9).long()",
    "{a}.to(torch.bool)",
    "{g}.float()",
    "{f}.to(torch.bfloat16).to(torch.float32)",
]

REDUCTIONS = [
    "{a}.sum()",
    "{a}.sum({d})",
    "{a}.sum({d}, keepdim=True)",
    "{f}.mean({d}, keepdim={y})",
    "{f}.mean()",
    "{n}.amax({d}, keepdim={y})",
    "{n}.amin({d})",
    "{a}.amax()",
    "{a}.max({d})",
    "{n}.min({d}, keepdim=True)",
    "{n}.argmax({d})",
    "{n}.argmin({d}, keepdim=True)",
    "{n}.argmax()",
    "{f}.var({d})",
    "{f}.std({d}, unbiased=False)",
    "torch.var_mean({f}.nan_to_num(0, 9, -9), {d}, keepdim={y})",
    "{a}.any({d})",
    "{a}.all({d})",
    "{a}.any()",
    "{a}.prod({d})",
    "{a}.sum({d}, dtype=torch.float64)",
    "{f}.logsumexp({d})",
    "torch.linalg.vector_norm({f}, {p}, dim={d})",
    "{f}.norm()",
    "{f}.softmax({d})",
    "{f}.log_softmax({d})",
    "F.layer_norm({f}.clamp(-1e15, 1e15), {f}.shape[-1:])",
    "F.normalize({f}, dim={d})",
    "torch.count_nonzero({a}, {d})",
    "{f}.sum(tuple(range({f}.dim()))[:2])",
    "torch.aminmax({n})",
    "F.mse_loss({f}, {f2})",
    "{f}.nansum({d})",
]

SCANS = [
    "{a}.cumsum({d})",
    "{f}.cumsum({d}, dtype=torch.float64)",
    "{i}.cumprod({d})",
    "{f}.cumprod({d})",
    "{n}.cummax({d})",
    "{n}.cummin({d})",
    "{f}.logcumsumexp({d})",
]

SORTS = ["{n}.sort({d}, stable=True)", "{n}.topk(1, {d})", "{n}.flip({d}).sort({d})[0]"]


def _index(w: Writer, like: str, dim: int) -> str:
    """An index tensor of the shape of `like`, in range along `dim`, that hangs on data."""
    seed = w.pick("i")
    return (
        f"(torch.arange({like}.numel()).reshape({like}.shape) * {w.number(1, 5)}"
        f" + {seed}.sum()).remainder({like}.shape[{dim}])"
    )


def gathers(w: Writer) -> None:
    """gather, index_select, take_along_dim, advanced indexing, embedding."""
    x = w.pick()
    dim = w.dim(w.env[x])
    row = f"{w.pick('i')}.flatten()[:5].long().remainder({x}.shape[{dim}])"
    forms = [
        f"{x}.index_select({dim}, {row})",
        f"{x}.gather({dim}, {_index(w, x, dim)})",
        f"{x}[{w.pick('i')}.long().remainder({x}.shape[0])]",
        f"{x}[:, {row}]",
        f"{x}[{row}, {row}]",
        f"torch.take_along_dim({x}, {_index(w, x, dim)}, {dim})",
        f"torch.take({x}, {row})",
        f"{x}[{row} - {x}.shape[0]]",
        f"F.one_hot({row}, 7)",
        f"torch.bucketize({w.pick('f')}, torch.tensor([-1.0, 0.0, 0.5]))",
    ]
    w.let(w.choose(forms))


def scatters(w: Writer) -> None:
    """scatter and its kin, out of place and in place."""
    x = w.pick()
    t = w.env[x]
    dim = w.dim(t)
    src = w.pick("a", lambda s: s.shape == t.shape and s.dtype == t.dtype)
    index = _index(w, x, dim)
    row = f"{w.pick('i')}.flatten()[:{t.shape[dim]}].long().remainder({x}.shape[{dim}])"
    part = f"{src}.narrow({dim}, 0, {row}.numel())"
    mark, own = w.choose(["", "_"]), w.choose(["True", "False"])
    forms = [
        f"{x}.scatter_add{mark}({dim}, {index}, {src})",
        f"{x}.index_add{mark}({dim}, {row}, {part})",
        f"{x}.scatter_reduce{mark}({dim}, {index}, {src}, 'amax', include_self={own})",
        f"{x}.scatter_reduce{mark}({dim}, {index}, {src}, 'prod')",
        f"{x}.index_put{mark}(({row},), {src}[:{row}.numel()], accumulate=True)",
        f"{x}.index_fill{mark}({dim}, {row}, 1)",
        f"{x}.scatter{mark}({dim}, {index}, 2)",
        f"{x}.index_copy{mark}({dim}, torch.arange({x}.shape[{dim}]).flip(0), {src})",
        # eager's in-place kernel reads a source that is itself after its first writes
        f"{x}.masked_scatter{mark}({src} > 0, {src}.clone())",
        f"{x}.slice_scatter({src}.narrow({dim}, 0, 1), {dim}, 0, 1)",
        f"{x}.select_scatter({src}.select({dim}, 0), {dim}, -1)",
    ]
    form = w.choose(forms)
    if form.partition("(")[0].endswith("_"):
        w.do(form)
    else:
        w.let(form)


def _slice(w: Writer, rank: int) -> str:
    parts = []
    for _ in range(w.number(1, max(1, rank))):
        start, step = w.number(0, 3), w.number(1, 3)
        options = [":", f"{start}:", f":{-start}" if start else ":", f"{start}::{step}", "0", "-1"]
        parts.append(w.choose([*options, "None", "..."]))
    if parts.count("...") > 1:
        raise Dropped
    return ", ".join(parts)


def view_text(w: Writer, x: str) -> str:
    """An expression that looks at `x` in another way."""
    t = w.env[x]
    dim, other = w.dim(t), w.dim(t)
    n, start = t.shape[dim], w.number(0, 2)
    sizes, strides = (2, w.number(1, 3)), (w.number(0, 3), w.number(1, 2))
    forms = [
        f"{x}.transpose({dim}, {other})",
        f"{x}[{_slice(w, t.dim())}]",
        f"{x}.permute(*reversed(range({x}.dim())))",
        f"{x}.unsqueeze({dim})",
        f"{x}.squeeze()",
        f"{x}.expand({w.number(1, 3)}, *{x}.shape)",
        f"{x}.unflatten({dim}, ({n // 2}, 2))",
        f"{x}.flatten(0, 1)",
        f"{x}.narrow({dim}, {start}, {max(n - start - 1, 0)})",
        f"{x}.select({dim}, {start})",
        f"{x}.unfold({dim}, 2, {w.number(1, 2)})",
        f"{x}.diagonal()",
        f"{x}.chunk(2, {dim})[-1]",
        f"{x}.movedim({dim}, 0)",
        f"{x}.detach()",
        f"{x}.view(-1)",
        f"torch.as_strided({x}, {sizes}, {strides}, {start})",
    ]
    return w.choose(forms)


def views(w: Writer) -> None:
    """Views, and reshapes that may copy."""
    x = w.pick()
    t = w.env[x]
    if w.number(0, 3):
        w.let(view_text(w, x))
        return
    forms = [
        f"{x}.reshape(-1)",
        f"{x}.reshape({x}.shape[-1] if {x}.dim() else 1, -1)",
        f"{x}.contiguous()",
        f"{x}.clone()",
        f"{x}.t().reshape({list(t.shape)})",
    ]
    w.let(w.choose(forms))


def movements(w: Writer) -> None:
    """Copies in another order: cat, stack, pad, flip, roll, repeat, tril."""
    x = w.pick()
    t = w.env[x]
    dim = w.dim(t)
    twin = w.pick("a", lambda s: s.shape == t.shape)
    k = w.number(0, 2)
    word = w.choose(["torch.int32", "torch.int16", "torch.uint8", "torch.int64"])
    forms = [
        f"torch.cat([{x}, {twin}], {dim})",
        f"torch.stack([{x}, {twin}], {dim})",
        f"{x}.flip({dim})",
        f"{x}.roll({w.number(-3, 3)}, {dim})",
        f"F.pad({x}, ({k}, {w.number(-1, 2)}), value={w.choose(['0', '1', '2.5'])})",
        f"F.pad({x}, ({k}, 1, 1, 0))",
        f"F.pad({x}[None], ({k}, 1), mode='{w.choose(['reflect', 'replicate', 'circular'])}')",
        f"{x}.repeat(*[{w.number(1, 2)}] * {x}.dim())",
        f"{x}.repeat_interleave({w.number(1, 3)}, {dim})",
        f"{x}.tril({w.number(-1, 1)})",
        f"{x}.triu({w.number(-1, 1)})",
        f"{x}.rot90()",
        f"torch.cat([{x}, {x}[:1], {twin}.flip(0)], 0)",
        f"{x}{'.nan_to_num()' * t.is_floating_point()}.view({word})",
        f"F.pixel_shuffle({x}[None], 2)",
        f"torch.block_diag({x}, {twin})",
        f"torch.diag_embed({x})",
        f"{x}.expand_as({twin}).contiguous()",
    ]
    w.let(w.choose(forms))


def mutations(w: Writer) -> None:
    """Writes into a value or into a view of one."""
    x = w.pick()
    target = view_text(w, x) if w.number(0, 1) and w.env[x].dim() else x
    if target != x:
        w.let(target)
        target = list(w.env)[-1]
    t = w.env[target]
    y = w.partner("a", t)
    forms = [
        f"{target}.add_({y})",
        f"{target}.mul_({w.choose(['2', '3', '-1'])})",
        f"{target}.copy_({y})",
        f"{target}.fill_(3)",
        f"{target}.zero_()",
        f"{target}.clamp_(-1, 1)",
        f"{target}.sub_(1)",
        f"{target}.neg_()",
        f"{target}.masked_fill_({target} > 0, 1)",
        f"{target}.add_({target}.flip(0))",
        f"{target}.transpose_(0, -1)",
        f"{target}.exp_()",
        f"{target}.cumsum_(0)",
        f"{target}.__setitem__(0, {w.choose(['1', '-2'])})",
        f"{target}.__setitem__({target} < 0, 5)",
        f"{target}.bitwise_not_()",
    ]
    w.do(w.choose(forms))


def makers(w: Writer) -> None:
    """New tensors, and Python numbers from sizes."""
    x = w.pick()
    dtype = w.fill("{t}")
    forms = [
        f"torch.zeros_like({x})",
        f"torch.arange({x}.numel()).reshape({x}.shape)",
        f"torch.full({x}.shape, 2, dtype={dtype})",
        f"{x} + torch.arange({x}.shape[-1])",
        f"torch.ones({x}.shape[0], 3, dtype={dtype})",
        f"{x} * {x}.shape[0]",
        f"torch.tensor([1.5, -2.0, 0.25])[{w.number(0, 2)}] * {x}",
        f"torch.linspace(0, 1, {x}.shape[-1]) + {x}",
        f"torch.eye({x}.shape[-1]) - {x}",
    ]
    w.let(w.choose(forms))


def products(w: Writer) -> None:
    """Calls of libraries, with pointwise neighbours."""
    x = w.pick("f", lambda t: t.dim() == 2)
    forms = [
        f"{x} @ {x}.t()",
        f"torch.relu({x} @ {x}.t() + 1)",
        f"F.linear({x}, {x}).sum(0)",
        f"torch.addmm({x}[:, :1], {x}, {x}.t())",
        f"F.max_pool2d({x}[None], 2)",
        f"F.avg_pool2d({x}[None], 2, stride=1)",
        f"F.interpolate({x}[None, None], scale_factor=2)",
        f"F.interpolate({x}[None, None], scale_factor=2, mode='bilinear')",
        f"F.adaptive_avg_pool2d({x}[None], (2, 3))",
        f"torch.einsum('ij,ik->jk', {x}, {x})",
        f"F.conv1d({x}[None], torch.ones(2, {x}.shape[0], 3, dtype={x}.dtype))",
    ]
    w.let(w.choose(forms))


def _from(templates: list[str]) -> Callable[[Writer], None]:
    return lambda w: w.let(w.fill(w.choose(templates)))


FAMILIES: dict[str, tuple[int, Callable[[Writer], None]]] = {
    "pointwise": (6, _from(POINTWISE)),
    "comparison": (4, _from(COMPARISONS)),
    "integer": (4, _from(INTEGERS)),
    "cast": (2, _from(CASTS)),
    "reduction": (5, _from(REDUCTIONS)),
    "scan": (2, _from(SCANS)),
    "view": (5, views),
    "movement": (4, movements),
    "gather": (2, gathers),
    "scatter": (2, scatters),
    "mutation": (3, mutations),
    "maker": (1, makers),
    "product": (1, products),
    "sort": (1, _from(SORTS)),
}
"""Family -> its weight, and what writes one statement of it."""
