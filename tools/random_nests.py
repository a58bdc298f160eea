"""Random loop modules as text: pointwise nests, reductions, broadcasts, transposes, slices."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

UNARY = ("sin", "relu", "abs", "neg", "sigmoid")
BINARY = ("add", "mul", "sub", "maximum")


def shapes_of(rows: int, columns: int) -> dict[str, tuple[int, ...]]:
    """Kind -> shape: a matrix, one transposed, a column of row values, a row, a number."""
    return {"m": (rows, columns), "t": (columns, rows), "r": (rows, 1), "c": (1, columns), "s": ()}


def type_text(shape: tuple[int, ...]) -> str:
    return f"!aten.t<f32[{', '.join(map(str, shape))}]>"


@dataclass
class Program:
    """A function being written; `values[kind]` are tensors of a shape in `shapes_of`."""

    rng: random.Random
    rows: int
    columns: int
    values: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Kind -> shape."""
        return shapes_of(self.rows, self.columns)

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
        source, cut = self.pick("m"), self.rng.randrange(1, self.columns)
        return [
            f"%w{tag} = scalar.within {columns} in {cut} to {self.columns}",
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
            f"{name} = loop.nest {domain} -> (%o : {type_text(self.shapes[kind])}) "
            f'origins ["{origin}"] {{'
        )
        self.lines += [f"  {line}" for line in [*body, f"loop.store {value}, %o[{index}]"]]
        self.lines.append("}")

    def pointwise(self) -> None:
        kind = self.rng.choice("mmmtrcs")
        where = {
            "m": (f"(d0: {self.rows}, d1: {self.columns})", "mtrcs", "d0", "d1", "d0, d1"),
            "t": (f"(d0: {self.columns}, d1: {self.rows})", "mtrcs", "d1", "d0", "d0, d1"),
            "r": (f"(d0: {self.rows})", "rs", "d0", "", "d0, 0"),
            "c": (f"(d0: {self.columns})", "cs", "", "d0", "0, d0"),
            "s": ("()", "s", "", "", ""),
        }[kind]
        domain, kinds, rows, columns, index = where
        if not any(self.values.get(k) for k in kinds):
            return
        self.nest(domain, kind, self.expression(kinds, rows, columns), "%e", index)

    def reduction(self) -> None:
        kind = self.rng.choice("rrcs")
        where = {
            "r": (f"(d0: {self.rows}) reduce (d1: {self.columns})", "d0", "d1", "d0, 0"),
            "c": (f"(d0: {self.columns}) reduce (d1: {self.rows})", "d1", "d0", "0, d0"),
            "s": (f"() reduce (d0: {self.rows}, d1: {self.columns})", "d0", "d1", ""),
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
        types = [type_text(self.shapes[k]) for _, k in results]
        given = ", ".join(f"{n}: {type_text(self.shapes[k])}" for n, k in arguments.items())
        values = ", ".join(v for v, _ in results)
        return (
            f"func.func @f({given}) -> ({', '.join(types)}) {{\n{body}\n"
            f"func.return {values} : {', '.join(types)}\n}}\n"
        )


def random_nests(seed: int, nests: int, rows: int, columns: int) -> str:
    """A module from a seed: the same text for the same seed."""
    return Program(random.Random(seed), rows, columns).text(nests)
