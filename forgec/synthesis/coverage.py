"""What of the documents a spec realises, operation by operation, and what it assumes beyond them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from forgec.documents import Shape
from forgec.model import spec as m
from forgec.model.uses import reads_of, writes_of
from forgec.sql.scope import Cell
from forgec.starting.names import snake
from forgec.synthesis.made import Made
from forgec.synthesis.naming import Named


@dataclass(frozen=True)
class Part:
    """What the document has of something: how much of it there is in the spec, and what is missing."""

    documented: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def realised(self) -> int:
        return len(self.documented) - len(self.missing)


@dataclass(frozen=True)
class Covered:
    """One operation of the documents."""

    operation: str
    place: str
    tool: str
    state: Literal["shown", "left out"]
    """Whether there is a tool whose effect a test that passes shows."""
    why: str = ""
    by: str = ""
    """Who wrote the tool: `model` or `rule`."""
    parameters: Part = Part()
    results: Part = Part()
    errors: Part = Part()
    """Documented errors that a test shows; one that no test shows is missing."""
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """All operations, and what the spec has beyond the documents."""

    operations: tuple[Covered, ...]
    beyond: tuple[str, ...]

    @property
    def shown(self) -> int:
        return sum(one.state == "shown" for one in self.operations)

    def total(self, part: str) -> tuple[int, int]:
        """How many of the documented `parameters`, `results` or `errors` there are, and of how many."""
        parts: list[Part] = [getattr(one, part) for one in self.operations]
        return sum(one.realised for one in parts), sum(len(one.documented) for one in parts)


def coverage(made: Made, spec: m.Spec | None) -> Coverage:
    """What came of each operation; `spec` is what the declarations compile to."""
    return Coverage(
        tuple(_covered(made, spec, one) for one in made.operations),
        tuple(_beyond(made)) if spec is not None else (),
    )


def _covered(made: Made, spec: m.Spec | None, one: Named) -> Covered:
    operation, tool = one.operation, spec.tools.get(one.tool) if spec is not None else None
    place = f"{operation.method.upper()} {operation.path}" if operation.path else operation.place
    parameters = tuple(one.parameters)
    fields = tuple(dict.fromkeys(_fields(operation.result)))
    errors = tuple(dict.fromkeys(failure.code for failure in operation.failures))
    if tool is None or spec is None:
        about = (f"operation {operation.name}", f"tool {one.tool}")
        whys = [left.why for left in made.left if left.what in about]
        whys = whys or [left.why for left in made.left if left.stage == "tools" and one.tool in left.what.split(" ")]
        parts = (Part(parameters, parameters), Part(fields, fields), Part(errors, errors))
        return Covered(operation.name, place, one.tool, "left out", whys[-1] if whys else "", "", *parts)
    declared = made.declarations.held[f"tool {one.tool}"]
    names = {parameter.name for parameter in tool.parameters}
    columns = {snake(name) for name in _columns(tool, spec)}
    seen = _errors_shown(made, spec, one.tool)
    assumed = [*declared.assumed]
    assumed += [f"it has a parameter `{name}`" for name in sorted(names - set(one.parameters.values()))]
    if not reads_of(tool, spec) and not writes_of(tool):
        assumed.append("it neither reads nor changes what there is")
    return Covered(
        operation.name, place, one.tool, "shown", "", declared.by,
        Part(parameters, tuple(name for name, own in one.parameters.items() if own not in names)),
        Part(fields, tuple(name for name in fields if snake(name) not in columns)),
        Part(errors, tuple(code for code in errors if code not in seen)), tuple(assumed),
    )  # fmt: skip


def _fields(shape: Shape | None) -> Iterator[str]:
    """The names of what a result has, of the rows of a list, too."""
    while shape is not None and shape.kind in ("list", "map"):
        shape = shape.of
    for field in shape.fields if shape is not None else ():
        inner = field.shape
        if inner.kind == "list" and inner.of is not None and inner.of.fields:
            yield from (part.name for part in inner.of.fields)
        else:
            yield field.name


def _columns(tool: m.Tool, spec: m.Spec) -> Iterator[str]:
    if tool.returns is None:
        return
    for result in tool.returns.kinds or (tool.returns,):
        if not isinstance(result.shape, Cell):
            yield from result.shape.columns
            table = getattr(result.shape, "table", None)
            yield from (inner.title.rpartition(".")[2] for inner in spec.tables.values() if inner.parent == table)


def _errors_shown(made: Made, spec: m.Spec, tool: str) -> set[str]:
    """The codes that tests say to show of a tool, where they do call it in vain."""
    found: set[str] = set()
    for test in spec.tests:
        fails = any(
            isinstance(step, m.Run) and step.call.tool == tool and step.fails is not None for step in test.steps
        )
        if fails:
            found.update(made.errors.get(f"test {test.name}", ()))
    return found


def _beyond(made: Made) -> Iterator[str]:
    """What the spec has that no operation asked for, and what its author took to be so."""
    tools = {one.tool for one in made.operations}
    for one in made.declarations:
        if one.kind == "tool" and one.name not in tools:
            yield f"{one.key} is no operation of the documents"
        if one.kind not in ("tool", "test", "task", "world"):
            yield from (f"{one.stage}: {text}" for text in one.assumed)


def as_json(found: Coverage) -> Mapping[str, Any]:
    """As plain data."""
    totals = {part: dict(zip(("realised", "documented"), found.total(part), strict=True)) for part in _PARTS}
    return {
        "shown": found.shown, "documented": len(found.operations), **totals,
        "operations": [asdict(one) for one in found.operations], "beyond": list(dict.fromkeys(found.beyond)),
    }  # fmt: skip


_PARTS = ("parameters", "results", "errors")


def lines(found: Coverage) -> list[str]:
    """The same in words: the totals, what is missing of each operation, what is assumed."""
    totals = ", ".join(
        f"{have} of {of} {name}"
        for part, name in zip(_PARTS, ("parameters", "parts of results", "errors"), strict=True)
        for have, of in [found.total(part)]
        if of
    )
    told = [f"{found.shown} of {len(found.operations)} operations have a tool whose effect a test shows"]
    told += [f"  {totals}"] if totals else []
    for one in found.operations:
        if one.state == "left out":
            told.append(f"  left out: {one.operation}: {one.why}")
            continue
        if one.by == "rule":
            told.append(f"  {one.operation}: by rule, the model has none")
        for part, what in zip(_PARTS, ("parameter", "part of the result", "error"), strict=True):
            missing = getattr(one, part).missing
            if missing:
                told.append(f"  {one.operation}: no {what} {', '.join(missing)}")
        told += [f"  assumed in {one.operation}: {text}" for text in dict.fromkeys(one.assumed)]
    told += [f"  assumed: {text}" for text in dict.fromkeys(found.beyond)]
    return told
