"""What `forgec show` prints, from its data."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from forgec.diagnostics import counted
from forgec.diagnostics.cells import ELLIPSIS, clean
from forgec.formatting.align import align

Data = dict[str, Any]
WIDTH = 118
CELL = 32
"""The characters that are shown of a value in a grid."""


def overview_text(data: Data) -> str:
    """The whole spec: a section a kind, none for what it has not."""
    counts = (f"{world['name']}: {_rows(world['rows'])}{_unread(world)}" + _doc(world) for world in data["worlds"])
    sections = [
        ("types", _types(data)),
        ("tables", [line for table in data["tables"] for line in (_table_line(table), *_columns(table))]),
        ("views", [f"{view['name']}: {', '.join(view['columns'])}{_doc(view)}" for view in data["views"]]),
        ("functions", _signatures(data["functions"])),
        ("actions", _signatures(data["actions"])),
        ("tools", _signatures(data["tools"])),
        ("syncs", [f"{one['name']}{_doc(one)}" for one in data["syncs"]]),
        ("rules", [f"{r['name']}: {r['verdict']} on {', '.join(r['tools'])}{_doc(r)}" for r in data["rules"]]),
        ("invariants", [f"{one['name']}{_doc(one)}" for one in data["invariants"]]),
        ("worlds", counts),
        ("tests", [f"{t['title']} (on {t['world']}, {counted(t['steps'], 'step')})" for t in data["tests"]]),
        (
            "tasks",
            [line for t in data["tasks"] for line in (f"{t['name']} on {t['world']}{_doc(t)}", f"  {t['plan']}")],
        ),
    ]
    head = f"{data['environment']}{_doc(data)}\n  {', '.join(data['sources'])}, the clock stands at {data['clock']}"
    return _page(head, sections)


def part_text(data: Data) -> str:
    """All about one part of a spec."""
    return _PARTS[data["kind"]](data)


# -- parts --------------------------------------------------------------------------------------------------------


def _tool(data: Data) -> str:
    sections = [
        ("parameters", _fields(data["parameters"])),
        ("result", _fields(data["result"])),
        ("guards, in order", [line for i, guard in enumerate(data["guards"], 1) for line in _guard(i, guard)]),
        ("held when it is done", [f"{one['kind']}: {one['text']}" for one in data["held"]]),
        ("reads", [_through(one["table"], one["through"]) for one in data["reads"]]),
        ("writes", [f"{one['how']} {one['table']}{_set(one)}" for one in data["writes"]]),
        ("finds by index", [_index(index) for index in data["indexes"]]),
        ("asks DuckDB", [_query(query) for query in data["queries"]]),
        ("fed by", [f"{one['parameter']}: {_listed(one['tools'])}" for one in data["fed_by"]]),
        ("feeds", [f"{one['result'] or 'its result'}: {_listed(one['tools'])}" for one in data["feeds"]]),
        ("generated", data["python"].rstrip().split("\n")),
    ]
    return _page(_head(data, data["signature"]), sections)


def _fields(fields: list[Data]) -> list[str]:
    names = max((len(field["name"]) for field in fields), default=0)
    return [f"{field['name'].ljust(names)}  {field['type']}{_doc(field)}" for field in fields]


def _guard(number: int, guard: Data) -> Iterator[str]:
    inside = "".join(f"{_around(condition)}: " for condition in guard["if"])
    kind = {"reference": "", "let": "", "return": "", "fail": "fail"}.get(guard["kind"], guard["kind"])
    kind = f"{kind} {guard['rule']}:" if guard["rule"] else kind
    lead = f"{number:2}. "
    yield lead + " ".join(part for part in (inside.rstrip(), kind, guard["condition"]) if part)
    audited = "no refusal and no reward: " if guard["kind"] == "audited" else ""
    yield f'    {audited}"{guard["text"]}"'


def _around(condition: str) -> str:
    if condition == "otherwise":
        return "else"
    return condition if condition.startswith(("each ", "do ")) else f"if {condition}"


def _index(index: Data) -> str:
    where = f"{index['function']}(): " if index["function"] else ""
    return f"{where}{index['table']} by {index['by']}"


def _query(query: Data) -> str:
    where = f"{query['function']}(): " if query["function"] else f"{query['name']}: "
    tables = f" ({', '.join(query['tables'])})" if query["tables"] else ""
    return f"{where}{query['why']}{tables}"


def _action(data: Data) -> str:
    done_by = data["done_by"]
    sections = [
        ("guards, in order", [line for i, guard in enumerate(data["guards"], 1) for line in _guard(i, guard)]),
        ("reads", [_through(one["table"], one["through"]) for one in data["reads"]]),
        ("writes", [f"{one['how']} {one['table']}{_set(one)}" for one in data["writes"]]),
        ("done by", [f"{kind[:-1]} {name}" for kind, names in done_by.items() for name in names]),
    ]
    return _page(_head(data, data["signature"]), sections)


def _table(data: Data) -> str:
    references = data["referenced_by"]
    sections = [
        ("columns", [line[2:] for line in _columns(data)]),
        ("refers to", data["ties"]),
        ("referenced by", [*references["columns"], *references["parameters"]]),
        ("read by", [_through(one["tool"], one["through"]) for one in data["read_by"]]),
        ("written by", [f"{one['tool']}: {one['how']}{_set(one)}" for one in data["written_by"]]),
        ("functions", data["functions"]),
        ("invariants", data["invariants"]),
        ("rows", [f"{world}: {count:,}" for world, count in data["rows"].items()]),
    ]
    return _page(_head(data, _table_name(data)), sections)


def _table_line(table: Data) -> str:
    return f"{_table_name(table)}{_doc(table)}"


def _table_name(table: Data) -> str:
    side = " on user" if table["side"] == "user" else ""
    kind = f", a {table['nested']}" if table["nested"] else ", one row" if table["single"] else ""
    return f"{table['name']}{side}{kind}"


def _view(data: Data) -> str:
    names = max(len(column["name"]) for column in data["columns"])
    columns = [f"{column['name'].ljust(names)}  {column['type']}" for column in data["columns"]]
    sections = [
        ("columns", columns),
        ("selects", [data["sql"]]),
        ("reads", data["reads"]),
        ("used by", [f"{kind[:-1]} {name}" for kind, names in data["used_by"].items() for name in names]),
    ]
    return _page(_head(data), sections)


def _function(data: Data) -> str:
    used = data["used_by"]
    sections = [
        ("computes", [data["sql"]]),
        ("reads", data["reads"]),
        ("used by", [f"{kind[:-1]} {name}" for kind, names in used.items() for name in names]),
    ]
    return _page(_head(data, data["signature"]), sections)


def _sync(data: Data) -> str:
    sections = [
        ("reads", [_through(one["table"], one["through"]) for one in data["reads"]]),
        ("writes", [f"{one['how']} {one['table']}{_set(one)}" for one in data["writes"]]),
    ]
    return _page(_head(data), sections)


def _rule(data: Data) -> str:
    sections = [("condition", [data["sql"]]), ("tools", data["tools"])]
    return _page(_head(data, f"{data['name']}, {data['verdict']}"), sections)


def _invariant(data: Data) -> str:
    return _page(_head(data), [("condition", [data["sql"]]), ("reads", data["reads"])])


def _type(data: Data) -> str:
    names = max((len(field["name"]) for field in data.get("fields", ())), default=0)
    fields = [f"{field['name'].ljust(names)}  {field['type']}{_doc(field)}" for field in data.get("fields", ())]
    return _page(_head(data), [("values", data.get("values", [])), ("fields", fields), ("used by", data["used_by"])])


def _domain(data: Data) -> str:
    return _page(_head(data), [("is", [_made_of(data)]), ("used by", data["used_by"])])


def _world(data: Data) -> str:
    rows = [f"{name}: {count:,}" for name, count in data["rows"].items()]
    name = f"{data['name']} extends {data['extends']}" if "extends" in data else None
    first = [(title, _grid(some, data["rows"][title])) for title, some in data["first"].items()]
    outside = [f"{line}{_unread(data)}" for line in data.get("outside", ())]
    return _page(
        _head(data, name),
        [("rows", rows), ("rows outside", outside), *first, ("tests", data["tests"]), ("tasks", data["tasks"])],
    )


def _unread(data: Data) -> str:
    """That there are rows of a world that nobody allowed to read."""
    names = data.get("unread")
    return f" (not read: {' '.join(f'--allow-source {name}' for name in names)})" if names else ""


def _grid(rows: list[Data], count: int) -> list[str]:
    """The first rows of a table, their cells below each other."""
    cells = [list(rows[0]), *([_cut(_cell(value), CELL) for value in row.values()] for row in rows)]
    lines = [_cut(line, WIDTH) for line in align(cells, CELL * len(rows[0]), gap=2)]
    return [*lines, f"... and {count - len(rows):,} more"] if count > len(rows) else lines


def _cell(value: Any) -> str:
    """A value in one line."""
    return clean(" ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - len(ELLIPSIS)] + ELLIPSIS


def _task(data: Data) -> str:
    facts = [f"{fact['name']} = {_value(fact['value'])}{_doc(fact)}" for fact in data["facts"]]
    plans = [(f"plan {one['name']}".rstrip(), _plan(one)) for one in data["plans"]]
    sections = [
        ("intent", _wrapped(data["intent"]) if data["intent"] else []),
        ("requests", [line for one in data["requests"] for line in _request(one)]),
        ("drawn", [f"{one['name']} {one['sql']}{_doc(one)}" for one in data["samples"]]),
        ("facts", facts),
        ("changed beforehand", data["change"]),
        *plans,
        ("expected of the end", data["expect"]),
        ("never to be called", data["never"]),
        ("to be said", [f"{one['doc'] or 'this'}: {one['sql']}" for one in data["says"]]),
        ("features", [_features(data["features"])]),
    ]
    tags = f" ({', '.join(data['tags'])})" if data["tags"] else ""
    return _page(_head(data, f"{data['name']} on {data['world']}{tags}"), sections)


def _wrapped(text: str) -> list[str]:
    return [line for part in text.split("\n") for line in textwrap.wrap(part, WIDTH - 2) or [""]]


def _request(request: Data) -> Iterator[str]:
    after = f" after {', '.join(request['after'])}" if request["after"] else ""
    when = f" when {request['when']}" if request["when"] else ""
    yield f"{request['name']}{after}{when}"
    yield from (f"  {line}" for line in _wrapped(request["text"]))


def _plan(plan: Data) -> list[str]:
    head = [f"-- {plan['doc']}"] if plan["doc"] else []
    return [*head, plan["line"], "", *(line for node in plan["nodes"] for line in _node(node))]


def _node(node: Data) -> Iterator[str]:
    needs = [*(f"${fact}" for fact in node["facts"]), *node["needs"]]
    after = f"  <- {', '.join(needs)}" if needs else ""
    name = f"({node['name']})" if node["kind"] == "reason" else node["name"]
    yield f"{name}{after}{_doc(node)}"
    yield f"  {node['text']}"
    if node["when"]:
        yield f"  when {node['when']}"


def _features(features: Data) -> str:
    counts = [f"{name} {count}" for name, count in features.items() if isinstance(count, int) and count]
    return ", ".join(counts)


_PARTS: dict[str, Callable[[Data], str]] = {
    "tool": _tool, "action": _action, "sync": _sync, "table": _table, "view": _view, "function": _function,
    "rule": _rule, "invariant": _invariant, "enum": _type, "record": _type, "type": _domain, "world": _world,
    "task": _task,
}  # fmt: skip


# -- lines --------------------------------------------------------------------------------------------------------


def _page(head: str, sections: Iterable[tuple[str, Iterable[str]]]) -> str:
    lines = head.split("\n")
    for title, found in sections:
        body = list(found)
        if body:
            lines += ["", title, *(f"  {line}".rstrip() for line in body)]
    return "\n".join(clean(line) for line in lines)


def _head(data: Data, what: str | None = None) -> str:
    doc = f"\n  {data['doc']}" if data.get("doc") else ""
    return f"{data['kind']} {what or data['name']}{doc}"


def _doc(data: Data) -> str:
    return f"  -- {data['doc']}" if data["doc"] else ""


def _columns(table: Data) -> Iterator[str]:
    names = max(len(column["name"]) for column in table["columns"])
    types = max(len(column["type"]) for column in table["columns"])
    for column in table["columns"]:
        line = f"  {column['name'].ljust(names)}  {column['type'].ljust(types)}  {column['modifiers']}"
        yield line.rstrip() + _doc(column)


def _signatures(parts: Iterable[Data]) -> list[str]:
    return [line for part in parts for line in (part["signature"], f"    {part['doc']}".rstrip()) if line]


def _types(data: Data) -> Iterator[str]:
    yield from (f"{enum['name']}: {', '.join(enum['values'])}" for enum in data["enums"])
    yield from (f"{domain['name']}: {_made_of(domain)}{_doc(domain)}" for domain in data["domains"])
    yield from map(_record, data["records"])


def _made_of(domain: Data) -> str:
    return f"{domain['type']} check {domain['check']}" if domain["check"] else str(domain["type"])


def _record(record: Data) -> str:
    fields = ", ".join(f"{field['name']} {field['type']}" for field in record["fields"])
    return f"{record['name']}: {{ {fields} }}"


def _rows(rows: Data) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in rows.items())


def _through(what: str, functions: list[str]) -> str:
    return f"{what} (through {', '.join(functions)})" if functions else what


def _set(written: Data) -> str:
    return f" ({', '.join(written['columns'])})" if written["columns"] else ""


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "no other tool"


def _value(value: object) -> str:
    return "null" if value is None else str(value)
