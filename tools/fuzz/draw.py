"""The hypothesis strategy of random programs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from hypothesis import strategies as st

from minductor.tools.fuzz.families import FAMILIES
from minductor.tools.fuzz.program import Input, Program
from minductor.tools.fuzz.writer import DTYPES, Dropped, Writer

SIZES = (1, 2, 2, 3, 3, 4, 4, 5, 5, 7, 7, 8, 8, 9, 9, 16, 17, 33, 65)
LAYOUTS = ("dense", "reversed", "strided", "offset", "expanded", "channels")
VALUES = ("small", "whole", "special")
MOST_INPUT_ELEMENTS = 1200
_WEIGHTED = [name for name, (weight, _) in FAMILIES.items() for _ in range(weight)]


@dataclass(frozen=True)
class Wanted:
    """What programs are asked for: percentages, and families by name (all when empty)."""

    grads: int = 15
    dynamic: int = 15
    families: tuple[str, ...] = ()


@st.composite
def programs(draw: Any, wanted: Wanted = Wanted()) -> Program:
    """A program that eager runs. Hypothesis draws the source of its choices."""
    random: Random = draw(st.randoms(use_true_random=True))
    return program_of(random, wanted)


def program_of(random: Random, wanted: Wanted) -> Program:
    """A program that eager runs."""
    grads = random.random() * 100 < wanted.grads
    dynamic = random.random() * 100 < wanted.dynamic
    inputs = _inputs(random, grads)
    w = Writer(random, inputs)
    repeat = None
    if random.random() < 0.08 and not grads:
        repeat = inputs[0].name
        w.env["again"] = w.env[repeat]
    names = [n for n in _WEIGHTED if not wanted.families or n in wanted.families]
    most = random.randint(1, 14)
    for _ in range(2 * most):
        if len(w.lines) >= most:
            break
        before, env = len(w.lines), dict(w.env)
        try:
            FAMILIES[w.choose(names)][1](w)
        except Dropped:
            del w.lines[before:]
            w.env = env
    return Program(inputs, tuple(w.lines), _returns(w), dynamic, repeat)


def _inputs(random: Random, grads: bool) -> tuple[Input, ...]:
    """One to four inputs, most of one shape or broadcasting with it."""
    base = _shape(random)
    out: list[Input] = []
    for k in range(random.randint(1, 4)):
        dtype = random.choice(DTYPES if k or not grads else DTYPES[:2])
        shape = base if k == 0 else _related(random, base)
        layout = random.choice(LAYOUTS) if random.random() < 0.4 else "dense"
        values = random.choice(VALUES)
        grad = grads and dtype in (torch.float32, torch.float64) and layout != "expanded"
        out.append(Input(f"x{k}", dtype, shape, layout, values, random.randint(0, 99), grad))
    return tuple(out)


def _shape(random: Random) -> tuple[int, ...]:
    shape: list[int] = []
    count = 1
    for _ in range(random.choice((0, 1, 1, 2, 2, 2, 2, 3, 3, 4))):
        n = 0 if random.random() < 0.02 else random.choice(SIZES)
        n = n if count * max(n, 1) <= MOST_INPUT_ELEMENTS else 2
        count *= max(n, 1)
        shape.append(n)
    return tuple(shape)


def _related(random: Random, base: tuple[int, ...]) -> tuple[int, ...]:
    """The same shape, or one that broadcasts with it, or another."""
    match random.randint(0, 5):
        case 0 | 1 | 2:
            return base
        case 3:
            return tuple(1 if random.random() < 0.5 else n for n in base)
        case 4:
            return base[random.randint(0, len(base)) :]
        case _:
            return _shape(random)


def _returns(w: Writer) -> tuple[str, ...]:
    """What nothing else uses, and a few other values, inputs and repetitions too."""
    names = list(w.env)
    used = {word for line in w.lines for word in re.findall(r"\w+", line.partition(" = ")[2])}
    out = [n for n in names if n not in used and n.startswith("v")] or [names[-1]]
    for _ in range(w.number(0, 2)):
        out.append(names[-1 - w.number(0, len(names) - 1)])
    return tuple(out[-8:])
