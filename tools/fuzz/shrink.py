"""Makes a failing program smaller: fewer results, statements and inputs, plainer inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from minductor.tools.fuzz.program import Input, Program

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, most: int) -> Program:
    """The smallest program found that still fails, after at most so many tries."""
    tries = 0
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(program):
            if tries >= most:
                return program
            tries += 1
            if fails(smaller):
                program, progress = smaller, True
                break
    return program


def _smaller(program: Program) -> Iterator[Program]:
    """Programs with a bit less, the largest cuts first."""
    half = len(program.lines) // 2
    if half > 1:
        yield replace(program, lines=program.lines[half:])
        yield replace(program, lines=program.lines[:half])
    if len(program.returns) > 1:
        for one in dict.fromkeys(program.returns):
            yield replace(program, returns=(one,))
    for k in reversed(range(len(program.lines))):
        yield replace(program, lines=program.lines[:k] + program.lines[k + 1 :])
    if program.lines and len(program.returns) == 1:
        for one in program.inputs:
            yield replace(program, returns=(one.name,))
    if program.dynamic:
        yield replace(program, dynamic=False)
    if program.repeat is not None:
        yield replace(program, repeat=None)
    for k, one in enumerate(program.inputs):
        rest = program.inputs[:k] + program.inputs[k + 1 :]
        if rest:
            yield replace(program, inputs=rest)
        for plain in _plainer(one):
            yield replace(program, inputs=(*program.inputs[:k], plain, *program.inputs[k + 1 :]))


def _plainer(one: Input) -> Iterator[Input]:
    if one.grad:
        yield replace(one, grad=False)
    if one.layout != "dense":
        yield replace(one, layout="dense")
    if one.values != "small":
        yield replace(one, values="small")
    for d, n in enumerate(one.shape):
        if n > 2:
            yield replace(one, shape=(*one.shape[:d], 2, *one.shape[d + 1 :]))
