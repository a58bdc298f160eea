"""Documents name files that exist."""

import re

import pytest

from minductor.tools.source_tree import project_root

ROOT = project_root()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(path) -> None:
    prose = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), f"{path.name}: no {target}"


@pytest.mark.parametrize("name", ["README.md", "AGENTS.md", "CONTRIBUTING.md"])
def test_make_words_are_jobs(name: str) -> None:
    jobs = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    words = set(re.findall(r"`make ([a-z]+)", (ROOT / name).read_text()))
    assert words
    assert words <= jobs


def test_the_two_set_up_commands_are_jobs() -> None:
    text = (ROOT / "README.md").read_text()
    for command in ("make demo", "make test"):
        assert f"\n{command}  " in text
