"""The `aten` dialect: the table of schemas, generated classes, arguments, text."""

import subprocess
import sys

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from minductor.dialects import expr as ex
from minductor.dialects.aten import (
    AtenOp,
    Commutative,
    Elementwise,
    Mutates,
    PyOp,
    Random,
    ScalarOp,
    View,
    is_ordered,
    is_pure,
    is_removable,
    op_class,
)
from minductor.dialects.aten.schema import MISSING, SchemaError, parse_schema
from minductor.dialects.aten.table import lookup, table_names
from minductor.dialects.pyattrs import DeviceAttr, DTypeAttr, EnumAttr
from minductor.dialects.types import FloatType, IntType, TensorType
from minductor.passes.context import MiniContext

F32 = TensorType.make("f32", [4])


def test_schema_fields():
    schema = parse_schema(
        "aten::conv(Tensor(a) x, Tensor? bias=None, SymInt[2] stride=1, *, Tensor?[] idx, "
        'str mode="none", float eps=1e-05, MemoryFormat f=contiguous_format) '
        "-> (Tensor(a), Tensor[] b)"
    )
    x, bias, stride, idx, mode, eps, fmt = schema.args
    assert (x.kind, x.alias, x.written, x.default) == ("tensor", "a", False, MISSING)
    assert (bias.optional, bias.default) == (True, None)
    assert (stride.kind, stride.length, stride.default) == ("int", 2, [1, 1])
    assert (idx.holes, idx.is_list, idx.keyword_only) == (True, True, True)
    assert (mode.default, eps.default, fmt.default) == ("none", 1e-05, "contiguous_format")
    assert [r.is_list for r in schema.returns] == [False, True]
    assert schema.is_view
    assert not schema.mutates


def test_bad_schema():
    with pytest.raises(SchemaError, match="is not a schema"):
        parse_schema("add(Tensor x)")


def test_lookup():
    found = lookup("add.Tensor")
    assert found is not None
    assert found.qualified == "aten.add.Tensor"
    prims = lookup("prims.convert_element_type.default")
    assert prims is not None
    assert prims.qualified == "prims.convert_element_type.default"
    for missing in ("add.NoSuch", "add", "nothere.default", "a.b.c.d", ""):
        assert lookup(missing) is None


def test_every_schema_has_a_class():
    names = table_names()
    assert len(names) > 2000
    for name in names[::7]:
        cls = op_class(name)
        assert cls is not None
        assert cls.name == f"aten.{name}"


def test_traits():
    def has(name, trait):
        cls = op_class(name)
        assert cls is not None
        return any(isinstance(t, trait) for t in cls.traits.traits)

    assert has("add.Tensor", Elementwise)
    assert has("_to_copy.default", Elementwise)
    assert not has("sum.dim_IntList", Elementwise)
    assert has("permute.default", View)
    assert has("_unsafe_view.default", View)
    assert not has("clone.default", View)
    assert has("rand_like.default", Random)
    assert has("copy_.default", Mutates)
    assert has("mul.Tensor", Commutative)
    assert not has("sub.Tensor", Commutative)


def args(*types):
    return Block(arg_types=types).args


def test_make_drops_defaults_and_bind_fills_them():
    x, y = args(F32, F32)
    op = AtenOp.make("add.Tensor", {"self": x, "other": y, "alpha": 1}, [F32])
    assert op.properties == {}
    assert op.bind() == {"self": x, "other": y, "alpha": 1}
    scaled = op.with_args(alpha=2)
    assert scaled.arg("alpha") == 2
    assert scaled.tensors == [x, y]


def test_bind_gives_python_values():
    x, n, s = args(F32, IntType(ex.sym(0)), FloatType(None))
    full = AtenOp.make(
        "full.default",
        {"size": [ex.sym(0), 2], "fill_value": 1.5, "dtype": "f32", "device": "cpu"},
        [TensorType.make("f32", [ex.sym(0), 2])],
    )
    bound = full.bind()
    assert bound["size"] == [ex.sym(0), 2]
    assert bound["fill_value"] == 1.5
    assert bound["dtype"] is DTypeAttr("f32")
    assert bound["device"] is DeviceAttr("cpu")
    clone = AtenOp.make("clone.default", {"self": x, "memory_format": EnumAttr("x")}, [F32])
    assert clone.bind()["memory_format"] is EnumAttr("x")
    # a number in a tensor's place is a number; one known at run time is a value
    two = ScalarOp.of(2.0).result
    assert AtenOp.make("mul.Tensor", {"self": x, "other": two}, [F32]).bind()["other"] == 2.0
    assert AtenOp.make("mul.Tensor", {"self": x, "other": n}, [F32]).bind()["other"] is ex.sym(0)
    assert AtenOp.make("mul.Tensor", {"self": x, "other": s}, [F32]).bind()["other"] is s
    assert AtenOp.make("mul.Scalar", {"self": x, "other": s}, [F32]).bind()["other"] is s


def test_lists_holes_and_absent_tensors():
    x, i = args(F32, TensorType.make("i64", [2]))
    cat = AtenOp.make("cat.default", {"tensors": [x, x], "dim": 0}, [TensorType.make("f32", [8])])
    assert cat.bind() == {"tensors": [x, x], "dim": 0}
    index = AtenOp.make("index.Tensor", {"self": x, "indices": [None, i]}, [F32])
    assert index.bind()["indices"] == [None, i]
    assert index.with_args(indices=[i]).bind()["indices"] == [i]
    norm = AtenOp.make(
        "native_layer_norm.default",
        {"input": x, "normalized_shape": [4], "weight": None, "bias": x, "eps": 1e-5},
        [F32, F32, F32],
    )
    assert norm.bind()["weight"] is None
    assert norm.bind()["bias"] is x


def test_unknown_names_are_refused():
    (x,) = args(F32)
    with pytest.raises(KeyError, match=r"no schema of `ad\.Tensor`"):
        AtenOp.make("ad.Tensor", {}, [F32])
    with pytest.raises(KeyError, match="no argument `y`"):
        AtenOp.make("relu.default", {"self": x, "y": 1}, [F32])


def test_custom_op():
    (x,) = args(F32)
    text = "mylib::foo(Tensor x, float s=1.0) -> Tensor"
    op = AtenOp.make("", {"x": x, "s": 3.0}, [F32], schema=text)
    assert op.overload == "mylib.foo.default"
    assert op.bind() == {"x": x, "s": 3.0}
    assert is_removable(op)
    assert not is_pure(op)
    writes = AtenOp.make("", {"x": x}, [], schema="mylib::bar(Tensor(a!) x) -> ()")
    assert is_ordered(writes)
    assert not is_removable(writes)


def test_origin():
    (x,) = args(F32)
    op = AtenOp.make("relu.default", {"self": x}, [F32], origin="gelu m.py:3")
    assert op.origin == ("gelu", "m.py:3")
    assert AtenOp.make("relu.default", {"self": x}, [F32]).origin == ("relu", "")


def test_verifier_wants_required_arguments():
    block = Block(arg_types=[F32])
    op = op_class("cumsum.default").create(operands=[block.args[0]], result_types=[F32])
    with pytest.raises(VerifyException, match="dim"):
        op.verify()


X, N = "!aten.t<f32[s0, 3]>", "2 * s0 - 1"


@pytest.mark.parametrize(
    "text",
    [
        f"%a = aten.relu.default(%x) : {X}",
        "%a = aten.sum.dim_IntList(%x, dim = []) : !aten.t<f32[]>",
        f"%a = aten.nan_to_num.default(%x, nan = nan, posinf = inf, neginf = -inf) : {X}",
        f"%a = aten.full.default(size = [{N}], fill_value = -0.0) : !aten.t<f32[{N}]>",
        "%a = aten.scalar_tensor.default(s = #aten.complex<1.000000e+00, 2.000000e+00>) "
        ": !aten.t<c64[]>",
        f"%a = aten.mul.Scalar(%x, other = %s) : {X}",
        f'%a = aten.gelu.default(%x, approximate = "tanh") : {X}',
        f"%a = aten.div.Tensor_mode(%x, %x, rounding_mode = none) : {X}",
        "%a = aten.empty.memory_format(size = [s0], dtype = i8, layout = strided) "
        ": !aten.t<i8[s0]>",
        "%a = aten.view.default(%x, size = [-1]) : !aten.t<f32[3 * s0]>",
        f"%a = aten.index_put.default(%x, [%i, none], %x, accumulate = true) : {X}",
        f"%a = aten._foreach_add.Scalar([%x, %x], scalar = 2) : {X}, {X}",
    ],
)
def test_text_round_trip(text):
    source = (
        "func.func @f(%x: !aten.t<f32[s0, 3]>, %i: !aten.t<i64[2]>, %s: !aten.float) {\n"
        + text.replace("%a =", "%a, %b =" if "_foreach" in text else "%a =")
        + "\nfunc.return }"
    )
    module = Parser(MiniContext(), source).parse_module()
    module.verify()
    printed = str(module)
    wanted = text.split("= ", 1)[1]
    assert wanted in printed
    again = Parser(MiniContext(), printed).parse_module()
    assert str(again) == printed


def test_python_arithmetic_op():
    a, b = ScalarOp.of(3), ScalarOp.of(2.0)
    op = PyOp.of("truediv", [a.result, b.result])
    ModuleOp(Region(Block([a, b, op]))).verify()
    with pytest.raises(VerifyException, match="unknown function"):
        PyOp.of("nope", [a.result]).verify()


def test_text_needs_no_torch():
    code = (
        "import sys; from minductor.dialects.aten import op_class; "
        "op_class('add.Tensor'); print('torch' in sys.modules or 'sympy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout.strip() == "False", run.stderr
