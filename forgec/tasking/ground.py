"""What is known of a spec before any task is made: its graph, parameters, guards, people and examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from forgec.model import spec as m
from forgec.model.uses import functions_in, reads_of, tables_in, trees, writes_of
from forgec.sql.query import Sql
from forgec.sql.scope import Cell, Rows
from forgec.sql.tree import Value, exp
from forgec.tasking.examples import examples_of, refused_of
from forgec.tasking.guards import Guard, guards_of
from forgec.tasking.parameters import Meaning, meanings
from forgec.tasking.people import People, people_of
from forgec.tasking.tool_graph import ToolGraph, links, tool_graph
from forgec_runtime import Environment


@dataclass(frozen=True)
class Ground:
    """A spec, its environment, and what follows from it, each worked out once."""

    spec: m.Spec
    env: Environment

    @cached_property
    def graph(self) -> ToolGraph:
        return tool_graph(self.spec)

    @cached_property
    def meanings(self) -> Mapping[str, Mapping[str, Meaning]]:
        return {tool.name: meanings(tool, self.spec) for tool in self.spec.tools.values()}

    @cached_property
    def people(self) -> People:
        return people_of(self.spec, self.meanings)

    @cached_property
    def guards(self) -> Mapping[str, list[Guard]]:
        return {tool.name: guards_of(tool, self.spec) for tool in self.spec.tools.values()}

    @cached_property
    def examples(self) -> Mapping[str, list[dict[str, Any]]]:
        return examples_of(self.spec)

    @cached_property
    def refused(self) -> Mapping[str, list[dict[str, Any]]]:
        """The arguments with which the spec's tests see tools refuse."""
        return refused_of(self.spec)

    @cached_property
    def reads(self) -> Mapping[str, frozenset[str]]:
        """The tables that each tool reads."""
        return {tool.name: frozenset(reads_of(tool, self.spec)) for tool in self.spec.tools.values()}

    @cached_property
    def writes(self) -> Mapping[str, frozenset[str]]:
        """The tables that each tool writes, by way of syncs too."""
        found = {}
        synced = {written.table for sync in self.spec.syncs.values() for written in writes_of(sync)}
        for tool in self.spec.tools.values():
            own = {written.table for written in writes_of(tool)}
            found[tool.name] = frozenset(own | synced if own else own)
        return found

    @cached_property
    def columns(self) -> Mapping[str, frozenset[tuple[str, str]]]:
        """The columns that each tool sets."""
        return {
            tool.name: frozenset((one.table, column) for one in writes_of(tool) for column in one.columns)
            for tool in self.spec.tools.values()
        }

    @cached_property
    def writers(self) -> list[str]:
        return [name for name, tables in self.writes.items() if tables and not self.spec.tools[name].ends]

    @cached_property
    def readers(self) -> list[str]:
        """The tools of the agent that only look."""
        tools = self.spec.tools.values()
        return [t.name for t in tools if not self.writes[t.name] and t.returns and not t.ends and t.side == "agent"]

    @cached_property
    def finders(self) -> list[str]:
        """The tools that find one of the people by what people know of themselves."""
        return [name for name, _ in self.gives.get(self.people.table or "", ()) if name in self.readers]

    @cached_property
    def refusable(self) -> list[str]:
        """The tools of the agent whose refusals somebody may run into."""
        names = dict.fromkeys([*self.goals, *self.readers])
        return [name for name in names if self.spec.tools[name].side == "agent"]

    @cached_property
    def asked(self) -> list[str]:
        """The tools that only look of which something can be asked: what they find are rows or a row, and not there to
        find somebody among others.
        """
        shapes = {name: getattr(self.spec.tools[name].returns, "shape", None) for name in self.readers}
        return [
            name
            for name, shape in shapes.items()
            if not isinstance(shape, Cell) and not (name in self.finders and isinstance(shape, Rows))
        ]

    @cached_property
    def gives(self) -> Mapping[str, list[tuple[str, str]]]:
        """By table, the tools of the agent whose results have keys of it, and in which field."""
        found: dict[str, dict[tuple[str, str], None]] = {}
        for source, _, link in links(self.graph, "gives"):
            if source in self.readers:
                found.setdefault(link.table, {})[source, link.field] = None
        return {table: list(pairs) for table, pairs in found.items()}

    @cached_property
    def entries(self) -> list[str]:
        """The tools that let somebody in: all they take is what a person knows of the own account."""
        return [name for name in self.writers if self.spec.tools[name].side == "agent" and self._lets_in(name)]

    def _lets_in(self, name: str) -> bool:
        parameters, people = self.spec.tools[name].parameters, self.people.table
        found = [self.meanings[name].get(parameter.name, Meaning()) for parameter in parameters]
        return bool(found) and all(
            any(place.table == people for place in one.looked) and not any(place.table == people for place in one.put)
            and parameter.references is None
            for parameter, one in zip(parameters, found, strict=True)
        )  # fmt: skip

    @cached_property
    def goals(self) -> list[str]:
        """The tools that somebody may want something of: not those that only let in or out."""
        doors = {table for name in self.entries for table in self.writes[name]}
        return [
            name
            for name in self.writers
            if name not in self.entries and (self.spec.tools[name].parameters or not self.writes[name] <= doors)
        ]

    def judged(self, tool: m.Tool, parameter: m.Parameter) -> bool:
        """Whether the tool itself looks at whose row a parameter is."""
        return parameter.name in self._judged[tool.name]

    @cached_property
    def _judged(self) -> Mapping[str, frozenset[str]]:
        """The parameters whose rows each tool looks at for whose they are."""
        return {
            tool.name: frozenset(one.name for one in tool.parameters if self._judges(tool, one))
            for tool in self.spec.tools.values()
        }

    def _judges(self, tool: m.Tool, parameter: m.Parameter) -> bool:
        owners = self.people.owned.get(parameter.references or "", ())
        named = {f"{parameter.row}.{column}" for column in owners}
        compared = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In)
        found = (node for sql in self._conditions(tool) for tree in trees(sql) for node in tree.find_all(Value))
        return any(node.name in named and isinstance(node.parent, compared) for node in found)

    def rule_reads(self, rule: str, tool: str) -> frozenset[str]:
        """The tables that a rule looks at before a tool, by way of functions too."""
        sql = next(one.sqls[tool] for one in self.spec.rules if one.name == rule)
        found = set(tables_in(sql, self.spec.tables))
        for name in functions_in(sql, self.spec.functions):
            found |= tables_in(self.spec.functions[name].sql, self.spec.tables)
        return frozenset(found)

    def _conditions(self, tool: m.Tool) -> list[Sql]:
        return [rule.sqls[tool.name] for rule in self.spec.rules if tool.name in rule.sqls]
