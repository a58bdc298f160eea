"""The prelude: fragments of C++ that a generated file is built from, and their dependences.

`prelude/*.cpp` hold fragments in definition order; each begins with a line `//@ name: more names`
that says what it defines. What a fragment needs is read off its text: every identifier that an
earlier
fragment defines. A generated file gets only the fragments it uses, so that compiling it costs what
its own code costs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_WORD = re.compile(r"[A-Za-z_]\w*")
_ALWAYS = ("head",)


@dataclass(frozen=True)
class Fragment:
    """A piece of the prelude: its name, text, what it defines and which identifiers it mentions."""

    name: str
    text: str
    defines: frozenset[str]
    words: frozenset[str]


def _code_only(text: str) -> str:
    return re.sub(r"//.*", "", text)


def _fragment(names: str, text: str) -> Fragment:
    words = names.replace(":", " ").split()
    used = frozenset(_WORD.findall(_code_only(text)))
    return Fragment(words[0], text.strip("\n"), frozenset(words), used)


@cache
def fragments() -> tuple[Fragment, ...]:
    """All fragments in definition order."""
    out: list[Fragment] = []
    for path in sorted((Path(__file__).parent / "prelude").glob("*.cpp")):
        parts = re.split(r"^//@ (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        out += [_fragment(n, t) for n, t in zip(parts[1::2], parts[2::2], strict=True)]
    return tuple(out)


@cache
def _owners() -> dict[str, tuple[int, ...]]:
    """Which fragments define a name (overloads may stand in several)."""
    owners: dict[str, list[int]] = {}
    for i, fragment in enumerate(fragments()):
        for name in fragment.defines:
            owners.setdefault(name, []).append(i)
    return {name: tuple(found) for name, found in owners.items()}


@cache
def _needs(index: int) -> frozenset[int]:
    """Fragments that this one mentions, earlier ones only: order is definition order."""
    owners = _owners()
    found: set[int] = set()
    for word in fragments()[index].words:
        found.update(i for i in owners.get(word, ()) if i < index)
    return frozenset(found)


def closure(words: Iterable[str]) -> str:
    """The prelude text for code that mentions `words`, in definition order."""
    owners, every = _owners(), fragments()
    todo = [i for w in sorted({*words, *_ALWAYS}) for i in owners.get(w, ())]
    seen: set[int] = set()
    while todo:
        index = todo.pop()
        if index not in seen:
            seen.add(index)
            todo += sorted(_needs(index))
    return "\n".join(every[i].text for i in sorted(seen))


def prelude_for(code: str) -> str:
    """The prelude text that `code` needs."""
    return closure(_WORD.findall(_code_only(code)))
