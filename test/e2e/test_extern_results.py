"""What eager's kernels give where torch's fake tensors promise something else, and lazy views."""

import torch
import torch.nn.functional as F
from harness import check, compiled, gradients, leaf, same, uniform
from torch import Tensor


def test_results_that_nobody_reads_may_be_anything() -> None:
    """Kernels leave results empty that were not asked for."""
    offsets = torch.tensor([0, 2, 5])
    ids = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])

    def f(table: Tensor) -> Tensor:
        return F.embedding_bag(ids, table, offsets, mode="sum")

    check(f, lambda: (uniform(10, 3).bfloat16(),), calls=1)
    torch._dynamo.reset()
    check(f, lambda: (leaf(uniform(10, 3).bfloat16()),), calls=1, grad=True)


def test_batch_norm_with_update_keeps_the_dtype_of_its_statistics() -> None:
    def f(x: Tensor, w: Tensor, mean: Tensor, var: Tensor) -> tuple[Tensor, ...]:
        return torch.ops.aten._batch_norm_with_update(x, w, w, mean, var, 0.1, 1e-5)

    def make() -> tuple[Tensor, ...]:
        return tuple(t.bfloat16() for t in (uniform(6, 4), *(uniform(4).abs() for _ in range(3))))

    check(f, make, calls=1)


def test_unpooling_keeps_channels_last() -> None:
    x = uniform(1, 2, 4, 6).contiguous(memory_format=torch.channels_last)
    pooled, places = F.max_pool2d(x, 2, return_indices=True)
    check(lambda p, i: F.max_unpool2d(p, i, 2), lambda: (pooled.clone(), places.clone()), calls=1)


def test_index_fill_of_strided_and_0d_tensors() -> None:
    def f(x: Tensor, y: Tensor, i: Tensor) -> tuple[Tensor, ...]:
        value = torch.tensor(4)
        return x.index_fill(0, i, 3.5), x.index_fill(1, i, value), y.index_fill(0, i[:1] - 1, -1)

    check(f, lambda: (uniform(4, 3).t(), uniform(1)[0], torch.tensor([1, 2])), calls=1)


def test_a_lazily_conjugated_tangent_is_read_as_its_values() -> None:
    def f(x: Tensor) -> Tensor:
        return torch.fft.ifft(x)

    a, b = leaf(uniform(4, 6)), leaf(uniform(4, 6))
    tangent = torch.complex(uniform(4, 6, seed=1), uniform(4, 6, seed=2)).conj()
    assert tangent.is_conj()
    (want,) = torch.autograd.grad(f(a), a, tangent)
    (got,) = torch.autograd.grad(compiled(f)(b), b, tangent)
    same(got, want)


def test_a_lazily_conjugated_input() -> None:
    def make() -> tuple[Tensor]:
        return (torch.complex(uniform(4, 6), uniform(4, 6, seed=1)).t().conj(),)

    check(lambda z: (z * 2, z.real + 1, z.imag), make, calls=1)


def test_an_order_of_effects_in_a_backward() -> None:
    """The backward of eig checks its solver's status, an effect that AOTAutograd orders."""

    def f(x: Tensor) -> Tensor:
        return torch.linalg.eig(x)[1].abs()

    a, b = leaf(uniform(4, 4)), leaf(uniform(4, 4))
    want, got = f(a), compiled(f)(b)
    same(got, want, tol=(1e-4, 1e-4))
    same(gradients(got, b), gradients(want, a), "gradient", tol=(1e-3, 1e-3), strides=False)


def test_split_at_places_that_data_decide() -> None:
    def f(x: Tensor, places: Tensor) -> list[Tensor]:
        return [part * 2 for part in torch.tensor_split(x, places)]

    subject, x = compiled(f), uniform(6, 4)
    for places in ([1, 3], [0, 6], [4, 2], [6, 6], [2, 9], [-2, 9], [-5, -1]):
        given = torch.tensor(places)
        same(subject(x, given), f(x, given), str(places), exact=True)
    assert len(subject.graphs) == 1


def test_narrow_at_a_start_that_data_decide() -> None:
    def f(x: Tensor, start: Tensor) -> Tensor:
        return x.narrow(0, start, 2) + 1

    subject, x = compiled(f), uniform(6, 4)
    for start in (0, 1, 4, -2, -6):
        given = torch.tensor(start)
        same(subject(x, given), f(x, given), str(start), exact=True)


def test_counts_have_eagers_dtype() -> None:
    def f(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        return torch.bincount(x), torch.bincount(x, w), torch.bincount(x, w.double(), 9)

    check(f, lambda: (torch.tensor([1, 4, 4, 0], dtype=torch.int32), uniform(4)), fullgraph=False)
