"""Ops by schema name, their out= forms, and custom ops."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from minductor.runtime import externs
from minductor.runtime.externs import ExternError
from minductor.runtime.launch import launcher


def test_names() -> None:
    assert externs.resolve("aten.mm.default") is torch.ops.aten.mm.default
    assert externs.resolve("aten::mm") is torch.ops.aten.mm.default
    assert externs.resolve("aten.add.Tensor") is torch.ops.aten.add.Tensor
    assert externs.resolve("prims.convert_element_type.default").namespace == "prims"
    assert externs.resolve("_c10d_functional.wait_tensor.default").namespace == "_c10d_functional"


@pytest.mark.parametrize("name", ["aten.no_such_op.default", "nowhere.op.default", "aten.mm.odd"])
def test_unknown_names_say_what_to_import(name: str) -> None:
    with pytest.raises(ExternError, match=f"{name} is not known in this process"):
        externs.resolve(name)


def test_arguments_in_schema_order_and_by_keyword() -> None:
    x = torch.rand(3, 4)
    y = torch.rand(3, 4)
    add = externs.bind("aten.add.Tensor")
    assert torch.equal(add(x, y, alpha=3), torch.add(x, y, alpha=3))
    values, indices = externs.bind("aten.sort.default", 2)(x, 0, True)
    assert torch.equal(values, x.sort(0, True).values)
    assert torch.equal(indices, x.sort(0, True).indices)


def test_custom_ops() -> None:
    @torch.library.custom_op("minductor_test::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    assert torch.equal(
        externs.bind("minductor_test.twice.default")(torch.ones(2)), 2 * torch.ones(2)
    )


def test_out_forms_are_found_by_schema() -> None:
    aten = torch.ops.aten
    assert externs.out_form(aten.mm.default) is aten.mm.out
    assert externs.out_form(aten.add.Tensor) is aten.add.out
    assert externs.out_form(aten.add.Scalar) is aten.add.Scalar_out
    assert externs.out_form(aten.sort.default) is aten.sort.values
    assert externs.out_form(aten.sort.stable) is aten.sort.values_stable
    assert externs.out_form(aten.view.default) is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64])
def test_matrix_products_into_memory(dtype: torch.dtype) -> None:
    a = torch.randint(-9, 9, (5, 4)).to(dtype)
    b = torch.randint(-9, 9, (3, 4)).to(dtype).t()
    c = torch.randint(-9, 9, (3,)).to(dtype)
    out = torch.empty_strided((5, 3), (1, 5), dtype=dtype)
    externs.bind_into("aten.mm.default", tensors=2)(out, a, b)
    assert torch.equal(out, a @ b)
    externs.bind_into("aten.addmm.default", tensors=3)(out, c, a, b)
    assert torch.equal(out, torch.addmm(c, a, b))
    externs.bind_into("aten.addmm.default", tensors=3, beta=2, alpha=3)(out, c, a, b)
    assert torch.equal(out, torch.addmm(c, a, b, beta=2, alpha=3))
    big = torch.empty(2, 5, 3, dtype=dtype)
    externs.bind_into("aten.bmm.default", tensors=2)(big, torch.stack([a, a]), torch.stack([b, b]))
    assert torch.equal(big, torch.stack([a @ b, a @ b]))


def test_fast_products_are_called_from_c() -> None:
    assert type(externs.bind_into("aten.mm.default", tensors=2)) is launcher().Out
    assert type(externs.bind_into("aten.addmm.default", tensors=3)) is launcher().Out
    assert (
        type(externs.bind_into("aten.mm.default", tensors=2, device="cuda")) is not launcher().Out
    )
    assert type(externs.bind_into("aten.mm.default")) is not launcher().Out


def test_failures_speak_with_torchs_words() -> None:
    mm = externs.bind_into("aten.mm.default", tensors=2)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        mm(torch.empty(2, 2), torch.rand(2, 3), torch.rand(2, 3))


def test_lazy_conjugation_is_seen() -> None:
    x = torch.rand(3, 3, dtype=torch.complex64)
    out = torch.empty_like(x)
    externs.bind_into("aten.mm.default", tensors=2)(out, x.conj(), x)
    assert torch.allclose(out, x.conj().resolve_conj() @ x)


def test_several_results_into_memory() -> None:
    x = torch.rand(3, 4)
    values, indices = torch.empty(3, 4), torch.empty(3, 4, dtype=torch.int64)
    externs.bind_into("aten.sort.stable", outs=2)(values, indices, x, stable=True, dim=1)
    assert torch.equal(values, x.sort(1).values)


def test_no_out_form() -> None:
    with pytest.raises(ExternError, match="no out= form"):
        externs.bind_into("aten.view.default")


def test_lists_are_spliced_and_undefined_results_left_out() -> None:
    x = torch.rand(4, 3)
    first, second = externs.bind("aten.split.Tensor", 2)(x, 2)
    assert torch.equal(first, x[:2])
    assert torch.equal(second, x[2:])
    assert torch.equal(externs.bind("aten.unbind.int", 1)(x[:1]), x[0])
    backward = externs.bind("aten.native_layer_norm_backward.default", 1)
    mean, rstd = x.mean(1, keepdim=True), torch.ones(4, 1)
    dx = backward(x, x, [3], mean, rstd, None, None, [True, False, False])
    assert dx.shape == x.shape
    with pytest.raises(ExternError, match="gave 4 results, not 3"):
        externs.bind("aten.split.Tensor", 3)(x, 1)


def test_errors_inside_ops_surface() -> None:
    @torch.library.custom_op("minductor_test::picky", mutates_args=())
    def picky(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("picky indeed")

    call: Any = externs.bind("minductor_test.picky.default")
    with pytest.raises(ValueError, match="picky indeed"):
        call(torch.ones(1))
