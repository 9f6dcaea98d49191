"""A planned environment as files: path inside the package -> text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from forgec.codegen import source
from forgec.codegen.format import formatted
from forgec.codegen.hashes import hashes_of
from forgec.codegen.render import render
from forgec.codegen.schemas import tool_schema
from forgec.codegen.tasks import tasks_text
from forgec.codegen.values import to_json
from forgec.model import spec as m
from forgec.plans import python as py
from forgec.plans.function import FunctionPlan
from forgec.plans.package import PackagePlan, row_class
from forgec.sql.scope import Row, Rows
from forgec_runtime import PackageFile
from forgec_runtime.data.outside import OutsideFile

_RUNTIME = {
    "Call", "Column", "Environment", "Hashes", "Index", "Invariant", "Parameter",
    "PackageFile", "Query", "Refusal", "Table", "Tasks", "Tie", "Tool", "VariableFile", "World", "sql",
}  # fmt: skip
_PLAIN = re.compile(r"[\w .+-]+")


def generate(plan: PackagePlan, spec_file: str) -> dict[str, str]:
    """Every file of the package but its manifest. They name their spec, unless its name would say more than a name."""
    files = _package(plan, spec_file).files()
    return files | formatted({name: text for name, text in files.items() if name.endswith(".py")})


def generate_tool(plan: PackagePlan, spec_file: str, name: str) -> str:
    """The module of one tool, as `generate` writes it."""
    return formatted({name: _package(plan, spec_file).tool(name)})[name]


def _package(plan: PackagePlan, spec_file: str) -> _Package:
    return _Package(plan, spec_file if _PLAIN.fullmatch(spec_file) else f"{plan.spec.name}.afs")


class _Package:
    def __init__(self, plan: PackagePlan, spec_file: str) -> None:
        self.plan = plan
        self.spec = plan.spec
        self.spec_file = spec_file
        self.named = plan.constants.types
        self.tables = set(plan.constants.tables.values())
        self.tools = plan.constants.tools

    def files(self) -> dict[str, str]:
        tools = self.spec.tools.values()
        agent, user = ([tool for tool in tools if tool.side == side] for side in ("agent", "user"))
        files = {
            "__init__.py": self._init(),
            "schema.py": self._schema(),
            "schema.sql": self._schema_sql(),
            "tasks.jsonl": tasks_text(self.plan.tasks),
            "hashes.json": to_text(hashes_of(self.spec, self.plan.tasks)),
            "policy.md": policy_text(self.spec),
            "tools.json": schemas_text(agent),
            "tools/__init__.py": self._tools_init(),
        }
        if user:
            files["user_tools.json"] = schemas_text(user)
        if self.plan.functions:
            files["functions.py"] = self._functions()
        if self.plan.actions:
            files["actions.py"] = self._actions()
        if self.plan.syncs:
            files["syncs.py"] = self._syncs()
        for name in self.spec.tools:
            files[f"tools/{py.identifier(name)}.py"] = self.tool(name)
        for world in self.spec.worlds.values():
            files[f"worlds/{world.name}.json"] = world_text(self.spec, world)
        return files

    def _python(self, template: str, used: set[str], local: Iterable[tuple[str, Iterable[str]]], **context: Any) -> str:
        imports = source.imports(used, _RUNTIME, local)
        return render(template, spec_file=self.spec_file, imports=imports, **context)

    # -- modules -----------------------------------------------------------------------------------------------

    def _init(self) -> str:
        queries = [source.query(query) for _, query in self.plan.invariants]
        tools = list(self.tools.values())
        tables = [table.upper() for table in self.spec.tables]
        used = {
            "Environment",
            "Hashes",
            "Tasks",
            "World",
            "Path",
            "datetime",
            *({"Invariant", "Query"} if queries else ()),
        }
        local = [(".schema", tables), (".", ["syncs"] if self.plan.syncs else []), (".tools", tools)]
        invariants = [
            f"Invariant({i.name!r}, {py.source_literal(i.doc or i.name)}, {query.name})"
            for i, query in self.plan.invariants
        ]
        worlds = [self._world(world) for world in self.spec.worlds.values()]
        used |= source.names_in(*worlds) & {"PackageFile", "VariableFile"}
        return self._python(
            "init.py.j2", used, local, name=self.spec.name, doc=self.spec.doc, clock=self.spec.clock, queries=queries,
            tables=tables, tools=tools, invariants=invariants, syncs=bool(self.plan.syncs),
            worlds=worlds,
        )  # fmt: skip

    def _world(self, world: m.World) -> str:
        """A world, with the files outside that hold rows of it."""
        parts = [repr(world.name), f'_HERE / "worlds" / {f"{world.name}.json"!r}']
        if world.outside:
            files = ", ".join(_outside_file(outside.file) for outside in world.outside)
            parts.append(f"outside=({files},)")
            parts.extend([f"defaults={py.source_literal(to_json(world.defaults))}"] if world.defaults else [])
            parts.append('manifest=_HERE / "manifest.json"')
        return f"World({', '.join(parts)})"

    def _schema(self) -> str:
        enums = [f"{self.named[e.name]} = {source.enum_source(e)}" for e in self.spec.enums.values()]
        records = [f"{self.named[r.name]} = {source.record_source(r, self.named)}" for r in self.spec.records.values()]
        queries = [source.query(query) for check in self.plan.checks.values() for query in check.queries]
        tables = [self._table(table) for table in _nested_first(self.spec.tables)]
        parts = [
            text
            for table in tables
            for text in (table["row"], table["check"], *table["columns"], *table["ties"])
            if text
        ]
        used = {"Table", "t", *source.names_in(*parts, *queries)}
        return self._python("schema.py.j2", used, [], enums=enums, records=records, queries=queries, tables=tables)

    def _table(self, table: m.Table) -> dict[str, Any]:
        check = self.plan.checks.get(table.name)
        return {
            "name": table.name,
            "constant": table.name.upper(),
            "row": self._row(table),
            "row_class": row_class(table),
            "columns": [self._column(column) for column in table.columns],
            "key": tuple(column.name for column in table.key),
            "serial": table.serial,
            "listed": table.keys,
            "nested": self._nested(table),
            "ties": [f"Tie({tie.columns!r}, {tie.table!r})" for tie in table.ties],
            "check": source.function(check) if check else None,
            "check_name": f"check_{table.name}",
        }

    def _nested(self, table: m.Table) -> list[str]:
        """How a table lies in another, and what lies in it."""
        parts: list[str] = []
        if table.parent is not None:
            parts = [f"path={table.title!r}", f"parent={table.parent!r}", f"kind={table.kind!r}"]
        if table.parent is not None or any(table.column(part) is None for part in table.parts):
            names = (repr(part) if table.column(part) else f"{table.name}_{part}".upper() for part in table.parts)
            parts.append(f"parts=({', '.join(names)},)")
        return parts

    def _row(self, table: m.Table) -> str:
        """The class of a table's rows; written as a call where a column's name is no Python name."""
        types = {c.name: c.type.python + (" | None" if c.optional else "") for c in table.columns}
        if all(py.is_plain_name(name) for name in types):
            doc = source.docstring(table.doc or f"A row of `{table.title}`.")
            return f"class {row_class(table)}(TypedDict):\n    {doc}\n\n" + "\n".join(
                f"    {name}: {annotation}" for name, annotation in types.items()
            )
        entries = ", ".join(f"{name!r}: {annotation}" for name, annotation in types.items())
        return f"{row_class(table)} = TypedDict({row_class(table)!r}, {{{entries}}})"

    def _column(self, column: m.Column) -> str:
        parts = [repr(column.name), source.type_source(column.type, self.named)]
        if column.optional:
            parts.append("optional=True")
        if column.unique:
            parts.append("unique=True")
        if not column.scored:
            parts.append("scored=False")
        if not column.ordered:
            parts.append("ordered=False")
        if column.references:
            parts.append(f"references={column.references!r}")
        if column.when is not None:
            parts.append("alternative=True")
        return f"Column({', '.join(parts)})"

    def _functions(self) -> str:
        parts = []
        for plan in self.plan.functions:
            parts.extend(source.indexes(plan, self.named))
            parts.extend([*(source.query(query) for query in plan.queries), source.function(plan)])
        used = source.names_in(*parts) | {"Call"}
        return self._python("functions.py.j2", used, [(".schema", self.tables & used)], parts=parts)

    def _actions(self) -> str:
        parts = self._parts(self.plan.actions)
        used = source.names_in(*parts) | {"Call"}
        return self._python("actions.py.j2", used, self._local(used), parts=parts)

    def _syncs(self) -> str:
        parts = self._parts(self.plan.syncs)
        used = source.names_in(*parts) | {"Call"}
        names = [plan.name for plan in self.plan.syncs]
        return self._python("syncs.py.j2", used, self._local(used), parts=parts, names=names)

    def _parts(self, plans: Iterable[FunctionPlan]) -> list[str]:
        """The functions of a module that holds several, each after its constants."""
        parts = []
        for plan in plans:
            parts.extend(source.indexes(plan, self.named))
            parts.extend([*(source.query(query) for query in plan.queries), source.function(plan)])
        return parts

    def _local(self, used: set[str]) -> list[tuple[str, Iterable[str]]]:
        """What a module beside `functions.py` imports of the package."""
        schema = (self.tables | set(self.named.values())) & used
        return [(".", {"actions", "functions"} & used), (".schema", schema)]

    def tool(self, name: str) -> str:
        """The module of a tool."""
        tool, plan = self.spec.tools[name], self.plan.tools[name]
        parts = [*source.indexes(plan, self.named), *(source.query(query) for query in plan.queries)]
        function = source.function(plan)
        parameters = [self._parameter(parameter) for parameter in tool.parameters]
        rows = self._told_rows(tool)
        used = source.names_in(function, *parts, *parameters) | {"Call", "Tool", *rows}
        types = set(self.named.values()) & used
        local = [("..", {"actions", "functions"} & used), ("..schema", (self.tables & used) | types)]
        return self._python(
            "tool.py.j2", used, local, tool=tool, parts=parts, function=function, constant=self.tools[name],
            function_name=plan.name, parameters=parameters, rows=rows,
        )  # fmt: skip

    def _told_rows(self, tool: m.Tool) -> list[str]:
        """The tables of which a tool returns rows that are told without some of their columns."""
        kinds = () if tool.returns is None else tool.returns.kinds or (tool.returns,)
        shapes = [kind.shape for kind in kinds]
        tables = [shape.table for shape in shapes if isinstance(shape, Row | Rows) and shape.table is not None]
        return [self.plan.constants.tables[table] for table in tables if self._is_sparse(table)]

    def _is_sparse(self, table: str) -> bool:
        """Whether a table, or one that is nested in it, has alternatives."""
        family = [name for name in self.spec.tables if name == table or self._is_inside(name, table)]
        return any(column.when for name in family for column in self.spec.tables[name].columns)

    def _is_inside(self, name: str, table: str) -> bool:
        """Whether a table is nested in another, at any depth."""
        parent = self.spec.tables[name].parent
        return parent is not None and (parent == table or self._is_inside(parent, table))

    def _parameter(self, parameter: m.Parameter) -> str:
        parts = [repr(parameter.name), source.type_source(parameter.type, self.named)]
        parts.append(f"doc={py.source_literal(parameter.doc)}")
        if parameter.optional:
            parts.append("optional=True")
        if parameter.references:
            parts.append(f"references={parameter.references!r}")
        if parameter.default is not None:
            parts.append(f"default={py.source_literal(parameter.value)}")
        return f"Parameter({', '.join(parts)})"

    def _tools_init(self) -> str:
        local = sorted((f".{py.identifier(name)}", [constant]) for name, constant in self.tools.items())
        names = list(self.tools.values())
        return self._python("tools.py.j2", set(), local, names=names)

    # -- other files -------------------------------------------------------------------------------------------

    def _schema_sql(self) -> str:
        tables = [
            {
                "name": table.name,
                "columns": [f'"{c.name}" {c.type.sql}{"" if c.optional else " not null"}' for c in table.columns],
            }
            for table in self.spec.tables.values()
        ]
        return render("schema.sql.j2", spec_file=self.spec_file, tables=tables)


def _nested_first(tables: Mapping[str, m.Table]) -> list[m.Table]:
    """Tables as Python declares them: each after those that are nested in it."""
    found: list[m.Table] = []

    def add(table: m.Table) -> None:
        for nested in tables.values():
            if nested.parent == table.name:
                add(nested)
        found.append(table)

    for table in tables.values():
        if table.parent is None:
            add(table)
    return found


def policy_text(spec: m.Spec) -> str:
    """What an agent is told before anything else: the policy, and the rules and invariants of its side with a text."""
    tools = [tool.name for tool in spec.tools.values() if tool.side == "agent"]
    rules = [" ".join(rule.doc.split()) for rule in spec.rules if any(name in rule.sqls for name in tools)]
    own = [one for one in spec.invariants if all(spec.tables[name].side == "agent" for name in one.sql.reads)]
    invariants = [" ".join(one.doc.split()) for one in own if one.doc.strip()]
    clock = spec.clock.isoformat(sep=" ")
    return render("policy.md.j2", doc=spec.doc, policy=spec.policy, clock=clock, rules=rules, invariants=invariants)


def schemas_text(tools: Iterable[m.Tool]) -> str:
    """The schemas of tools as JSON."""
    return to_text([tool_schema(tool) for tool in tools])


def _outside_file(file: OutsideFile) -> str:
    parts = [repr(file.table), py.source_literal(file.grant)]
    if isinstance(file, PackageFile):
        parts.append(f"path={py.source_literal(file.path)}")
    if file.at:
        parts.append(f"at={py.source_literal(file.at)}")
    return f"{type(file).__name__}({', '.join(parts)})"


def world_text(spec: m.Spec, world: m.World) -> str:
    """The rows of a world as JSON, one a line; without those that lie outside."""
    tables = []
    for name, rows in world.rows.items():
        types = {column.name: column.type for column in spec.tables[name].columns}
        lines = [_row_text(row, types) for row in rows[: len(rows) - world.read.get(name, 0)]]
        inner = ",\n".join(f"    {line}" for line in lines)
        tables.append(f"  {json.dumps(name)}: [\n{inner}\n  ]" if lines else f"  {json.dumps(name)}: []")
    return "{\n" + ",\n".join(tables) + "\n}\n"


def _row_text(row: Mapping[str, Any], types: Mapping[str, Any]) -> str:
    return json.dumps({name: to_json(value) for name, value in row.items()}, ensure_ascii=False)


def to_text(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
