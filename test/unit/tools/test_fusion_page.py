"""The commands that docs/fusion.md shows give what it shows."""

import re
import subprocess
import sys
from pathlib import Path

from minductor.tools.source_tree import project_root

PAGE = project_root() / "docs" / "fusion.md"
MARK = "\x01"


def test_a_plan_is_edited_as_the_page_shows(tmp_path: Path) -> None:
    """All commands in one shell; the file names are relative to the project."""
    (tmp_path / "docs").symlink_to(PAGE.parent)
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    shown = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    commands, wanted = zip(*(part.split("\n", 1) for part in shown), strict=True)
    assert len(commands) == 13
    tools = (("mini-opt", "mini_opt"), ("mini-plan", "mini_plan"))
    script = [f'{n}() {{ {sys.executable} -m minductor.tools.{m} "$@"; }}' for n, m in tools]
    for command in commands:
        script += [command, f"printf '{MARK}'"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.stdout.split(MARK)[:-1] == list(wanted)
