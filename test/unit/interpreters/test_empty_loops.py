"""Loops without iterations do nothing, in the interpreters as in compiled code."""

from xdsl.parser import Parser

from minductor.interpreters.kernel import run_kernel
from minductor.passes.context import MiniContext

PROGRAM = """
builtin.module {
  kernel.func @k(write %o : !kernel.buf<f32[0]>) [] config {target = "cpp"} {
    kernel.parallel d0 : 7 {
      kernel.parallel d1 : 0 {
        %0 = scalar.constant 1.0 : f32
        kernel.store %0, %o[130 * d0]
      }
    }
  }
  func.func @call() -> !aten.t<f32[7, 0]> {
    %o = kernel.alloc : !aten.t<f32[7, 0]>
    kernel.launch @k(%o)[]
    func.return %o : !aten.t<f32[7, 0]>
  }
}
"""


def test_a_store_that_does_not_vary_with_an_empty_loop_is_not_done() -> None:
    module = Parser(MiniContext(), PROGRAM).parse_module()
    (result,) = run_kernel(module, [])
    assert result.shape == (7, 0)
