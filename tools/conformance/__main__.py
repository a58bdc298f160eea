"""`python -m minductor.tools.conformance`."""

from __future__ import annotations

import itertools
import signal
import sys
import time
from collections.abc import Sequence

from minductor.tools.conformance import summary
from minductor.tools.conformance.entries import items
from minductor.tools.conformance.pool import Pool
from minductor.tools.conformance.results import Result
from minductor.tools.conformance.settings import Settings, parse


def run(settings: Settings) -> list[Result]:
    """Runs what the settings ask for; failures are printed as they come."""
    found: list[Result] = []
    todo = items(settings)
    start = time.monotonic()

    def take(result: Result) -> None:
        found.append(result)
        if result.failed and not settings.quiet:
            where = f"{result.entry} {result.dtype} {result.mode} sample {result.unit}"
            print(f"{result.cls}: {where}: {result.reason}", flush=True)

    print(f"{len(todo)} items", flush=True)
    finished = itertools.count(1)

    def done() -> None:
        number = next(finished)
        if number % 100 == 0 and not settings.quiet:
            print(f"{number} of {len(todo)} items", flush=True)

    cut_short = False
    try:
        Pool(settings, take, done).run(todo)
    except KeyboardInterrupt:
        cut_short, found = True, list(found)  # workers may go on for a moment
    places = {(i.entry, i.dtype, i.mode): k for k, i in enumerate(todo)}
    found.sort(key=lambda r: places[(r.entry, r.dtype, r.mode)])
    if settings.json is not None:
        summary.write_json(settings.json, found)
    print(summary.text(found, settings, time.monotonic() - start))
    if cut_short:
        print(f"cut short: {next(finished) - 1} of {len(todo)} items are done")
        raise SystemExit(1)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; the exit status is 1 where anything failed, or when it was ended early: by
    Ctrl-C or SIGTERM, after a summary of what is done."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return int(any(r.failed for r in run(parse(argv))))


if __name__ == "__main__":
    sys.exit(main())
