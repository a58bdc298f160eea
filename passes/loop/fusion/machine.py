"""Figures of a machine, for prices: bandwidth, caches, launch cost, arithmetic.

A price is in bytes: what moves, plus launches and arithmetic in the bytes that could have moved in
the same time. A machine is one of `MACHINES` by name, or a TOML file with the same fields:

    name = "mine"
    bandwidth = 30.0        # GB/s to memory, read
    launch = 1.0            # us a kernel
    op_bytes = 0.25         # bytes that move in the time of one simple operation a lane
    cache = 1048576         # bytes that stay near between two passes of one group iteration
    last = 0                # bytes of the cache that all units share, where lines wait for the
                            # neighbours that use the rest of them; 0: none but `cache`
    local = 65536           # bytes of a local buffer that one group iteration may hold
    line = 64               # bytes fetched together
    units = 16              # independent iterations that keep the machine busy
    grain = 131072          # bytes of work below which one of them is enough
    parts = 0               # 1: reductions of few rows are cut in parts, which keeps it busy too
"""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass
from pathlib import Path

from xdsl.utils.exceptions import PassFailedException

from minductor.passes.registry import nearest


@dataclass(frozen=True)
class Machine:
    """What prices need of a machine; the module's docstring gives units."""

    name: str
    bandwidth: float
    launch: float
    op_bytes: float
    cache: int
    local: int
    line: int
    units: int
    grain: int
    parts: int = 0
    last: int = 0

    @property
    def near(self) -> int:
        """Bytes of lines that are still there when the loop outside takes its next step."""
        return max(self.cache, self.last)

    @property
    def launch_bytes(self) -> int:
        """Bytes that could move in the time of one launch."""
        return int(self.launch * self.bandwidth * 1e3)


MACHINES = {
    "cpu": Machine("cpu", 35.0, 0.5, 0.25, 1 << 20, 1 << 16, 64, 8, 1 << 17),
    "h200": Machine("h200", 4200.0, 3.0, 0.12, 1 << 19, 1 << 16, 32, 264, 1 << 15, 1, 50 << 20),
}
"""Known machines. cpu: two cores with AVX-512, measured; h200: one GPU, per multiprocessor."""


def machine_of(name: str, device: str) -> Machine:
    """The machine of a name or file; `auto` goes by the device (`cpu`, `cuda`).

    Raises PassFailedException with the mend.
    """
    if name == "auto":
        return MACHINES["cpu" if device == "cpu" else "h200"]
    if name in MACHINES:
        return MACHINES[name]
    path = Path(name)
    if path.suffix != ".toml":
        raise PassFailedException(
            f"unknown machine '{name}'{nearest(name, MACHINES)}; or give a .toml file"
        )
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PassFailedException(f"machine file '{name}': {error}") from error
    return _from_fields(name, fields)


def _from_fields(name: str, fields: dict[str, object]) -> Machine:
    """A machine of a file's fields; what is left out is the CPU's."""
    kinds = {one.name: one.type for one in dataclasses.fields(Machine)}
    for key, value in fields.items():
        if key not in kinds:
            raise PassFailedException(
                f"machine file '{name}': unknown field '{key}'{nearest(key, kinds)}"
            )
        if key == "name":
            fits = isinstance(value, str)
        else:
            number = isinstance(value, int if kinds[key] == "int" else int | float)
            fits = number and not isinstance(value, bool) and float(str(value)) >= 0
        if not fits:
            what = "text" if key == "name" else f"{kinds[key]}, not negative"
            raise PassFailedException(
                f"machine file '{name}': field '{key}' is of type {what}, not {value!r}"
            )
    return dataclasses.replace(MACHINES["cpu"], **fields)
