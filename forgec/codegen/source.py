"""Plans to Python text: queries, functions, types. Layout of whole files is in `templates/`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from forgec.plans import python as py
from forgec.plans.function import FunctionPlan
from forgec.plans.query import QueryPlan
from forgec_runtime.types import Decimal, Enum, List, Map, Record, Type


def docstring(text: str) -> str:
    """A docstring that says `text`."""
    if "\\" in text or '"""' in text or text.endswith('"') or not _is_printable(text):
        return py.source_literal(text)
    return f'"""{text}"""'


def _is_printable(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def query(plan: QueryPlan) -> str:
    """The constant that holds a query."""
    lines = "\n".join(f"    {line}" for line in plan.text.split("\n"))
    whole = all(line.count("'") % 2 == 0 for line in plan.text.split("\n"))  # no string goes over lines
    safe = whole and "\\" not in plan.text and '"""' not in plan.text and _is_printable(plan.text)
    text = f'"""\n{lines}\n    """' if safe else py.source_literal(plan.text)
    values = "".join(f"({name!r}, {type_.sql!r}), " for name, type_ in plan.values)
    return (
        f"{plan.name} = Query(\n    {text},\n    tables={plan.tables!r},\n    values=({values}),\n"
        f"    columns={plan.columns!r},\n    order={plan.order!r},\n)"
    )


def indexes(plan: FunctionPlan, named: dict[str, str]) -> list[str]:
    """The constants that hold the indexes by more than a column, each once."""
    made = {index: index.computation for index in plan.indexes if index.computation is not None}
    return [
        f"{computation.constant} = Index({index.of!r}, {_types_source(computation.type, named)}, "
        f"lambda row: {py.source(computation.value)})"
        for index, computation in made.items()
    ]


def _types_source(types: Type | tuple[Type, ...], named: dict[str, str]) -> str:
    if isinstance(types, tuple):
        return f"({', '.join(type_source(type_, named) for type_ in types)})"
    return type_source(types, named)


def function(plan: FunctionPlan, first: tuple[str, str] = ("call", "Call")) -> str:
    """A function with its docstring; its groups of lines are set apart by blank ones."""
    arguments = ", ".join(f"{name}: {annotation}" for name, annotation in (first, *plan.arguments))
    lines = [f"def {plan.name}({arguments}) -> {plan.returns}:"]
    if plan.doc:
        lines.append("    " + docstring(plan.doc))
    for i, group in enumerate(plan.groups):
        if i:
            lines.append("")
        for statement in group:
            lines.extend("    " + line for line in py.source(statement).split("\n"))
    if not plan.groups:
        lines.append("    return None")
    return "\n".join(lines)


def type_source(type_: Type, named: dict[str, str]) -> str:
    """The constructor of a type; `named` are the constants that hold enums and records."""
    if isinstance(type_, Enum | Record) and type_.name in named:
        return named[type_.name]
    if isinstance(type_, Enum):
        return enum_source(type_)
    if isinstance(type_, Record):
        return record_source(type_, named)
    if isinstance(type_, List):
        return f"t.List({type_source(type_.of, named)})"
    if isinstance(type_, Map):
        return f"t.Map({type_source(type_.key, named)}, {type_source(type_.of, named)})"
    if isinstance(type_, Decimal):
        return f"t.Decimal({type_.precision}, {type_.scale})"
    return f"t.{type(type_).__name__}()"


def enum_source(type_: Enum) -> str:
    return f"t.Enum({type_.name!r}, {py.source_literal(type_.values)}{_doc(type_.doc)})"


def record_source(type_: Record, named: dict[str, str]) -> str:
    fields = "".join(
        f"t.Field({f.name!r}, {type_source(f.type, named)}{', optional=True' if f.optional else ''}{_doc(f.doc)}), "
        for f in type_.fields
    )
    return f"t.Record({type_.name!r}, ({fields}){_doc(type_.doc)})"


def _doc(text: str) -> str:
    return f", doc={py.source_literal(text)}" if text else ""


def names_in(*sources: str) -> set[str]:
    """Every name that pieces of Python use."""
    found: set[str] = set()
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Name):
                found.add(node.id)
    return found


def from_import(module: str, names: Iterable[str]) -> str:
    """An import as ruff sorts it: constants, classes, functions."""

    def rank(name: str) -> tuple[int, str, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2, name.lower(), name)

    ordered = sorted(names, key=rank)
    return f"from {module} import {', '.join(ordered)}" if ordered else ""


def imports(used: set[str], runtime: Iterable[str], local: Iterable[tuple[str, Iterable[str]]]) -> str:
    """The import block of a module that uses the names `used`: standard library, runtime, package."""
    sections = [
        [
            from_import("collections.abc", {"Mapping", "Sequence"} & used),
            from_import("datetime", {"date", "datetime"} & used),
            from_import("decimal", {"Decimal"} & used),
            from_import("pathlib", {"Path"} & used),
            from_import("typing", {"Any", "TypedDict"} & used),
        ],
        [
            from_import("forgec_runtime", set(runtime) & used),
            "from forgec_runtime import types as t" if "t" in used else "",
        ],
        [from_import(module, names) for module, names in local],
    ]
    written = ["\n".join(line for line in section if line) for section in sections]
    return "\n\n".join(section for section in written if section)
