"""Arguments of one memory, called again with views of another tensor than at the compile."""

import warnings
from collections.abc import Callable

import pytest
import torch
from harness import same
from torch import Tensor

from minductor import FallbackWarning


def write_through_views(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    wide = y.expand(2, *y.shape)
    wide.__setitem__(0, -2)
    return wide + 1, y, x * 2


OWN = lambda b: b[:16].clone().view(4, 4)  # noqa: E731
OTHERS: dict[str, Callable[[Tensor], Tensor]] = {
    "of_a_longer_tensor": lambda b: b[:16].view(4, 4),
    "with_an_offset": lambda b: b[3:19].view(4, 4),
    "of_another_rank": lambda b: b.view(5, 5)[1:5].view(-1)[:16].view(4, 4),
    "of_no_tensor": lambda b: b.as_strided((4, 4), (4, 1), 2).detach(),
}


@pytest.mark.parametrize("validate", [False, True])
def test_other_bases(validate: bool) -> None:
    """They have the same sizes and strides, so Dynamo sees no difference; the values are right."""
    torch._dynamo.reset()
    f = write_through_views
    options = {"strict": True, "validate": validate}
    subject = torch.compile(f, backend="minductor", options=options)
    for make in (OWN, OWN):
        a, b = torch.arange(25.0), torch.arange(25.0)
        x, y = make(a), make(b)
        same(subject(x, x.reshape(-1)), f(y, y.reshape(-1)))
        same(x, y)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for name, make in OTHERS.items():
            a, b = torch.arange(25.0), torch.arange(25.0)
            x, y = make(a), make(b)
            same(subject(x, x.reshape(-1)), f(y, y.reshape(-1)), name)
            same(a, b, name)
    assert [w.category for w in seen] == [FallbackWarning]


def test_views_that_nothing_writes_stay_compiled(recwarn: pytest.WarningsRecorder) -> None:
    """Without a write each view is an argument of its own, whatever stands behind it."""
    torch._dynamo.reset()
    f = lambda x, y: (x + 1, y * 2)  # noqa: E731
    subject = torch.compile(f, backend="minductor", options={"strict": True})
    for make in (OWN, *OTHERS.values()):
        x = make(torch.arange(25.0))
        same(subject(x, x.reshape(-1)), f(x, x.reshape(-1)))
    assert not [w for w in recwarn if w.category is FallbackWarning]
