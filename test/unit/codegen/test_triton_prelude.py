"""Helpers of Triton kernels, as text."""

from minductor.codegen.triton.prelude import helpers_for


def test_bessel_functions_have_no_value_at_infinity() -> None:
    """CUDA's library gives their limit, PyTorch NaN."""
    text = helpers_for("y = mi_bessel_j0(x) + mi_bessel_y1(x)")
    assert "tl.where(a - a == 0, libdevice.j0(a), float('nan'))" in text
    assert "tl.where(a - a == 0, libdevice.y1(a), float('nan'))" in text


def test_a_helper_brings_those_that_it_calls() -> None:
    text = helpers_for("y = mi_zeta(a, b)")
    assert "def mi_zeta_right(" in text
    assert "libdevice.erfc(a)" in helpers_for("mi_erfc(x)")
