"""The printer gives every value a name of its own, whatever the hints are."""

from xdsl.parser import Parser

from minductor.dialects.printing import module_text
from minductor.passes.context import MiniContext

CLASH = """builtin.module {
  func.func @f(%x: !aten.t<f32[2]>, %x_1_0: !aten.t<f32[2]>, %x_5: !aten.t<f32[2]>) {
    func.return
  }
}
"""


def test_a_numbered_name_passes_over_a_hint_that_is_taken():
    """`%x_1_0` has the hint x_1, `%x_5` the hint x: the second x is not called x_1, too."""
    module = Parser(MiniContext(), CLASH).parse_module()
    assert "@f(%x: !aten.t<f32[2]>, %x_1: !aten.t<f32[2]>, %x_2:" in module_text(module)


def test_the_text_of_a_text_is_that_text():
    text = module_text(Parser(MiniContext(), CLASH).parse_module())
    assert module_text(Parser(MiniContext(), text).parse_module()) == text


def test_a_hint_passes_over_a_numbered_name_that_is_taken():
    """The order the other way round: the second x is x_1 before the hint x_1 comes."""
    given = CLASH.replace("%x_1_0", "%y").replace("%x_5", "%x_7").replace("%y", "%x_3", 1)
    given = given.replace("%x_7: !aten.t<f32[2]>", "%x_7: !aten.t<f32[2]>, %x_1_4: !aten.t<f32[2]>")
    text = module_text(Parser(MiniContext(), given).parse_module())
    assert module_text(Parser(MiniContext(), text).parse_module()) == text
