"""Random loop modules as text: pointwise nests, reductions, broadcasts, transposes, slices.

Sizes are 6 (rows) and 8 (columns), so that every pass's result can be run by the interpreter.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

ROWS, COLUMNS = 6, 8
SHAPES = {"m": (ROWS, COLUMNS), "t": (COLUMNS, ROWS), "r": (ROWS, 1), "c": (1, COLUMNS), "s": ()}
UNARY = ("sin", "relu", "abs", "neg", "sigmoid")
BINARY = ("add", "mul", "sub", "maximum")


def type_text(shape: tuple[int, ...]) -> str:
    return f"!aten.t<f32[{', '.join(map(str, shape))}]>"


@dataclass
class Program:
    """A function being written; `values[kind]` are tensors of a shape in `SHAPES`."""

    rng: random.Random
    values: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def fresh(self, kind: str) -> str:
        name = f"%v{self.count}"
        self.count += 1
        self.values.setdefault(kind, []).append(name)
        return name

    def pick(self, kind: str) -> str:
        recent = self.values[kind][-4:]
        return self.rng.choice(recent if self.rng.random() < 0.7 else self.values[kind])

    def load(self, kinds: str, rows: str, columns: str, tag: int) -> list[str]:
        """A load of some tensor at the point (rows, columns); the value is `%x<tag>`."""
        kind = self.rng.choice([k for k in kinds if self.values.get(k)])
        source = self.pick(kind)
        index = {
            "m": f"{rows}, {columns}",
            "t": f"{columns}, {rows}",
            "r": f"{rows}, 0",
            "c": f"0, {columns}",
            "s": "",
        }[kind]
        return [f"%x{tag} = loop.load {source}[{index}] : f32"]

    def guarded(self, rows: str, columns: str, tag: int) -> list[str]:
        """A load of a shifted row where it is inside, else a constant."""
        source, cut = self.pick("m"), self.rng.randrange(1, COLUMNS)
        return [
            f"%w{tag} = scalar.within {columns} in {cut} to {COLUMNS}",
            f"%x{tag} = scalar.if %w{tag} -> f32 {{",
            f"%in{tag} = loop.load {source}[{rows}, {columns} - {cut}] : f32",
            f"scalar.yield %in{tag} : f32 }} else {{",
            f"%out{tag} = scalar.constant 1.5 : f32",
            f"scalar.yield %out{tag} : f32 }}",
        ]

    def expression(self, kinds: str, rows: str, columns: str) -> list[str]:
        """Body lines that end in `%e`."""
        lines = self.load(kinds, rows, columns, 0)
        if "m" in kinds and self.values.get("m") and self.rng.random() < 0.2:
            lines += self.guarded(rows, columns, 1)
        else:
            lines += self.load(kinds, rows, columns, 1)
        unary, binary = self.rng.choice(UNARY), self.rng.choice(BINARY)
        lines.append(f"%u = scalar.{unary} %x0 : f32")
        lines.append(f"%e = scalar.{binary} %u, %x1 : f32")
        return lines

    def nest(self, domain: str, kind: str, body: list[str], value: str, index: str) -> None:
        origin = f"op{self.count}"
        name = self.fresh(kind)
        self.lines.append(
            f"{name} = loop.nest {domain} -> (%o : {type_text(SHAPES[kind])}) "
            f'origins ["{origin}"] {{'
        )
        self.lines += [f"  {line}" for line in [*body, f"loop.store {value}, %o[{index}]"]]
        self.lines.append("}")

    def pointwise(self) -> None:
        kind = self.rng.choice("mmmtrcs")
        where = {
            "m": (f"(d0: {ROWS}, d1: {COLUMNS})", "mtrcs", "d0", "d1", "d0, d1"),
            "t": (f"(d0: {COLUMNS}, d1: {ROWS})", "mtrcs", "d1", "d0", "d0, d1"),
            "r": (f"(d0: {ROWS})", "rs", "d0", "", "d0, 0"),
            "c": (f"(d0: {COLUMNS})", "cs", "", "d0", "0, d0"),
            "s": ("()", "s", "", "", ""),
        }[kind]
        domain, kinds, rows, columns, index = where
        if not any(self.values.get(k) for k in kinds):
            return
        self.nest(domain, kind, self.expression(kinds, rows, columns), "%e", index)

    def reduction(self) -> None:
        kind = self.rng.choice("rrcs")
        where = {
            "r": (f"(d0: {ROWS}) reduce (d1: {COLUMNS})", "d0", "d1", "d0, 0"),
            "c": (f"(d0: {COLUMNS}) reduce (d1: {ROWS})", "d1", "d0", "0, d0"),
            "s": (f"() reduce (d0: {ROWS}, d1: {COLUMNS})", "d0", "d1", ""),
        }[kind]
        domain, rows, columns, index = where
        word = self.rng.choice(("add", "max"))
        body = self.expression("mtrcs", rows, columns)
        body.append(f"%red = loop.reduce {word} %e : f32 -> f32")
        self.nest(domain, kind, body, "%red", index)

    def text(self, nests: int) -> str:
        """The whole module; some values and all those that nobody reads are returned."""
        arguments = {"%a0": "m", "%a1": "m", "%a2": "t", "%a3": "r", "%a4": "c"}
        for name, kind in arguments.items():
            self.values.setdefault(kind, []).append(name)
        while self.count < nests:
            (self.reduction if self.rng.random() < 0.3 else self.pointwise)()
        made = [(v, k) for k, names in self.values.items() for v in names if v not in arguments]
        body = "\n".join(self.lines)
        results = [
            (v, k)
            for v, k in sorted(made, key=lambda item: int(item[0][2:]))
            if f" {v}[" not in body or self.rng.random() < 0.1
        ]
        types = [type_text(SHAPES[k]) for _, k in results]
        given = ", ".join(f"{n}: {type_text(SHAPES[k])}" for n, k in arguments.items())
        values = ", ".join(v for v, _ in results)
        return (
            f"func.func @f({given}) -> ({', '.join(types)}) {{\n{body}\n"
            f"func.return {values} : {', '.join(types)}\n}}\n"
        )


def random_program(seed: int, nests: int = 14) -> str:
    """A module from a seed: the same text for the same seed."""
    return Program(random.Random(seed)).text(nests)


@pytest.fixture
def program() -> Callable[..., str]:
    """`random_program`."""
    return random_program


@pytest.fixture
def shapes() -> list[tuple[int, ...]]:
    """Shapes of the arguments of every random program."""
    return [SHAPES[kind] for kind in "mmtrc"]


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
