"""Copies of a call's inputs, as often as they are needed, with layouts and shared storage kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class _Place:
    """A tensor in a copied storage: dtype, sizes, strides, offset in elements."""

    storage: int
    dtype: torch.dtype
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


class Snapshot:
    """The arguments of a call as they were when it was made, and the generator's state.

    Tensors that share storage share it in every copy, so that writes are seen where they should be.
    """

    def __init__(self, args: Sequence[Any]) -> None:
        self._storages: list[torch.UntypedStorage] = []
        seen: dict[int, int] = {}
        self._args: list[Any] = []
        for arg in args:
            if not isinstance(arg, Tensor):
                self._args.append(arg)
                continue
            storage = arg.untyped_storage()
            number = seen.setdefault(storage._cdata, len(self._storages))
            if number == len(self._storages):
                self._storages.append(storage.clone())
            self._args.append(_place(arg, number))
        self._random = torch.get_rng_state()

    def fresh(self) -> list[Any]:
        """A copy that may be written; torch's default generator is as it was."""
        torch.set_rng_state(self._random)
        storages = [storage.clone() for storage in self._storages]
        owners = Counter(a.storage for a in self._args if isinstance(a, _Place))
        return [
            _tensor(a, storages[a.storage], owners[a.storage] > 1) if isinstance(a, _Place) else a
            for a in self._args
        ]

    def save(self, path: Path) -> None:
        """Writes the arguments, for `mini-run --inputs` (`torch.load` gives the list back)."""
        torch.save(self.fresh(), path)

    def random_state(self) -> Tensor:
        """State of torch's default generator at the call."""
        return self._random


def bytes_of(args: Sequence[Any]) -> int:
    """Bytes of the storages that a copy of `args` takes."""
    every = {
        s._cdata: s.nbytes() for a in args if isinstance(a, Tensor) for s in [a.untyped_storage()]
    }
    return sum(every.values())


def _place(tensor: Tensor, storage: int) -> _Place:
    sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
    return _Place(storage, tensor.dtype, sizes, strides, int(tensor.storage_offset()))


def _tensor(place: _Place, storage: torch.UntypedStorage, shared: bool) -> Tensor:
    """The tensor in a copied storage; a view of all of it where others show it too, as of a user
    who made them by slicing: AOTAutograd writes through what they are views of."""
    empty = torch.empty(0, dtype=place.dtype)
    if not shared:
        return empty.set_(storage, place.offset, place.sizes, place.strides)
    whole = empty.set_(storage, 0, (storage.nbytes() // place.dtype.itemsize,), (1,))
    return whole.as_strided(place.sizes, place.strides, place.offset)
