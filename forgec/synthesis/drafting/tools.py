"""Operations as tools, each with a test that shows what the document says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forgec.documents import Operation
from forgec.starting.names import legal
from forgec.starting.values import documentation
from forgec.synthesis.drafting.making import Body, Draught, Given, Making, Unknown, Written, tool_text
from forgec.synthesis.drafting.purposes import Kind, Purpose
from forgec.synthesis.drafting.reads import count_rows, show_many, show_one
from forgec.synthesis.drafting.signing import login, logout, tell_session
from forgec.synthesis.drafting.writes import add_amount, create, delete, status, update

WORLD = "sample"
"""The name of the world that a draft's tests play in."""


def calculate(it: Making) -> Body:
    if len(it.operation.parameters) != 1 or it.operation.parameters[0].shape.kind != "text":
        raise Unknown("it calculates something, and nothing says what")
    one = it.operation.parameters[0]
    name = legal(one.name, "parameter", [], 1)
    it.given = [Given(one, name, "text", one.doc, False)]
    line = f'return calculate(${name}) else "{{${name}}} cannot be calculated";'
    return Body([line], "double", [f"@({name}: '2 * (3 + 4)') returns 14;"])


def handover(it: Making) -> Body:
    taken: list[str] = []
    for i, one in enumerate(it.operation.parameters, 1):
        taken.append(legal(one.name, "parameter", taken, i))
        type_ = it.draught.records.type_of(one.shape, f"{it.operation.name}_{taken[-1]}", one.doc)
        it.given.append(Given(one, taken[-1], type_, one.doc, not one.required))
    if any(one.type != "text" for one in it.given):
        raise Unknown("it hands over more than words")
    it.assumed.append("the episode ends with it")
    arguments = ", ".join(f"{one.name}: 'Somebody has to look at this'" for one in it.given)
    return Body(["return 'Transferred';"], "text", [f"@({arguments}) returns 'Transferred';"])


_BY_KIND: Mapping[Kind, Callable[[Making], Body]] = {
    "create": create, "one": show_one, "many": show_many, "update": update, "delete": delete, "status": status,
    "count": count_rows, "add": add_amount, "login": login, "logout": logout, "session": tell_session,
    "calculate": calculate, "handover": handover,
}  # fmt: skip
_ALONE = {"login", "logout", "session", "calculate", "handover"}
"""Kinds that are about no table."""


class Tools:
    """Writes tools over the tables of a draft."""

    def __init__(self, draught: Draught) -> None:
        self.draught = draught
        self.taken: list[str] = []

    def write(self, purpose: Purpose) -> Written:
        """The tool of an operation. Raises `Unknown`."""
        it, kind, operation = Making(self.draught, purpose), purpose.kind, purpose.operation
        if kind == "unknown":
            raise Unknown("its name does not say what it does")
        if kind == "one" and purpose.noun in ("time", "date", "current_time", "current_date"):
            raise Unknown("the time is that of the environment's clock: write how it is told")
        if it.entity is None and kind not in _ALONE:
            raise Unknown(f"nothing is known of a {purpose.noun.replace('_', ' ') or 'thing'}")
        if kind not in _ALONE:
            it.parameters()
        body = _BY_KIND[kind](it)
        name = self._name(operation)
        returns = body.returns + (" ends" if kind == "handover" else "")
        text = tool_text(name, it.given, returns, operation.doc, body.lines, *it.assumed)
        steps = [step.replace("@(", f"{name}(", 1) for step in body.steps]  # the call comes before any value
        inside = "".join(f"  {step}\n" for step in steps)
        return Written(operation, text, f"test {documentation(name)} on {WORLD} {{\n{inside}}}", it.assumed)

    def refusing(self, operation: Operation, why: str) -> Written:
        """A tool that refuses, in the place of one that has to be written."""
        name = self._name(operation)
        taken: list[str] = []
        given = []
        for i, one in enumerate(operation.parameters, 1):
            taken.append(legal(one.name, "parameter", taken, i))
            type_ = self.draught.records.type_of(one.shape, f"{name}_{taken[-1]}", one.doc)
            given.append(Given(one, taken[-1], type_, one.doc, not one.required))
        lines = [f'require false else "{name} is not written yet";']
        return Written(operation, tool_text(name, given, "", operation.doc, lines, f"To be written: {why}."), "")

    def _name(self, operation: Operation) -> str:
        self.taken.append(legal(operation.name, "tool", self.taken, len(self.taken) + 1))
        return self.taken[-1]
