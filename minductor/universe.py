"""What minductor adds to xDSL's own tools, found through the `xdsl.universe` entry point."""

from __future__ import annotations

from xdsl.universe import Universe

from minductor.passes.context import DIALECTS, dialect_factory
from minductor.passes.registry import pass_factories
from minductor.tools.targets import target_factories

MINDUCTOR_UNIVERSE = Universe(
    all_dialects={name: dialect_factory(target) for name, target in DIALECTS.items()},
    all_passes=pass_factories(),
    all_targets=target_factories(),
)
"""Dialects, passes and targets, all imported lazily."""
