"""FX graphs to the `aten` dialect."""

from __future__ import annotations

from minductor.lowering.fx_to_aten.errors import ImportRefused
from minductor.lowering.fx_to_aten.graph import ArgInfo, Imported, import_graph
from minductor.lowering.fx_to_aten.text import key_text

__all__ = ["ArgInfo", "ImportRefused", "Imported", "import_graph", "key_text"]
