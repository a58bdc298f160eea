"""The size caps find what is too long and nothing else."""

from minductor.tools.check_sizes import CLASS_LINES, FILE_LINES, FUNCTION_LINES, check, check_text
from minductor.tools.source_tree import project_root


def body(lines: int, indent: str = "    ") -> str:
    return "".join(f"{indent}x = {i}\n" for i in range(lines))


def test_function_at_and_over_the_cap() -> None:
    assert check_text("def f():\n" + body(FUNCTION_LINES - 1), "a.py") == []
    assert check_text("def f():\n" + body(FUNCTION_LINES), "a.py") == [
        f"a.py:1: function f has {FUNCTION_LINES + 1} lines, the cap is {FUNCTION_LINES}"
    ]


def test_class_over_the_cap() -> None:
    (problem,) = check_text("class C:\n" + body(CLASS_LINES), "a.py")
    assert "class C has 301 lines" in problem


def test_file_over_the_cap() -> None:
    assert check_text(body(FILE_LINES, ""), "a.py") == []
    assert check_text(body(FILE_LINES, "") + "x = 1", "a.py") == [
        "a.py: 501 lines, the cap for a file is 500"
    ]


def test_method_and_nested_function_count() -> None:
    nested = "class C:\n    def f(self):\n" + body(FUNCTION_LINES, "        ")
    (problem,) = check_text(nested, "a.py")
    assert "function f" in problem


def test_this_project_is_within_the_caps() -> None:
    assert check(project_root()) == []
