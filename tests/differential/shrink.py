"""Smaller programs that still show a difference."""

import dataclasses
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from tests.differential.programs import Fork, Program, Step

MOST_TRIES = 400


def shrunk(program: Program, differs: Callable[[Program], bool]) -> tuple[Program, int]:
    """The smallest program found that differs as well, and how many were tried."""
    tries, smaller = 0, True
    while smaller:
        smaller = False
        for candidate in _smaller(program):
            if tries == MOST_TRIES:
                return program, tries
            tries += 1
            if differs(candidate):
                program, smaller = candidate, True
                break
    return program, tries


def _smaller(program: Program) -> Iterator[Program]:
    """Candidates, those first that spare most."""
    for some in _halves(len(program.worlds)):
        yield without(program, some)
    if program.fetched:
        yield dataclasses.replace(program, fetched=False)
    steps = program.steps
    for some in _halves(len(steps)):
        yield dataclasses.replace(program, steps=tuple(step for i, step in enumerate(steps) if i not in some))
    alone = tuple(part for step in steps for part in ([step] if isinstance(step, Fork) else [(call,) for call in step]))
    if alone != steps:
        yield dataclasses.replace(program, steps=alone)
    for i, step in enumerate(steps):
        for other in _smaller_step(step):
            yield dataclasses.replace(program, steps=(*steps[:i], other, *steps[i + 1 :]))


def _halves(length: int) -> Iterator[range]:
    """The halves of so many things, then their quarters, down to each alone; never all of them."""
    size = length // 2
    while size:
        for start in range(length - size, -1, -size):
            yield range(start, start + size)
        size //= 2


def without(program: Program, gone: Container[int]) -> Program:
    """The program without these episodes, and without what is done in them or made of them."""
    numbers: dict[int, int] = {}
    for episode in range(len(program.worlds)):
        if episode not in gone:
            numbers[episode] = len(numbers)
    steps: list[Step] = []
    for step in program.steps:
        if isinstance(step, Fork):
            if step.episode in numbers and step.of in numbers:
                steps.append(Fork(numbers[step.episode], numbers[step.of]))
        elif calls := [call for call in step if call.episode in numbers]:
            steps.append(tuple(dataclasses.replace(call, episode=numbers[call.episode]) for call in calls))
    return dataclasses.replace(program, worlds=tuple(program.worlds[i] for i in numbers), steps=tuple(steps))


def _smaller_step(step: Step) -> Iterator[Step]:
    if isinstance(step, Fork):
        return
    for j, call in enumerate(step):
        if len(step) > 1:
            yield step[:j] + step[j + 1 :]
        for arguments in _simpler(call.arguments):
            yield (*step[:j], dataclasses.replace(call, arguments=arguments), *step[j + 1 :])


def _simpler(arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """With one argument less, or a plain value for one."""
    for name, value in arguments.items():
        yield {other: given for other, given in arguments.items() if other != name}
        for plain in (
            None,
            *((0, 1) if isinstance(value, int | float) else ("", "a") if isinstance(value, str) else ()),
        ):
            if value not in (None, 0, 1, "", "a") and len(str(value)) > 1:
                yield {**arguments, name: plain}
