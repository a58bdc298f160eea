"""Runs a short script in a fresh process with the backend under test, and returns what it said."""

import os
import subprocess
import sys
from pathlib import Path

from harness import BACKEND

ROOT = Path(__file__).resolve().parents[2]

PRELUDE = f"""
import os, sys, torch
BACKEND = {BACKEND!r}
def compile(f, **kw):
    kw.setdefault("fullgraph", True)
    kw.setdefault("dynamic", False)
    return torch.compile(f, backend=BACKEND, **kw)
"""


def run_child(script: str, timeout: float = 200, **env: str) -> tuple[int, str]:
    """Exit status and merged output of `script`; it finds `torch`, `compile` and `BACKEND`."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + script],
        env={**os.environ, "PYTHONPATH": path, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
        text=True,
    )
    return done.returncode, done.stdout
