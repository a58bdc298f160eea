"""A compiled graph as a recording: one launch a call in place of one a kernel.

    first call with some sizes     runs as it is: kernels are loaded, variants chosen
    next call                      recorded into a CUDA graph, then replayed
    each later call                inputs copied in, replayed, results copied out

Inputs are of two kinds. Those that stay where they are (parameters, buffers, what a forward kept
for its backward) are read at their address, and a recording serves calls with these addresses
alone. All others are copied into buffers of the recording, in one launch.

What a forward keeps for its backward stays in the recording's memory: a recording is replayed only
when nobody holds any of it any more. Until then the same sizes get another recording; RECORDINGS is
the most that a graph has, sizes and addresses taken together. A call that gets none runs as it is,
which is always right.

Results that a user gets may be kept for any time. Small ones are copies. Those of an inference or a
backward that come to LEND bytes are lent: they stay in the recording's memory too. Who still holds
them at the next call gets a recording that copies in place of that one, from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from threading import Lock
from typing import Any

import torch
from torch import Tensor

from minductor.runtime.recorder import CudaRecorder, Recorder

RECORDINGS = 8
"""Recordings of one graph: the cap on its sizes, addresses and kept results."""

LEND = 1 << 20
"""Bytes of all results of a graph from which on they are not copied."""

Boxed = Callable[[list[Any]], list[Any]]

_guards: Any = import_module("torch._C._dynamo.guards")
_use_count: Any = getattr(torch._C, "_storage_Use_Count", None)


@dataclass
class Kept:
    """What a forward and its backward share. `addresses`: of what recordings of the forward keep,
    which the backward may read in place."""

    recorder: Recorder = field(default_factory=CudaRecorder)
    addresses: set[int] = field(default_factory=set[int])


@dataclass(frozen=True)
class Facts:
    """What is known of a graph. `fixed`: inputs that stay where they are; `saved`: inputs that the
    forward kept; `users`: how many of the results, first ones, a user gets; `writes`: inputs that
    the graph writes."""

    fixed: frozenset[int] = frozenset()
    saved: frozenset[int] = frozenset()
    users: int = 1 << 30
    writes: tuple[int, ...] = ()

    def refusal(self) -> str | None:
        """Why the graph is not recorded, or None."""
        moved = [n for n in self.writes if n not in self.fixed and n not in self.saved]
        if moved:
            return f"it writes its input {moved[0]}, which is no parameter or buffer"
        if _use_count is None:
            return "this version of torch cannot say who holds a storage"
        return None


def _view(base: Tensor, layout: _Layout) -> Tensor:
    """A tensor of its own that shows the memory of `base`."""
    if base.dtype == layout.dtype and layout.distance % base.element_size() == 0:
        offset = layout.distance // base.element_size()
        return _guards._reinterpret_tensor(base, layout.size, layout.stride, offset)
    start = base.storage_offset() * base.element_size() + layout.distance
    out = torch.empty(0, dtype=layout.dtype, device=base.device)
    place = start // layout.dtype.itemsize
    return out.set_(base.untyped_storage(), place, layout.size, layout.stride)


def _copy(tensor: Tensor) -> Tensor:
    """A copy with exactly the strides of `tensor`."""
    size, stride = tensor.size(), tensor.stride()
    if tensor.numel() == 0:
        return torch.empty_strided(size, stride, dtype=tensor.dtype, device=tensor.device)
    span = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    flat = tensor.as_strided((span,), (1,)).clone()
    return flat.as_strided(size, stride, 0)


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata


@dataclass(frozen=True)
class _Layout:
    """How a result shows the memory of another tensor, `distance` bytes behind its beginning."""

    size: torch.Size
    stride: tuple[int, ...]
    dtype: torch.dtype
    distance: int

    @staticmethod
    def of(tensor: Tensor, base: Tensor) -> _Layout:
        distance = tensor.data_ptr() - base.data_ptr()
        return _Layout(tensor.size(), tensor.stride(), tensor.dtype, distance)

    def is_whole(self, base: Tensor) -> bool:
        """The result is `base` itself."""
        same = self.size == base.size() and self.stride == base.stride()
        return same and self.dtype == base.dtype and self.distance == 0


@dataclass(frozen=True)
class _Shown:
    """A result in the memory of input `number`, which is the caller's."""

    number: int
    layout: _Layout


@dataclass(frozen=True)
class _Held:
    """A result in the memory of the recording, handed out as it is."""

    base: Tensor
    layout: _Layout


@dataclass(frozen=True)
class _Copied:
    """A result in the memory of the recording, of which a caller gets a copy."""

    base: Tensor


class Recording:
    """One recording and its memory. `copied`: the inputs that it has buffers for."""

    def __init__(
        self,
        call: Boxed,
        args: Sequence[Any],
        copied: Sequence[int],
        facts: Facts,
        record: Callable[[Callable[[], list[Any]]], tuple[Callable[[], None], list[Any]]],
        lend: bool = False,
    ) -> None:
        self._numbers = tuple(copied)
        self._buffers = [_copy(args[n]) for n in copied]
        places = dict(zip(copied, self._buffers, strict=True))
        given = [places.get(n, arg) for n, arg in enumerate(args)]
        self._replay, outputs = record(lambda: call(list(given)))
        total = sum(o.untyped_storage().nbytes() for o in outputs if isinstance(o, Tensor))
        self.lends = lend and len(outputs) <= facts.users and total >= LEND
        self._results = [self._result(n, one, given, facts) for n, one in enumerate(outputs)]
        held = [_storage(r.base) for r in self._results if isinstance(r, _Held)]
        self._held = [(data, _use_count(data)) for data in dict.fromkeys(held)]

    def _result(self, number: int, output: Any, given: Sequence[Any], facts: Facts) -> Any:
        """How a result is handed out at each call."""
        if not isinstance(output, Tensor):
            return output
        data = _storage(output)
        inputs = (n for n, a in enumerate(given) if isinstance(a, Tensor) and _storage(a) == data)
        source = next(inputs, None)
        if number < facts.users:
            if source is None and self.lends:
                return _Held(output, _Layout.of(output, output))
            if source is None or source in facts.saved:  # what the forward kept is written anew
                return _Copied(output)
            return _Shown(source, _Layout.of(output, given[source]))
        if source is None or source in self._numbers:
            return _Held(output, _Layout.of(output, output))
        return _Shown(source, _Layout.of(output, given[source]))

    def free(self) -> bool:
        """Nobody holds anything that a replay would write."""
        return all(_use_count(data) == count for data, count in self._held)

    def kept(self, args: Sequence[Any], users: int) -> list[int]:
        """Addresses of what is handed out for the backward."""
        out: list[int] = []
        for one in self._results[users:]:
            if isinstance(one, _Held):
                out.append(one.base.data_ptr())
            elif isinstance(one, _Shown):
                out.append(_view(args[one.number], one.layout).data_ptr())
        return out

    def run(self, args: Sequence[Any]) -> list[Any]:
        """Replay with these inputs; the results."""
        with torch.no_grad():
            if len(self._numbers) == 1:
                self._buffers[0].copy_(args[self._numbers[0]])
            elif self._numbers:
                torch._foreach_copy_(self._buffers, [args[n] for n in self._numbers])
            self._replay()
            return self._handed_out(args)

    def _handed_out(self, args: Sequence[Any]) -> list[Any]:
        copies: dict[int, Tensor] = {}
        out: list[Any] = []
        for one in self._results:
            if isinstance(one, _Copied):
                if id(one.base) not in copies:
                    copies[id(one.base)] = _copy(one.base)
                out.append(copies[id(one.base)])
            elif isinstance(one, _Held):
                out.append(_view(one.base, one.layout))
            elif isinstance(one, _Shown):
                base = args[one.number]
                out.append(base if one.layout.is_whole(base) else _view(base, one.layout))
            else:
                out.append(one)
        return out


class Graphed:
    """A boxed callable, recorded and replayed where it may be.

    `say` gets a line when calls are refused for good.
    """

    def __init__(self, call: Boxed, facts: Facts, kept: Kept, say: Callable[[str], None]) -> None:
        self._call = call
        self._facts = facts
        self._kept = kept
        self._say = say
        self._lock = Lock()
        self._warm: set[Hashable] = set()
        self._lend = True
        self._recordings: dict[Hashable, list[Recording]] = {}
        self._told = False
        self.count = 0
        self.refused: str | None = None

    def __call__(self, args: list[Any]) -> list[Any]:
        """The graph's results. `args` is emptied."""
        if self.refused is not None:
            return self._call(args)
        place = self._kept.recorder.place(args)
        if place is None:
            return self._call(args)
        with self._lock:
            recording = self._recording(place, args)
            if recording is not None:
                results = recording.run(args)
                args.clear()
                return results
        return self._call(args)

    def _recording(self, place: Hashable, args: Sequence[Any]) -> Recording | None:
        """The recording for a call, made now if need be; None: the call runs as it is."""
        facts = self._facts
        fixed: list[int] = []
        sizes: list[Any] = [place]
        copied: list[int] = []
        for n, arg in enumerate(args):
            if not isinstance(arg, Tensor):
                sizes.append(arg)
            elif n in facts.fixed or n in facts.saved:
                fixed.append(arg.data_ptr())
                if n in facts.saved and fixed[-1] not in self._kept.addresses:
                    return None  # its forward ran as it is: this address will not come again
            else:
                copied.append(n)
                sizes.append((arg.size(), arg.stride()))
        shape = tuple(sizes)
        key = (shape, tuple(fixed))
        made = self._recordings.get(key, [])
        for one in made:
            if one.free():
                return one
        lent = [one for one in made if one.lends]
        if lent:  # the user keeps results
            self._lend = False
        if shape not in self._warm:
            self._warm.add(shape)
            return None
        if self.count >= RECORDINGS:
            if not made:
                self._full()
            return None
        one = self._record(key, place, args, copied)
        for old in lent if one is not None else ():  # not before: CUDA wants a pool always in use
            made.remove(old)
            self.count -= 1
        return one

    def _full(self) -> None:
        if not self._told:
            self._told = True
            self._say(
                f"{RECORDINGS} recordings are made; calls with other sizes, or with parameters at "
                "other addresses, run as they are"
            )

    def _record(
        self, key: Hashable, place: Hashable, args: Sequence[Any], copied: list[int]
    ) -> Recording | None:
        record = self._kept.recorder.record
        try:
            with torch.inference_mode(False), torch.no_grad():
                one = Recording(
                    self._call, args, copied, self._facts, lambda r: record(r, place), self._lend
                )
        except Exception as error:
            self.refused = f"the recording failed: {type(error).__name__}: {error}"
            self._say(self.refused)
            return None
        self._recordings.setdefault(key, []).append(one)
        self._kept.addresses.update(one.kept(args, self._facts.users))
        self.count += 1
        return one
