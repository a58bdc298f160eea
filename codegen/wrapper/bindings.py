"""Module-level definitions of a wrapper: kernels, externs, checks; each made once, when loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute

from minductor.codegen.wrapper.names import Names
from minductor.codegen.wrapper.values import EmitError, layout_text
from minductor.dialects.attrs import Origin
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.kernel.host import ExternOp, VariantsOp
from minductor.dialects.kernel.ops import FuncOp
from minductor.dialects.types import TensorType


def origins_comment(origins: Iterable[Origin]) -> str:
    """`# add, relu (model.py:12)`: the ops in a kernel and their source lines."""
    ops = ", ".join(f"{'~' if o.recomputed else ''}{o.op}" for o in origins)
    where = ", ".join(dict.fromkeys(o.where for o in origins if o.where))
    return f"# {ops}{f' ({where})' if where else ''}"


class Bindings:
    """The definitions at the head of a wrapper, in order of first use."""

    def __init__(self, module: ModuleOp, names: Names) -> None:
        self._names = names
        self._made: dict[str, str] = {}
        self.lines: list[str] = []
        self._kernels: dict[str, FuncOp] = {}
        self._variants: dict[str, VariantsOp] = {}
        for op in module.ops:
            if isinstance(op, FuncOp):
                self._kernels[op.sym_name.data] = op
            elif isinstance(op, VariantsOp):
                self._variants[op.sym_name.data] = op

    def define(self, wanted: str, text: str, comment: str = "") -> str:
        """The name of a definition; the same text is defined once."""
        found = self._made.get(text)
        if found is None:
            found = self._made[text] = self._names.fresh(wanted)
            if comment:
                self.lines.append(comment)
            self.lines.append(f"{found} = {text}")
        return found

    def helper(self, name: str) -> str:
        """A function of `host` under a name of its own, which spares a look-up per call."""
        return self.define(name, f"host.{name}")

    def kernel(self, symbol: str) -> str:
        """A kernel, or the choice among variants, by symbol. EmitError when the module has none."""
        variants = self._variants.get(symbol)
        if variants is not None:
            made = ", ".join(self.kernel(_symbol(c)) for c in variants.candidates)
            updates = [i for i, a in enumerate(self.access(symbol)) if a == "update"]
            text = f'host.variants("{symbol}", [{made}], updates={updates})'
            return self.define(symbol, text)
        func = self._kernels.get(symbol)
        if func is None:
            raise EmitError(f"launch of @{symbol}, which is no kernel of this module")
        comment = origins_comment(func.origins.data) if func.origins.data else ""
        if func.target == "triton":
            return self.define(symbol, f'host.triton("{symbol}")', comment)
        counts = f"pointers={len(func.body.block.args)}, sizes={len(func.symbols.data)}"
        entry = symbol.replace(".", "_")  # as the C++ emitter names it
        return self.define(symbol, f'host.kernel("{entry}", {counts})', comment)

    def access(self, symbol: str) -> tuple[str, ...]:
        """What a kernel (of variants, the first) does with each buffer: read, write, update."""
        variants = self._variants.get(symbol)
        if variants is not None:
            return self.access(_symbol(variants.candidates.data[0]))
        func = self._kernels.get(symbol)
        return () if func is None else func.access.data

    def extern(self, op: ExternOp) -> str:
        """An op called for its results."""
        callee, results = op.callee.data, len(op.results)
        count = "" if results == 1 else f", results={results}"
        count += ", complex_numbers=True" if _has_complex(op) else ""
        return self.define(_short(callee), f'host.extern("{callee}"{count})')

    def extern_into(
        self, callee: str, outs: int, tensors: int | None, device: str, keywords: Mapping[str, str]
    ) -> str:
        """An op's out= form; `keywords` are constant arguments by name, as text."""
        parts = [f'"{callee}"']
        parts += [f"outs={outs}"] if outs != 1 else []
        parts += [f"tensors={tensors}"] if tensors is not None else []
        parts += [f'device="{device}"'] if device != "cpu" else []
        parts += [f"{k}={v}" for k, v in keywords.items()]
        return self.define(f"{_short(callee)}_into", f"host.extern_into({', '.join(parts)})")

    def inputs(self, layouts: Sequence[tuple[str, TensorType]]) -> str:
        """The check of a graph's inputs."""
        rows = "".join(f"    {layout_text(name, type_)},\n" for name, type_ in layouts)
        return self.define("check_inputs", f"host.inputs(\n{rows})")

    def operand(self, name: str, type_: TensorType) -> str:
        """The layout of a private function's operand: a copy where the caller has another."""
        return self.define("fitted", f"host.result({layout_text(f'the operand {name}', type_)})")

    def result(self, callee: str, type_: TensorType, alias: bool) -> str:
        """The check of an extern's result."""
        word = "alias" if alias else "result"
        layout = layout_text(f"the result of {callee}", type_)
        return self.define("promised", f"host.{word}({layout})")


def _symbol(attr: Attribute) -> str:
    if isinstance(attr, SymbolRefAttr):
        return attr.string_value()
    if isinstance(attr, StringAttr):
        return attr.data
    raise EmitError(f"`{attr}` names no kernel")


def _short(callee: str) -> str:
    return callee.replace("::", ".").removesuffix(".default").replace(".", "_")


def _has_complex(op: ExternOp) -> bool:
    """The call reads or writes complex tensors."""
    types = [v.type for v in (*op.operands, *op.results)]
    return any(isinstance(t, TensorType) and DTYPES[t.dtype].kind == "complex" for t in types)
