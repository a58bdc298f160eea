"""`python -m bench.numerics`: measure a target's accuracy, or write docs/numerics.md."""

import argparse
import json
import platform
from pathlib import Path
from typing import Any

import torch

from bench.numerics import composites, functions, report


def measured(device: str, options: dict[str, Any], jobs: int) -> dict[str, Any]:
    """Everything about one target."""
    there = torch.cuda.get_device_name() if device == "cuda" else platform.machine()
    return {
        "device": there,
        "torch": torch.__version__.split("+")[0],
        "options": options,
        "functions": functions.measure(device, options, jobs),
        "operations": composites.measure(device, options),
    }


def main() -> None:
    """Measure and write JSON, or render the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.numerics", description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--isa", help="vector width of C++ kernels, such as avx2")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", type=Path, help="file for what was measured")
    parser.add_argument("--md", action="store_true", help="write docs/numerics.md and stop")
    args = parser.parse_args()
    if args.md:
        report.PAGE.write_text(report.page())
        return
    options = {"isa": args.isa} if args.isa else {}
    text = json.dumps(measured(args.device, options, args.jobs), indent=1) + "\n"
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
