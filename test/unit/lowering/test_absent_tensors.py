"""Tensors that a schema asks for and a call leaves out."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.parser import Parser

from minductor.codegen.wrapper.module import emit_wrapper
from minductor.dialects.aten.schema import parse_schema
from minductor.dialects.printing import module_text
from minductor.lowering.fx_to_aten.arguments import with_optional
from minductor.lowering.fx_to_aten.graph import import_graph
from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline

ATEN = torch.ops.aten


def attention(q, k, v, g):
    """Its backward is given no sequence starts."""
    out, sums, state, unused, _ = ATEN._flash_attention_forward(
        q, k, v, None, None, 16, 16, 0.0, False, False
    )
    return ATEN._flash_attention_backward(
        g, q, k, v, out, sums, None, None, 16, 16, 0.0, False, state, unused
    )


def test_the_call_passes_none_on():
    with FakeTensorMode():
        x = torch.empty(2, 16, 3, 32, device="cuda", dtype=torch.bfloat16)
        graph = make_fx(attention)(x, x.clone(), x.clone(), x.clone())
    text = module_text(import_graph(graph, "inference").module)
    assert "Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt max_q" in text
    context = MiniContext()
    module = Parser(context, text).parse_module()
    for one in build_pipeline("default-cuda"):
        one.apply(context, module)
    assert "None, None, 16, 16, 0.0, False, buf2, buf3)" in emit_wrapper(module)


def test_only_the_named_arguments_become_optional():
    schema = parse_schema("a::f(Tensor x, Tensor(a) xs, Tensor[] y, Tensor z) -> Tensor(a)")
    optional = [a.name for a in with_optional(schema, ["x", "z"]).args if a.optional]
    assert optional == ["x", "z"]
    assert with_optional(schema, ["xs"]).by_name["xs"].optional
