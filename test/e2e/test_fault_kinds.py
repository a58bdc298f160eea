"""Kinds of faults that graph compilers are known for: arithmetic, casts, constants, names, size.

Each test names the fault; the right answer is eager's, or float64's where eager rounds too.
"""

import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import check, compiled, filled, integers, same, uniform
from torch import Tensor, nn

NAN, INF = float("nan"), float("inf")


def narrow_integers_wrap(a: Tensor, b: Tensor) -> Any:
    wide = ((a * a + b).to(torch.int32), (b.to(torch.int16) * 300 * 300).float())
    return (*wide, (a.view(torch.int8) * 3 - 100).long(), (a + 250) // 3, -a, a.sum(), (a * 2) > b)


def mask_used_as_number(a: Tensor, b: Tensor) -> Any:
    m = a >= b
    signs = (a > 9).to(torch.int8) - (b < 3).to(torch.int8)
    return a * m, m.float() + m, m * 3, (m & ~m.roll(1)).sum(), signs, m.sum(), m.float().mean()


def test_bytes_wrap_and_masks_count() -> None:
    a = torch.arange(256, dtype=torch.int32).to(torch.uint8)
    check(narrow_integers_wrap, lambda: (a.clone(), a.flip(0)))
    torch._dynamo.reset()
    check(mask_used_as_number, lambda: (a.clone(), a.flip(0)))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8])
def test_shifts_at_and_past_the_width(dtype: torch.dtype) -> None:
    bits = torch.iinfo(dtype).bits
    values = torch.tensor([1, -1, 5, -128, 127, 3]).to(dtype).repeat_interleave(6)
    by = torch.tensor([0, 1, bits - 1, bits, bits + 3, 2]).to(dtype).repeat(6)
    check(lambda a, s: (a << s, a >> s), lambda: (values.clone(), by.clone()))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
@pytest.mark.parametrize("divisor", [3, -3, 7, -1])
def test_division_of_negative_integers(dtype: torch.dtype, divisor: int) -> None:
    def f(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        trunc = torch.div(a, b, rounding_mode="trunc")
        return a // b, a % b, torch.fmod(a, b), trunc, a // -3, a % 4, a.float() % -2.5, a / b

    a = torch.arange(-20, 21).to(dtype)
    check(f, lambda: (a.clone(), torch.full_like(a, divisor)), calls=1)


def test_dtype_arguments_are_obeyed() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        ones = torch.ones(3, 5, dtype=torch.bool)
        scans = (ones.cumsum(1, dtype=torch.float16), ones.cumsum(0), x.int().cumsum(0))
        narrow = (x.int().cumsum(0, dtype=torch.int16), x.to(torch.uint8).sum(), x.bool().sum(0))
        sums = (
            x.sum(dtype=torch.float64),
            x.mean(dtype=torch.float64),
            x.prod(dtype=torch.float64),
        )
        return (*scans, *narrow, *sums, F.softmax(x, 0, dtype=torch.float64), torch.full((2,), 2))

    check(f, lambda: (torch.arange(6.0),))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_algebra_that_is_false_for_specials(dtype: torch.dtype) -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        zeros = (x * 0, x - x, x / x, 0 / x, x * 0.0 + 1, 0 - x, x + 0.0, x * 1.0, x * -1)
        powers = (x.pow(0), x.pow(2.0), x.pow(0.5), x.pow(-1), x.sqrt() * x.rsqrt(), x.exp().log())
        tests = (x != x, x == x, torch.where(x == x, x, 0.0), x.isnan(), x.isinf(), x.sign())
        return (*zeros, *powers, *tests, (x + 1e30) - x, x.clamp(max=NAN), x.nan_to_num())

    specials = torch.tensor([NAN, INF, -INF, 0.0, -0.0, 1.5, -2.0, 3e38] * 5).to(dtype)
    check(f, lambda: (specials.clone(),), exact=False)


def test_minus_zero_survives() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        kept = (x * 1, -x, x + 0.0, x - 0.0, x.abs(), x.relu(), x.trunc(), x.ceil(), x.round())
        return (
            *kept,
            torch.copysign(torch.ones(4), x),
            x.sum(0, keepdim=True),
            1 / x,
            x.neg().neg(),
        )

    check(f, lambda: (torch.tensor([0.0, -0.0, -0.3, 0.4]),), exact=True)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_casts_that_the_user_wrote_round(dtype: torch.dtype) -> None:
    def f(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        a = x.to(dtype).float()
        return x - a, (x * w).to(dtype).float() * 3, a.double(), a.to(dtype).float() - a

    check(f, lambda: (uniform(9, 35), uniform(9, 35, seed=1)), exact=True)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_every_op_rounds_when_asked_to_emulate(dtype: torch.dtype) -> None:
    def f(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        y = x.to(dtype) * w.to(dtype)
        return y.float() - x * w, (y + x.to(dtype)).sqrt(), (y.sigmoid() * y).relu() - y

    make = lambda: (uniform(9, 35).abs(), uniform(9, 35, seed=1).abs())  # noqa: E731
    # Functions may round the other way in the last place; sums and products may not.
    last = (2**-7, 1e-6) if dtype is torch.bfloat16 else (2**-10, 1e-6)
    check(f, make, tol=last, options={"emulate": True})
    torch._dynamo.reset()
    check(lambda x, w: f(x, w)[0], make, exact=True, options={"emulate": True})


def test_float_to_integer_casts_truncate() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return (
            x.to(torch.int32),
            (x * 10).to(torch.int8),
            x.abs().to(torch.uint8),
            x.bool(),
            x.long(),
        )

    check(f, lambda: (uniform(100, low=-9, high=9),), exact=True)


def test_matmul_with_scalars_and_nan_bias() -> None:
    def f(bias: Tensor, a: Tensor, b: Tensor, bad: Tensor) -> tuple[Tensor, ...]:
        scaled = torch.addmm(bias, a, b, alpha=0.5, beta=2.0).relu()
        ignored = torch.addmm(bad, a, b, beta=0)
        batched = torch.baddbmm(bad[None], a[None], b[None], beta=0, alpha=3)
        return scaled, ignored, batched, torch.addmv(bad[0, :4], a, b[:, 0], beta=0)

    make = lambda: (torch.arange(5.0), uniform(4, 6), uniform(6, 5), torch.full((4, 5), NAN))  # noqa: E731
    check(f, make)


def test_equal_products_stay_equal() -> None:
    def f(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, ...]:
        p, q = a * b, b * a
        return p - q, (a * c - c * a).abs().max(), (a * b + c) - c - p, (p - q).argmax(1), p

    check(f, lambda: [uniform(8, 53, seed=s) for s in range(3)], exact=True)


def test_slices_joined_again() -> None:
    def f(c: Tensor, y: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        x = c[..., 9]
        p = F.softplus(x)
        t, u = torch.special.gammaln(p + a), torch.erf(x * b)
        v = torch.special.xlogy(p, y.abs() + 0.1)
        return torch.stack([t, u, v], -1), torch.cat([u, t[:, ::2], v[:, 1:]], 1)

    make = lambda: (uniform(5, 9, 21), uniform(5, 9), uniform(9).abs() + 1, uniform(9))  # noqa: E731
    check(f, make)


def worst_error(got: Tensor, truth: Tensor) -> float:
    return ((got.double() - truth).abs().max() / truth.abs().max()).item()


ACCURACY: dict[str, Callable[[Tensor], Tensor]] = {
    "instance_norm": lambda x: F.instance_norm(x),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-2:]),
    "group_norm": lambda x: F.group_norm(x, 2),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "variance": lambda x: x.var((2, 3)),
    "sum": lambda x: x.sum((0, 2, 3)),
    "softmax": lambda x: x.flatten(1).softmax(1),
}


@pytest.mark.parametrize("name", ACCURACY)
def test_no_less_exact_than_eager(name: str) -> None:
    f, x = ACCURACY[name], uniform(1, 4, 300, 301, seed=3) * 2 + 5
    truth = f(x.double())
    eager, ours = worst_error(f(x), truth), worst_error(compiled(f)(x), truth)
    assert ours <= max(8 * eager, 2e-6), f"error {ours:.2e}, eager's {eager:.2e}"


def test_complex_numbers() -> None:
    def f(x: Tensor, r: Tensor) -> tuple[Tensor, ...]:
        y = x + torch.ones(3, 1, dtype=torch.complex64)
        z = torch.view_as_real(torch.view_as_complex(r) * x)
        return y, z, (x * x.conj()).real, x.abs(), y * 2 - x, x.sum(0)

    x = torch.complex(uniform(3, 4), uniform(3, 4, seed=1))
    # A graph of complex numbers may be left to eager: what counts is that its values are right.
    check(f, lambda: (x.clone(), uniform(3, 4, 2)), options={"strict": False})


def test_constants_that_fold_to_nan() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        one = torch.ones(3, 4)
        n = torch.acosh(torch.log2(torch.atan2(one, one)))
        i = torch.full((4,), INF)
        return n.softmax(-1), torch.maximum(n, one), i - i, x + n, (-i).clamp(min=0), n.argmax()

    check(f, lambda: (torch.ones(3, 4),))


def test_shared_values_are_not_copied_without_bound() -> None:
    def f(a: Tensor, b: Tensor) -> Tensor:
        s = [a, b]
        for _ in range(40):
            c = (s[-1] + s[-2]) * 0.5
            s += [c, (s[-1] * s[-2]).sin()]
        return s[-1] - s[-2]

    start = time.perf_counter()
    line = torch.linspace(0, 1, 9, dtype=torch.float64)
    check(f, lambda: (line.clone(), line.flip(0)))
    assert time.perf_counter() - start < 60


def test_one_very_long_kernel_builds_soon() -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        for k in range(150):
            x = torch.tanh(x * 0.5 + y) + x.sigmoid() * (k % 3)
            y = y * 0.9 + x.abs().sqrt() * 0.01
        return x, y

    start = time.perf_counter()
    line = torch.linspace(-1, 1, 200, dtype=torch.float64)
    check(f, lambda: (line.clone(), line + 2), calls=1)
    assert time.perf_counter() - start < 60


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_eight_bit_floats(dtype: torch.dtype) -> None:
    def f(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        return (x * 3).to(dtype).float() + 1, b.to(dtype).float(), x.to(dtype)

    check(f, lambda: (uniform(37), filled(torch.bool, 37)), exact=True)


class Clashing(nn.Module):
    """Buffers and arguments named as generated code might name its own."""

    NAMES = (
        "int",
        "auto",
        "new",
        "kernel",
        "buf0",
        "in_ptr0",
        "template",
        "arg0_1",
        "call",
        "main",
    )

    def __init__(self) -> None:
        super().__init__()
        for k, name in enumerate(self.NAMES):
            self.register_buffer(name, torch.full((3,), float(k)))

    def forward(self, tmp0: Tensor, in_ptr0: Tensor, omp: Tensor, s0: Tensor, d0: Tensor) -> Tensor:
        x = tmp0 * in_ptr0 - omp + d0 * s0
        for buffer in self.buffers():
            x = x * 0.5 + buffer
        return x


def test_names_that_generated_code_uses() -> None:
    check(Clashing(), lambda: [torch.arange(3.0) + k for k in range(5)])


def test_large_constant() -> None:
    big = torch.arange(2_000_000, dtype=torch.float32).reshape(1000, 2000)

    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        return (x + big[:, :3]).sum(0), big[7] * 2 + x[0, 0]

    start = time.perf_counter()
    check(f, lambda: (torch.ones(1000, 3),), tol=(1e-5, 1e-4))
    assert time.perf_counter() - start < 60


def test_strided_view_of_a_value_whose_layout_is_the_compilers_choice() -> None:
    def f(x: Tensor) -> Tensor:
        return torch.as_strided(x.flip(0) + 1, (4, 6), (3, 2), 1)

    last = torch.channels_last
    check(f, lambda: (uniform(2, 3, 3, 4).to(memory_format=last),), exact=True)


def test_convolution_chain_in_both_layouts() -> None:
    chain = (nn.Conv2d(4, 16, 3, padding=1), nn.PixelShuffle(2), nn.ReLU(), nn.Conv2d(4, 6, 1))
    m = nn.Sequential(*chain, nn.GroupNorm(3, 6), nn.AdaptiveAvgPool2d(2), nn.Flatten()).eval()
    for fmt in (torch.contiguous_format, torch.channels_last):
        torch._dynamo.reset()
        x = uniform(2, 4, 9, 7).to(memory_format=fmt)
        with torch.no_grad():
            check(m, lambda x=x: (x.clone(),), tol=(1e-4, 1e-4))


def test_many_inputs_and_outputs() -> None:
    def f(*xs: Tensor) -> list[Tensor]:
        total = sum(xs[1:], xs[0])
        return [x * k + total for k, x in enumerate(xs)]

    check(f, lambda: [uniform(17, seed=s) for s in range(120)], calls=1)


def test_reads_of_a_64_bit_index_range() -> None:
    def f(x: Tensor, i: Tensor) -> tuple[Tensor, ...]:
        return x[i.int()] + 1, x[i] * 2, x.index_select(0, i.int()), i * 5_000_000_000

    check(f, lambda: (uniform(11, 3), integers(9, low=0, high=11)))


def test_bool_inputs_that_hold_other_bytes() -> None:
    raw = torch.tensor([0, 1, 2, 255, 0, 7], dtype=torch.uint8)
    f = compiled(lambda m, x: (torch.where(m, x, -x), x * m))
    m, x = raw.view(torch.bool), torch.arange(1.0, 7.0)
    want = torch.where(raw != 0, x, -x)
    same(f(m, x)[0], want)


def test_logic_is_that_of_the_common_dtype() -> None:
    """An operand without dimensions is converted first, and may become zero by it."""

    def f(x: Tensor, whole: Tensor, y: Tensor, small: Tensor) -> tuple[Tensor, ...]:
        pairs = ((x, whole), (y, small), (whole, x), (x.bool(), small), (whole, small))
        ops = (torch.logical_xor, torch.logical_and, torch.logical_or)
        return tuple(op(a, b) for a, b in pairs for op in ops)

    def inputs() -> tuple[Tensor, ...]:
        x = torch.tensor([6, 0, -5], dtype=torch.int8)
        y = torch.tensor([1.0, 0.0, -2.0], dtype=torch.float16)
        return x, torch.tensor(-32768), y, torch.tensor(1e-30)

    check(f, inputs, exact=True)


def test_a_part_that_is_moved_does_not_take_the_memory_of_its_input() -> None:
    def f(x: Tensor) -> Tensor:
        places = x.cummax(0)[1]
        return F.pad(x ^ places, (1, -1), value=1)

    check(f, lambda: (integers(3, 9),), exact=True)


REFUSED: dict[str, tuple[Callable[[Tensor], Any], torch.dtype]] = {
    "softmax": (lambda x: x.softmax(0), torch.int64),
    "log_softmax": (lambda x: x.log_softmax(0), torch.uint8),
    "logaddexp": (lambda x: torch.logaddexp(x, x), torch.int32),
    "lerp": (lambda x: torch.lerp(x, x, 0.5), torch.int64),
    "argmax": (lambda x: x.argmax(), torch.bool),
    "relu": (lambda x: x.relu(), torch.bool),
}


@pytest.mark.parametrize("name", REFUSED)
def test_dtypes_that_eager_refuses(name: str) -> None:
    fn, dtype = REFUSED[name]
    x = torch.ones(3, dtype=dtype)
    errors: list[str] = []
    for call in (fn, compiled(fn)):
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            call(x)
        errors.append(str(caught.value).splitlines()[0])
    assert errors[0] == errors[1]


def test_dropout_of_all_is_a_product_with_zeros() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        y = F.dropout(x, 1.0)
        return y, torch.copysign(torch.ones(5), y)

    check(f, lambda: (torch.tensor([-1.0, 2.0, -0.0, INF, NAN]),))
