"""Programs of the tests of loop passes: random ones, and residual blocks of any number."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from minductor.tools.random_nests import random_nests, shapes_of

ROWS, COLUMNS = 6, 8
"""Small, so that every pass's result can be run by the interpreter."""


def random_program(seed: int, nests: int = 14) -> str:
    """A module from a seed: the same text for the same seed."""
    return random_nests(seed, nests, ROWS, COLUMNS)


@pytest.fixture
def program() -> Callable[..., str]:
    """`random_program`."""
    return random_program


@pytest.fixture
def shapes() -> list[tuple[int, ...]]:
    """Shapes of the arguments of every random program."""
    shapes = shapes_of(ROWS, COLUMNS)
    return [shapes[kind] for kind in "mmtrc"]


BLOCK = """\
%mean{n} = loop.nest (d0: 64) reduce (d1: 256) -> (%o : R) origins ["mean"] {{
  %x = loop.load {x}[d0, d1] : f32
  %s = loop.reduce add %x : f32 -> f32
  loop.store %s, %o[d0, 0]
}}
%sub{n} = loop.nest (d0: 64, d1: 256) -> (%o : M) origins ["sub"] {{
  %x = loop.load {x}[d0, d1] : f32
  %m = loop.load %mean{n}[d0, 0] : f32
  %s = scalar.sub %x, %m : f32
  loop.store %s, %o[d0, d1]
}}
%sq{n} = loop.nest (d0: 64, d1: 256) -> (%o : M) origins ["pow"] {{
  %x = loop.load %sub{n}[d0, d1] : f32
  %s = scalar.mul %x, %x : f32
  loop.store %s, %o[d0, d1]
}}
%var{n} = loop.nest (d0: 64) reduce (d1: 256) -> (%o : R) origins ["var"] {{
  %x = loop.load %sq{n}[d0, d1] : f32
  %s = loop.reduce add %x : f32 -> f32
  loop.store %s, %o[d0, 0]
}}
%rstd{n} = loop.nest (d0: 64) -> (%o : R) origins ["rsqrt"] {{
  %x = loop.load %var{n}[d0, 0] : f32
  %s = scalar.rsqrt %x : f32
  loop.store %s, %o[d0, 0]
}}
%norm{n} = loop.nest (d0: 64, d1: 256) -> (%o : M) origins ["mul"] {{
  %x = loop.load %sub{n}[d0, d1] : f32
  %r = loop.load %rstd{n}[d0, 0] : f32
  %s = scalar.mul %x, %r : f32
  loop.store %s, %o[d0, d1]
}}
%mm{n} = loop.extern "aten.mm.default"(%norm{n}, %w) args [#loop.arg<0>, #loop.arg<1>] : (M, W) -> M
%act{n} = loop.nest (d0: 64, d1: 256) -> (%o : M) origins ["relu"] {{
  %x = loop.load %mm{n}[d0, d1] : f32
  %b = loop.load %bias[d1] : f32
  %t = scalar.add %x, %b : f32
  %s = scalar.relu %t : f32
  loop.store %s, %o[d0, d1]
}}
%res{n} = loop.nest (d0: 64, d1: 256) -> (%o : M) origins ["add"] {{
  %x = loop.load {x}[d0, d1] : f32
  %y = loop.load %act{n}[d0, d1] : f32
  %s = scalar.add %x, %y : f32
  loop.store %s, %o[d0, d1]
}}
"""
TYPES = {"M": "!aten.t<f32[64, 256]>", "R": "!aten.t<f32[64, 1]>", "W": "!aten.t<f32[256, 256]>"}


def block_program(nests: int) -> str:
    """Residual blocks of a norm, a product and an activation: 8 nests and a call each."""
    parts, x = [], "%in"
    for n in range(max(1, nests // 8)):
        parts.append(BLOCK.format(n=n, x=x))
        x = f"%res{n}"
    text = "".join(parts)
    for word, full in TYPES.items():
        text = re.sub(rf"(?<=[ (]){word}(?=[,)\s])", full, text)
    head = f"%in: {TYPES['M']}, %w: {TYPES['W']}, %bias: !aten.t<f32[256]>"
    return f"func.func @f({head}) -> {TYPES['M']} {{\n{text}func.return {x} : {TYPES['M']}\n}}\n"


@pytest.fixture
def blocks() -> Callable[[int], str]:
    """`block_program`."""
    return block_program
