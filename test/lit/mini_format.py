"""A lit format that runs `mini-opt ... | filecheck ...` inside the worker process.

A process per command costs a Python start each; here a test costs a few milliseconds. A RUN line
that is not a plain pipeline of the known tools (redirections to files, variables, other programs,
options that change the process) goes to lit's own shell instead.

Known tools: mini-opt, mini-run, filecheck, cat, not. Understood around them: `|`, `2>&1`, `< FILE`.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import lit.formats
import lit.Test
import lit.TestRunner

SECONDS = 20
"""Time that one test may take."""

SHELL_ONLY = ("--disable-verify", "--shrink", "-o", "--output-file")
"""Options that change the process or write files."""


class OutOfTime(Exception):
    """A test ran longer than the limit."""


@dataclass
class Command:
    """One tool of a pipeline."""

    argv: list[str]
    merge_stderr: bool = False
    stdin_file: str | None = None
    expect_failure: bool = False


@dataclass
class Outcome:
    """What a tool printed and returned."""

    status: int
    out: str
    err: str = field(default="")


class InProcessFormat(lit.formats.ShTest):
    """Runs the pipelines it knows in process, and all others through lit's shell."""

    def __init__(self, modules: dict[str, str]) -> None:
        """`modules`: tool name -> "module:function" taking the arguments, returning a status."""
        super().__init__(execute_external=False)
        self.modules = modules

    def execute(self, test: Any, litConfig: Any) -> Any:
        """Runs one test file."""
        if test.config.unsupported:
            return lit.Test.Result(lit.Test.UNSUPPORTED, "unsupported")
        script = expanded_script(test)
        if isinstance(script, lit.Test.Result):
            return script
        parsed = [parse_line(line, self.modules) for line in script]
        if any(line is None for line in parsed):
            with time_limit(SECONDS):
                return super().execute(test, litConfig)
        for text, pipeline in zip(script, parsed, strict=True):
            assert pipeline is not None
            with in_folder(os.path.dirname(test.getSourcePath())):
                failure = run_pipeline(pipeline, self.modules)
            if failure is not None:
                return lit.Test.Result(lit.Test.FAIL, f"$ {text}\n{failure}")
        return lit.Test.Result(lit.Test.PASS, "")


def expanded_script(test: Any) -> Any:
    """The RUN lines with substitutions applied, or the result that ends the test."""
    script = lit.TestRunner.parseIntegratedTestScript(test)
    if isinstance(script, lit.Test.Result):
        return script
    folder, base = lit.TestRunner.getTempPaths(test)
    substitutions = lit.TestRunner.getDefaultSubstitutions(test, folder, base)
    lines = lit.TestRunner.applySubstitutions(
        script, substitutions, {}, recursion_limit=test.config.recursiveExpansionLimit
    )
    return [strip_marker(line) for line in lines]


def strip_marker(line: str) -> str:
    """lit prefixes each command with a marker naming its RUN line: `%dbg(...) command`."""
    match = re.fullmatch(lit.TestRunner.kPdbgRegex, line)
    return (match.group(2) if match else line).strip()


def parse_line(line: str, known: dict[str, str]) -> list[Command] | None:
    """The commands of a RUN line, or None when only a shell can run it."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>&;")
        lexer.whitespace_split = True
        lexer.commenters = ""
        words = list(lexer)
    except ValueError:
        return None
    commands: list[Command] = []
    for part in split_words(words):
        command = parse_command(part)
        if command is None or command.argv[0] not in {*known, "filecheck", "cat"}:
            return None
        if any(word in SHELL_ONLY for word in command.argv):
            return None
        commands.append(command)
    return commands


def split_words(words: list[str]) -> Iterator[list[str]]:
    """The words between `|`."""
    part: list[str] = []
    for word in words:
        if word == "|":
            yield part
            part = []
        else:
            part.append(word)
    yield part


def parse_command(words: list[str]) -> Command | None:
    """One command with its redirections, or None when it is not understood."""
    command = Command([])
    position = 0
    while position < len(words):
        word = words[position]
        if words[position : position + 3] in (["2", ">&", "1"], ["2", ">", "&1"]):
            command.merge_stderr = True
            position += 3
        elif word == "<" and position + 1 < len(words):
            command.stdin_file = words[position + 1]
            position += 2
        elif word == "not" and not command.argv:
            command.expect_failure = not command.expect_failure
            position += 1
        elif set(word) <= set("<>&;") or "$" in word or "`" in word:
            return None
        else:
            command.argv.append(word)
            position += 1
    return command if command.argv else None


def run_pipeline(commands: list[Command], modules: dict[str, str]) -> str | None:
    """Runs the commands, each on the output of the one before; returns why it failed, or None."""
    text = ""
    for command in commands:
        if command.stdin_file is not None:
            with open(command.stdin_file, encoding="utf-8") as file:
                text = file.read()
        try:
            with time_limit(SECONDS):
                outcome = run_command(command, text, modules)
        except OutOfTime:
            return f"{command.argv[0]}: longer than {SECONDS} s"
        if (outcome.status != 0) != command.expect_failure:
            wanted = "a failure" if command.expect_failure else "success"
            return f"{command.argv[0]}: status {outcome.status}, not {wanted}\n" + (
                f"{outcome.err}\n--- input\n{text}"
                if command.argv[0] == "filecheck"
                else f"{outcome.err}\n--- output\n{outcome.out}"
            )
        text = outcome.out
    return None


def run_command(command: Command, stdin: str, modules: dict[str, str]) -> Outcome:
    """Runs one tool with its own standard streams."""
    name, *arguments = command.argv
    if name == "cat":
        return Outcome(0, "".join(read_text(path) for path in arguments))
    tool = filecheck if name == "filecheck" else load_tool(modules[name])
    with standard_streams(stdin, command.merge_stderr) as (out, err):
        try:
            status = tool(arguments) or 0
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        except OutOfTime:
            raise
        except BaseException:
            traceback.print_exc(file=err)
            status = 1
        return Outcome(status, written(out), "" if err is out else written(err))


def load_tool(target: str) -> Callable[[list[str]], int | None]:
    """The main function of a tool."""
    from importlib import import_module

    module, _, function = target.partition(":")
    return getattr(import_module(module), function)


def filecheck(arguments: list[str]) -> int:
    """Matches standard input against a check file."""
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options

    return Matcher.from_opts(parse_argv_options(["filecheck", *arguments])).run()


def read_text(path: str) -> str:
    """The text of a file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def written(stream: io.TextIOWrapper) -> str:
    """What was written to an in-memory stream."""
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", errors="replace")


@contextmanager
def standard_streams(
    stdin: str, merge: bool
) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Replaces the process's standard streams by in-memory ones."""
    saved = sys.stdin, sys.stdout, sys.stderr
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = out if merge else io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    sys.stdout, sys.stderr = out, err
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = saved


@contextmanager
def in_folder(folder: str) -> Iterator[None]:
    """Runs in a folder, as lit's shell does not promise one: paths come from `%s` and `%S`."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raises OutOfTime in this thread after so many seconds."""

    def expire(signum: int, frame: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def warm_up() -> None:
    """Imports the driver before lit forks its workers, so that they share it."""
    import minductor.tools.mini_opt  # noqa: F401
