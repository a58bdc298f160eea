"""Recording and replay of compiled graphs, with a recorder that needs no GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from fake_recorder import Fake
from torch import Tensor

from minductor.runtime.graphs import LEND, RECORDINGS, Facts, Graphed, Kept


class Rig:
    """A graph with everything around it."""

    def __init__(
        self, call: Callable[..., list[Any]], facts: Facts | None = None, kept: Kept | None = None
    ) -> None:
        self.kept = kept or Kept(Fake())
        assert isinstance(self.kept.recorder, Fake)
        self.fake = self.kept.recorder
        self.said: list[str] = []
        self.calls = 0

        def boxed(args: list[Any]) -> list[Any]:
            given = list(args)
            args.clear()
            self.calls += 1
            return call(*given)

        self.graph = Graphed(boxed, facts or Facts(), self.kept, self.said.append)

    def __call__(self, *args: Any) -> list[Any]:
        given = list(args)
        out = self.graph(given)
        assert given == []
        return out


def test_the_first_call_runs_the_second_is_recorded() -> None:
    rig = Rig(lambda x: [x + 1])
    for n in range(5):
        (y,) = rig(torch.full((3,), float(n)))
        assert y.tolist() == [n + 1.0] * 3
    assert (rig.fake.recordings, rig.fake.replays) == (1, 4)


def test_results_may_be_kept() -> None:
    rig = Rig(lambda x: [x * 2, x.t().contiguous().t()])
    inputs = [torch.randn(4, 6) for _ in range(5)]
    outs = [rig(x) for x in inputs]
    for x, (y, z) in zip(inputs, outs, strict=True):
        assert torch.equal(y, x * 2)
        assert torch.equal(z, x)
        assert z.stride() == (1, 4)


LARGE = LEND // 4
"""Elements of an f32 result that is lent."""


def test_large_results_are_lent_to_who_drops_them() -> None:
    rig = Rig(lambda x: [x + 1, x[:1] * 2])
    places: set[int] = set()
    for n in range(6):
        y, small = rig(torch.full((LARGE,), float(n)))
        assert (float(y[-1]), small.tolist()) == (n + 1.0, [2.0 * n])
        places.add(y.data_ptr())
        del y, small
    assert rig.fake.recordings == rig.graph.count == 1
    assert len(places) <= 2  # of the call that ran as it is, and of the recording


def test_who_keeps_large_results_gets_copies() -> None:
    rig = Rig(lambda x: [x + 1])
    outs = [rig(torch.full((LARGE,), float(n)))[0] for n in range(8)]
    assert [float(y[7]) for y in outs] == [n + 1.0 for n in range(8)]
    assert (rig.fake.recordings, rig.graph.count) == (2, 1)


def test_a_view_of_a_lent_result_keeps_it() -> None:
    rig = Rig(lambda x: [x + 1])
    rig(torch.zeros(LARGE))
    held = rig(torch.zeros(LARGE))[0][5:9]
    rig(torch.full((LARGE,), 3.0))
    assert held.tolist() == [1.0] * 4


def test_a_result_that_a_backward_reads_too_is_never_lent() -> None:
    kept = Kept(Fake())

    def forward(x: Tensor) -> list[Any]:
        y = x * 2
        return [y, y]

    rig = Rig(forward, Facts(users=1), kept)
    for _ in range(4):
        out, saved = rig(torch.ones(LARGE))
        out.zero_()
        assert float(saved[3]) == 2.0 or rig.fake.recordings == 0
        del out, saved


def test_parameters_are_read_where_they_are() -> None:
    w = torch.ones(3)
    rig = Rig(lambda x, w: [x + w], Facts(fixed=frozenset({1})))
    for step in range(4):
        w.fill_(float(step))
        assert rig(torch.zeros(3), w)[0].tolist() == [step] * 3
    assert rig.fake.recordings == 1
    moved = torch.full((3,), 7.0)
    assert rig(torch.zeros(3), moved)[0].tolist() == [7.0] * 3
    assert rig.fake.recordings == 2


def test_a_parameter_that_is_written_is_written_in_place() -> None:
    def call(x: Tensor, state: Tensor) -> list[Any]:
        state.add_(x)
        return [state * 2]

    state = torch.zeros(2)
    rig = Rig(call, Facts(fixed=frozenset({1}), writes=(1,)))
    assert rig.graph._facts.refusal() is None
    for n in range(1, 5):
        assert rig(torch.ones(2), state)[0].tolist() == [2.0 * n] * 2
        assert state.tolist() == [float(n)] * 2


def test_a_written_input_is_refused() -> None:
    reason = Facts(fixed=frozenset({0}), writes=(0, 2)).refusal()
    assert reason == "it writes its input 2, which is no parameter or buffer"


def test_sizes_have_recordings_of_their_own_up_to_a_cap() -> None:
    rig = Rig(lambda n, x: [x[:n] * n])
    for n in range(1, RECORDINGS + 4):
        for _ in range(3):
            x = torch.randn(n + 1)
            assert torch.equal(rig(n, x)[0], x[:n] * n)
    assert rig.fake.recordings == RECORDINGS
    assert rig.said == [
        f"{RECORDINGS} recordings are made; calls with other sizes, or with parameters at other "
        "addresses, run as they are"
    ]


def test_a_result_that_shows_an_input_shows_the_callers() -> None:
    rig = Rig(lambda x, w: [x.t(), w, x], Facts(fixed=frozenset({1})))
    w = torch.randn(2)
    for _ in range(4):
        x = torch.randn(2, 3)
        turned, same, itself = rig(x, w)
        assert turned.data_ptr() == x.data_ptr()
        assert torch.equal(turned, x.t())
        assert same is w
        assert itself is x


class Pair:
    """A forward that keeps an activation and its input, and the backward that reads them."""

    def __init__(self) -> None:
        kept = Kept(Fake())

        def forward(x: Tensor, w: Tensor) -> list[Any]:
            y = x * w
            return [y.sum(), y, x, w]

        def backward(y: Tensor, x: Tensor, w: Tensor, tangent: Tensor) -> list[Any]:
            return [(y * 0 + x) * tangent, w * tangent]

        self.forward = Rig(forward, Facts(fixed=frozenset({1}), users=1), kept)
        self.backward = Rig(backward, Facts(saved=frozenset({0, 1, 2})), kept)

    def step(self, x: Tensor, w: Tensor) -> None:
        loss, *saved = self.forward(x, w)
        assert torch.allclose(loss, (x * w).sum())
        grad_w, grad_x = self.backward(*saved, torch.tensor(2.0))
        assert torch.equal(grad_w, x * 2)
        assert torch.equal(grad_x, w * 2)


def test_what_is_kept_for_the_backward_stays_where_it_is() -> None:
    pair, w = Pair(), torch.randn(3)
    for _ in range(6):
        pair.step(torch.randn(3), w)
    assert pair.forward.graph.count == 1
    assert pair.backward.graph.count == 1
    assert pair.forward.fake.replays > 6


def test_two_forwards_before_their_backwards() -> None:
    pair, w = Pair(), torch.randn(3)
    for _ in range(6):
        xs = [torch.randn(3) for _ in range(2)]
        outs = [pair.forward(x, w) for x in xs]
        saved: list[Any] = []
        for x, (_, *saved) in zip(xs, outs, strict=True):
            assert torch.equal(saved[0], x * w)
            assert torch.equal(saved[1], x)
            got = pair.backward(*saved, torch.tensor(1.0))
            assert torch.equal(got[0], x)
        saved = []
        outs.clear()
    assert pair.forward.graph.count == 2
    assert pair.backward.graph.count == 2


def test_held_activations_of_many_calls_are_never_overwritten() -> None:
    pair, w = Pair(), torch.randn(3)
    xs = [torch.randn(3) for _ in range(RECORDINGS + 4)]
    outs = [pair.forward(x, w) for x in xs]
    for x, (_, y, *_) in zip(xs, outs, strict=True):
        assert torch.equal(y, x * w)
    assert pair.forward.graph.count <= RECORDINGS


def test_a_backward_of_a_forward_that_was_not_recorded_runs_as_it_is() -> None:
    pair, w = Pair(), torch.randn(3)
    pair.forward.graph.refused = "for the test"
    for _ in range(4):
        pair.step(torch.randn(3), w)
    assert pair.backward.graph.count == 0


def test_gradients_never_lie_in_the_memory_of_the_forward() -> None:
    kept = Kept(Fake())
    forward = Rig(lambda x: [x.sum(), x * 2], Facts(users=1), kept)

    def over(y: Tensor, tangent: Tensor) -> list[Any]:
        return [y.mul_(tangent)]

    backward = Rig(over, Facts(saved=frozenset({0})), kept)
    for _ in range(5):
        x = torch.randn(3)
        _, saved = forward(x)
        (grad,) = backward(saved, torch.tensor(3.0))
        if backward.graph.count:
            assert grad.data_ptr() != saved.data_ptr()
            assert torch.allclose(grad, x * 6)


def test_a_failure_is_said_once_and_the_call_runs() -> None:
    rig = Rig(lambda x: [x + 1])
    rig.fake.error = "operation not permitted when stream is capturing"
    for _ in range(4):
        assert rig(torch.zeros(1))[0].item() == 1.0
    assert rig.said == [
        "the recording failed: RuntimeError: operation not permitted when stream is capturing"
    ]


def test_inside_somebody_elses_recording_the_graph_runs_as_it_is() -> None:
    rig = Rig(lambda x: [x + 1])
    rig.fake.where = None
    for _ in range(4):
        rig(torch.zeros(1))
    assert rig.fake.recordings == 0


def test_another_stream_has_another_recording() -> None:
    rig = Rig(lambda x: [x + 1])
    for where in ("a", "a", "b", "b", "a", "b"):
        rig.fake.where = where
        rig(torch.zeros(1))
    assert rig.fake.recordings == 2


@pytest.mark.parametrize("shape", [(0, 3), (), (4, 1, 5)])
def test_layouts_of_copies(shape: tuple[int, ...]) -> None:
    rig = Rig(lambda x: [x + 1, None, 3])
    for _ in range(4):
        x = torch.randn(shape)
        y, nothing, number = rig(x)
        assert torch.equal(y, x + 1)
        assert y.stride() == (x + 1).stride()
        assert (nothing, number) == (None, 3)


def test_results_with_gaps_and_repeats() -> None:
    def call(x: Tensor) -> list[Any]:
        return [(x + 1)[:, ::2], (x[:1] * 2).expand(4, 6), (x + 2)[1:]]

    rig = Rig(call)
    for _ in range(4):
        x = torch.randn(4, 6)
        for got, want in zip(rig(x), call(x), strict=True):
            assert torch.equal(got, want)
            assert got.stride() == want.stride()


def test_inference_mode_and_back() -> None:
    rig = Rig(lambda x: [x + 1])
    for inside in (True, True, False, True, False):
        with torch.inference_mode(inside):
            assert rig(torch.zeros(2))[0].tolist() == [1.0, 1.0]
    assert rig.graph.refused is None
    assert rig.graph.count == 1
