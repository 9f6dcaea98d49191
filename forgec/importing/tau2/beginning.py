"""How a task of tau2-bench begins: as an episode of ours, and as the statements that bring it about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forgec.importing.tau2.domains import Domain
from forgec.importing.tau2.playing import call
from forgec.importing.tau2.shape import Action, FunctionCall, Start
from forgec.model.given import written
from forgec_runtime import Environment, Episode
from forgec_runtime.call import Call
from forgec_runtime.schema import Table
from forgec_runtime.types import Mismatch


class NotOurs(Exception):
    """Something that a task of tau2-bench says and none of ours can; the text says what."""


def begin(environment: Environment, domain: Domain, world: str, start: Start | None) -> tuple[Episode, list[str]]:
    """The episode in which a task begins, and the statements that change its world so. Raises `NotOurs`."""
    beginning = _Beginning(environment, domain, environment.reset(world))
    if start is not None:
        beginning.follow(start)
    return beginning.episode, [_statement(beginning.episode, *one) for one in beginning.changed()]


class _Beginning:
    def __init__(self, environment: Environment, domain: Domain, episode: Episode) -> None:
        self.environment = environment
        self.domain = domain
        self.episode = episode
        self.tables = {table.name: table for table in environment.tables}

    def follow(self, start: Start) -> None:
        """Bring about what tau2-bench brings about, in its order: data, functions, the calls of the history."""
        data = start.initialization_data
        for side in () if data is None else (data.agent_data, data.user_data):
            for table, rows in (side or {}).items():
                for key, columns in rows.items():
                    self._write(table, key, columns)
        for function in start.initialization_actions or ():
            self._run(function)
        for message in start.message_history or ():
            for made in message.tool_calls or ():
                self._run(FunctionCall(func_name=made.name, arguments=made.arguments))

    def changed(self) -> Iterator[tuple[Table[Any], Any, Mapping[str, Any]]]:
        """The rows that are otherwise than in the world, new ones included."""
        for name, rows in sorted(self.episode.changes().items()):
            table = self.tables[name]
            for key in sorted(rows):
                if rows[key] is None or table.parts:
                    raise NotOurs(f"it begins with other `{name}`, which are nested or deleted")
                yield table, key, rows[key]

    def _run(self, function: FunctionCall) -> None:
        name = function.func_name
        table = self.domain.inserted.get(name)
        if table is not None:
            self._write(table, None, function.arguments)
        elif name not in self.environment.tools and name not in self.environment.user_tools:
            raise NotOurs(f"it begins with `{name}`, which is no tool")
        else:
            ok, said = call(self.environment, self.episode, Action(name=name, arguments=function.arguments))
            if not ok:
                raise NotOurs(f"it begins with a call of `{name}` that fails: {said}")

    def _write(self, name: str, key: str | None, columns: Mapping[str, Any]) -> None:
        """Write a row, or over what is there of one."""
        table = self.tables.get(name)
        if table is None or table.parts or len(table.key) != 1 or not columns.keys() <= set(table.names):
            raise NotOurs(f"it begins with other `{name}`, of which there are none of this kind")
        place = columns.get(table.key[0], key)
        given = {one: _decoded(table, one, value) for one, value in columns.items()}
        made = []

        def write(call: Call) -> None:
            before = call.find(table, place)
            if before is not None:
                call.update(table, before, given)
                return
            values = dict.fromkeys(table.names) | given
            if table.makes_keys:
                del values[table.key[0]]
            made.append(call.insert(table, values)[table.key[0]])

        result = self.environment.perform(self.episode, write)
        if not result.ok:
            raise NotOurs(f"it begins with other `{name}` that cannot be: {result.detail or result.text}")
        if made and made[-1] != place:
            raise NotOurs(f"it begins with one more of `{name}`, which has not the next key")


def _decoded(table: Table[Any], column: str, value: Any) -> Any:
    try:
        return None if value is None else table.types[column].decode(value)
    except Mismatch as mismatch:
        raise NotOurs(f"it begins with other `{table.name}`: `{column}` is not {mismatch}") from None


def _statement(episode: Episode, table: Table[Any], key: Any, row: Mapping[str, Any]) -> str:
    """The statement that writes a row."""
    (name,) = table.key
    before = episode.base.rows(table, [key]).get(key)
    if before is not None:
        new = ", ".join(f"{one} = {written(value)}" for one, value in row.items() if value != before[one])
        return f"update {table.name} set {new} where {name} = {written(key)}"
    made = {one: value for one, value in row.items() if value is not None and not (one == name and table.makes_keys)}
    return f"insert into {table.name} ({', '.join(made)}) values ({', '.join(map(written, made.values()))})"
