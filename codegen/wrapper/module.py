"""Prints the host program as Python: `def call(args)` in the boxed convention.

    %buf0 = kernel.alloc : !aten.t<f32[8, 4]>         buf0 = empty_cpu((8, 4), (4, 1), float32)
    kernel.launch @k(%arg0_1, %buf0)[s0]              k(arg0_1, buf0, s0)
    %buf1 = kernel.reuse %buf0 : T to T               buf1 = buf0
    kernel.extern "aten.mm.default"(%a, %b, %buf1)    aten_mm_into(buf1, a, b)
    kernel.free %arg0_1                               del arg0_1

Every decision stands in the IR; an op that cannot be printed is an EmitError that says why. The
text names `host` (minductor.runtime.host.Host), which makes the callables at its head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from minductor.codegen.wrapper.bindings import Bindings
from minductor.codegen.wrapper.names import Names
from minductor.codegen.wrapper.values import (
    EmitError,
    argument_text,
    dtype_text,
    dynamic_texts,
    expr_text,
    is_constant,
    shape_text,
    tuple_text,
)
from minductor.dialects.aten.control import CONTROL
from minductor.dialects.aten.traits import COLLECTIVES, WAIT
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom, Expr, str_atom
from minductor.dialects.kernel.host import (
    AllocOp,
    CheckOp,
    ExternOp,
    FreeOp,
    LaunchOp,
    ReinterpretOp,
    ReuseOp,
    SizeOp,
)
from minductor.dialects.kernel.host_facts import outs_of
from minductor.dialects.pyattrs import ArgAttr, to_python
from minductor.dialects.types import IntType, TensorType

POOL = "pool"
"""Attribute of an alloc whose memory comes from, and goes back to, the runtime's pool."""
_OWN = "minductor."  # calls that the runtime itself answers
_RESERVED = {"host", "torch", "call", "args", "min", "max", "float", "complex"}


def emit_wrapper(module: ModuleOp) -> str:
    """The Python source of a module's `func.func @call`, and of the private functions that it
    calls. Raises EmitError."""
    main = host_function(module)
    if main is None:
        raise EmitError("this module has no func.func @call: run loop-to-kernel first")
    names = Names({*_RESERVED, *(f.sym_name.data for f in private_functions(module))})
    heads = Bindings(module, names)
    texts = [Wrapper(heads, names, one).text() for one in (main, *private_functions(module))]
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    ops = [op.name for one in functions for op in one.body.walk()]
    kernels, externs = ops.count("kernel.launch"), ops.count("kernel.extern")
    title = f'"""Host program. Kernel launches: {kernels}, extern calls: {externs}."""'
    head = "\n".join([title, "", "import torch", "", *heads.lines]).rstrip()
    return "\n\n\n".join([head, *texts]) + "\n"


def private_functions(module: ModuleOp) -> list[FuncOp]:
    """The host programs of sub-graphs."""
    return [op for op in module.ops if isinstance(op, FuncOp) and op.sym_visibility is not None]


def host_function(module: ModuleOp) -> FuncOp | None:
    """The host program of a module, or None before loop-to-kernel."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "call":
            return op
    return None


class Wrapper:
    """One host program on its way to text."""

    def __init__(self, heads: Bindings, names: Names, function: FuncOp) -> None:
        self._function = function
        self._names = names
        self._heads = heads
        self._lines: list[str] = []
        self._bound: set[Atom] = set()
        self._needed = {a for e in _expressions(function) for a in e.vars("su")}
        self._given: dict[SSAValue, str] = {}  # misaligned inputs that are written back
        self._written = self._written_arguments()
        self._pending_free: list[str] = []
        self._printers: dict[type[Operation], Callable[..., None]] = {
            AllocOp: self._alloc,
            SizeOp: self._size,
            ReuseOp: self._reuse,
            ReinterpretOp: self._reinterpret,
            LaunchOp: self._launch,
            ExternOp: self._extern,
            ReturnOp: self._return,
        }

    # -- the whole text ---------------------------------------------------------------------------
    def text(self) -> str:
        """The function's definition."""
        device = _device(self._function)
        on = ""
        if device is not None:  # first, since kernels are bound to it
            on = self._heads.define("on_device", f'host.on("{device}")')
        self._arguments()
        self._body(list(self._function.body.block.ops))
        body = self._lines
        if on:
            body = [f"with {on}():", *(f"    {line}" for line in body)]
        name = self._function.sym_name.data
        return "\n".join([f"def {name}(args):", *(f"    {line}" for line in body)])

    def _say(self, line: str) -> None:
        if self._pending_free:
            names = ", ".join(self._pending_free)
            self._pending_free = []
            self._lines.append(f"del {names}")
        self._lines.append(line)

    # -- arguments and symbols --------------------------------------------------------------------
    def _arguments(self) -> None:
        names: list[str] = []
        for arg in self._function.body.block.args:
            names.append(self._number(arg) or self._names.define(arg))
        if names:
            self._say(f"{tuple_text(names) if len(names) == 1 else ', '.join(names)} = args")
        self._say("args.clear()")
        for arg in self._function.body.block.args:
            self._bind_sizes(arg)

    def _number(self, value: SSAValue) -> str | None:
        """An int that is a symbol nobody has bound yet is that symbol: its name, else None."""
        if not isinstance(value.type, IntType):
            return None
        atom = value.type.data.as_atom
        if atom is None or not atom.is_var or atom in self._bound:
            return None
        self._bound.add(atom)
        self._names.share(value, str_atom(atom))
        return str_atom(atom)

    def _bind_sizes(self, value: SSAValue) -> None:
        """Symbols that no number gave so far, from the sizes of a tensor."""
        if not isinstance(value.type, TensorType):
            return
        for i, size in enumerate(value.type.sizes):
            atom = size.as_atom
            if atom is None or atom not in self._needed or atom in self._bound:
                continue
            later = any(_binds(arg, atom) for arg in self._function.body.block.args)
            if later and isinstance(value.owner, Operation):
                continue
            self._bound.add(atom)
            self._say(f"{str_atom(atom)} = {self._names[value]}.size({i})")

    def _expr(self, e: Expr) -> str:
        for atom in e.vars("su"):
            if atom not in self._bound:
                raise EmitError(f"the symbol {str_atom(atom)} is used before anything binds it")
        return expr_text(e)

    def _shape(self, sizes: Sequence[Expr]) -> str:
        for e in sizes:
            self._expr(e)
        return shape_text(sizes)

    # -- ops --------------------------------------------------------------------------------------
    def _body(self, ops: Sequence[Operation]) -> None:
        position = 0
        while position < len(ops):
            op = ops[position]
            position += 1
            if isinstance(op, CheckOp):
                checks = [op]
                while position < len(ops) and isinstance(ops[position], CheckOp):
                    checks.append(cast(CheckOp, ops[position]))
                    position += 1
                self._checks(checks)
            elif isinstance(op, FreeOp):
                self._free(op.values)
            else:
                printer = self._printers.get(type(op))
                if printer is None:
                    raise EmitError(f"{op.name} is no op of a host program")
                printer(op)

    def _checks(self, ops: Sequence[CheckOp]) -> None:
        tensors = [op for op in ops if isinstance(op.value.type, TensorType)]
        types = [cast(TensorType, op.value.type) for op in tensors]
        names = [self._names[op.value] for op in tensors]
        for type_ in types:
            self._shape((*type_.sizes, *type_.strides))
        if self._function.sym_visibility is not None:
            for name, type_ in zip(names, types, strict=True):
                # what control flow hands over may have another layout than was traced
                fitted = self._heads.operand(name, type_)
                self._say(f"{name} = {fitted}({', '.join([name, *dynamic_texts([type_])])})")
        elif tensors:
            check = self._heads.inputs(list(zip(names, types, strict=True)))
            self._say(f"{check}({', '.join([*names, *dynamic_texts(types)])})")
        for op, name in zip(tensors, names, strict=True):
            if op.align is not None:
                self._align(op.value, name, op.align)

    def _align(self, value: SSAValue, name: str, align: IntegerAttr) -> None:
        if value in self._written:
            given = self._names.fresh(f"{name}_given")
            self._given[value] = given
            self._say(f"{given} = {name}")
        self._say(f"{name} = {self._heads.helper('aligned')}({name}, {align.value.data})")

    def _alloc(self, op: AllocOp) -> None:
        type_ = op.result.type
        assert isinstance(type_, TensorType)
        layout = f"{self._shape(type_.sizes)}, {self._shape(type_.strides)}"
        kind = "pooled" if POOL in op.attributes else type_.device.partition(":")[0]
        name = self._names.define(op.result)
        if kind in ("cpu", "cuda", "pooled"):
            function = self._heads.helper(f"empty_{kind}")
            self._say(f"{name} = {function}({layout}, {dtype_text(type_.dtype)})")
        else:
            function = self._heads.helper("empty")
            dtype = dtype_text(type_.dtype)
            self._say(f'{name} = {function}({layout}, {dtype}, "{type_.device}")')

    def _size(self, op: SizeOp) -> None:
        type_ = op.result.type
        assert isinstance(type_, IntType)
        atom = type_.data.as_atom
        if atom is not None and atom in self._bound:
            self._names.share(op.result, str_atom(atom))
            return
        text = self._expr(type_.data)
        self._say(f"{self._names.define(op.result)} = {text}")

    def _reuse(self, op: ReuseOp) -> None:
        self._view(op.source, op.result, "0", "  # reuse")
        self._pending_free.append(self._names[op.source])

    def _reinterpret(self, op: ReinterpretOp) -> None:
        # what the caller gets twice are two tensors
        own = any(isinstance(use.operation, ReturnOp) for use in op.result.uses)
        self._view(op.source, op.result, self._expr(op.offset.data), "", own)

    def _view(
        self, source: SSAValue, result: SSAValue, offset: str, comment: str, own: bool = False
    ) -> None:
        old, new = source.type, result.type
        assert isinstance(old, TensorType)
        assert isinstance(new, TensorType)
        base = self._names[source]
        name = self._names.define(result)
        if old is new and offset == "0" and not own:
            self._say(f"{name} = {base}{comment}")
            return
        layout = f"{base}, {self._shape(new.sizes)}, {self._shape(new.strides)}, {offset}"
        if old.dtype == new.dtype:
            # what leaves the graph is a view for autograd too, and has the versions of its input
            kind = "input_view" if own and isinstance(source, BlockArgument) else "view"
            self._say(f"{name} = {self._heads.helper(kind)}({layout}){comment}")
            return
        function = self._heads.helper("view_as")
        self._say(f"{name} = {function}({layout}, {dtype_text(new.dtype)}){comment}")

    def _launch(self, op: LaunchOp) -> None:
        arguments = ", ".join(
            [*(self._names[v] for v in op.args), *(self._expr(e) for e in op.symbols.data)]
        )
        first = f"{self._heads.kernel(op.callee.string_value())}({arguments})"
        if op.when is None or op.orelse is None:
            self._say(first)
            return
        second = f"{self._heads.kernel(op.orelse.string_value())}({arguments})"
        self._say(f"if {self._expr(op.when.data)} > 0:")
        self._say(f"    {first}")
        self._say("else:")
        self._say(f"    {second}")

    def _return(self, op: ReturnOp) -> None:
        for value, given in self._given.items():
            self._say(f"if {self._names[value]} is not {given}:")
            self._say(f"    {given}.copy_({self._names[value]})")
        names = [self._given.get(v) or self._names[v] for v in op.arguments]
        self._say(f"return [{', '.join(names)}]")

    def _written_arguments(self) -> set[SSAValue]:
        """Arguments that the program may write: by a kernel, as a mutated operand or an out."""
        out: set[SSAValue] = set()
        for op in self._function.body.walk():
            if isinstance(op, LaunchOp):
                access = self._heads.access(op.callee.string_value())
                out.update(v for v, a in zip(op.args, access, strict=False) if a != "read")
            elif isinstance(op, ExternOp):
                mutated = op.mutates.data if op.mutates is not None else ()
                out.update(op.operands[int(e)] for e in mutated)
                out.update(outs_of(op))
        return out & set(self._function.body.block.args)

    # -- lifetimes --------------------------------------------------------------------------------
    def _free(self, values: Sequence[SSAValue]) -> None:
        for value in values:
            if isinstance(value.type, TensorType) and value not in self._given:
                self._pending_free.append(self._names[value])

    # -- extern calls -----------------------------------------------------------------------------
    def _extern(self, op: ExternOp) -> None:
        if op.regions:
            raise EmitError(f"the call of {op.callee.data} has sub-graphs, which have no text yet")
        if op.out is not None:
            self._extern_out(op)
            return
        function = self._heads.extern(op)
        call = f"{function}({', '.join(self._extern_arguments(op))})"
        names = [self._number(r) or self._names.define(r) for r in op.results]
        self._say(f"{', '.join(names)} = {call}" if names else call)
        aliased = {pair[0] for pair in _pairs(op.aliases)}
        for i, result in enumerate(op.results):
            self._promise(op.callee.data, result, i in aliased)

    def _promise(self, callee: str, result: SSAValue, alias: bool) -> None:
        type_ = result.type
        self._bind_sizes(result)
        own = callee.startswith(_OWN) and callee not in CONTROL
        under_way = callee.startswith(COLLECTIVES) and callee != WAIT
        if not isinstance(type_, TensorType) or own or under_way or not _is_read(result):
            return
        self._shape((*type_.sizes, *type_.strides))
        name = self._names[result]
        check = self._heads.result(callee, type_, alias)
        self._say(f"{name} = {check}({', '.join([name, *dynamic_texts([type_])])})")

    def _extern_arguments(self, op: ExternOp) -> list[str]:
        arguments = [self._argument(op, a) for a in op.args_]
        arguments += [f"{k}={self._argument(op, a)}" for k, a in op.kwargs.data.items()]
        return arguments

    def _argument(self, op: ExternOp, attr: Attribute) -> str:
        for e in _attr_expressions(attr):
            self._expr(e)
        return argument_text(attr, lambda k: self._names[op.operands[k]])

    def _extern_out(self, op: ExternOp) -> None:
        """The out= form: trailing operands are written, `args_` names the leading ones."""
        args = list(op.args_)
        outs = outs_of(op)
        if not outs:
            raise EmitError(f"the call of {op.callee.data} says out but is given no memory")
        device = cast(TensorType, outs[0].type).device.partition(":")[0]
        plain = all(
            isinstance(a, ArgAttr) and isinstance(op.operands[a.data].type, TensorType)
            for a in args
        )
        fixed = {k: a for k, a in op.kwargs.data.items() if is_constant(a)}
        constants = {k: self._argument(op, a) for k, a in fixed.items()}
        tensors = len(args) if plain and len(fixed) == len(op.kwargs.data) else None
        function = self._heads.extern_into(op.callee.data, len(outs), tensors, device, constants)
        texts = [self._names[v] for v in outs] + [self._argument(op, a) for a in args]
        texts += [
            f"{k}={self._argument(op, a)}" for k, a in op.kwargs.data.items() if k not in fixed
        ]
        self._say(f"{function}({', '.join(texts)})")


def _is_read(value: SSAValue) -> bool:
    """Something but the end of its life uses it: eager kernels may leave other results empty."""
    return any(not isinstance(use.operation, FreeOp) for use in value.uses)


def _pairs(aliases: ArrayAttr[Attribute] | None) -> list[list[int]]:
    return [] if aliases is None else [list(to_python(pair)) for pair in aliases]


def _binds(value: SSAValue, atom: Atom) -> bool:
    return isinstance(value.type, IntType) and value.type.data.as_atom is atom


def _attr_expressions(attr: Attribute) -> Iterator[Expr]:
    if isinstance(attr, ExprAttr):
        yield attr.data
    elif isinstance(attr, IndexAttr):
        yield from attr.data
    elif isinstance(attr, ArrayAttr):
        for item in attr:
            yield from _attr_expressions(item)


def _expressions(function: FuncOp) -> Iterator[Expr]:
    """Every expression whose value the text will hold."""
    for op in function.body.walk():
        for attr in op.properties.values():
            yield from _attr_expressions(attr)
        if isinstance(op, ExternOp):
            for attr in op.kwargs.data.values():
                yield from _attr_expressions(attr)
        for value in (*op.results, *(op.operands if isinstance(op, CheckOp) else ())):
            if isinstance(value.type, TensorType):
                yield from (*value.type.sizes, *value.type.strides)
            elif isinstance(value.type, IntType):
                yield value.type.data


def _device(function: FuncOp) -> str | None:
    """The numbered device that the program runs on, or None. EmitError when there are two."""
    devices = {
        value.type.device: None
        for op in function.body.walk()
        for value in (*op.operands, *op.results)
        if isinstance(value.type, TensorType) and ":" in value.type.device
    }
    if len(devices) > 1:
        raise EmitError(f"one graph on several devices: {', '.join(sorted(devices))}")
    return next(iter(devices), None)
