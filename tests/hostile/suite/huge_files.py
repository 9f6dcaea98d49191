"""Files of more than anyone writes."""

import json

from tests.hostile.desk import HEAD, TAIL
from tests.hostile.suite.case import Case, body, said

GOOD = HEAD + TAIL
TASK = {"name": "k", "world": "w", "intent": "x", "plan": {"s": {"call": "fine"}}}


def tasks(line: str) -> dict[str, str]:
    """A spec with a file of tasks beside it."""
    return {"desk.afs": GOOD, "desk.tasks.jsonl": line}


def rows(data: str, name: str = "rows.csv") -> dict[str, str]:
    """A spec with a world whose rows are in a file."""
    return {"desk.afs": said(f'world z {{ accounts from "{name}"; }}'), name: data}


CASES = (
    Case("a million dashes", "AFS005", lambda: "-" * 1_000_001),
    Case("ten million letters", "AFS005", lambda: "x" * 10_000_000),
    Case("ten million line ends", "AFS005", lambda: "\n" * 10_000_000),
    Case("a million open brackets", "AFS105", lambda: "(" * 999_999),
    Case("half a million quotes", "AFS101", lambda: GOOD + "'" * 500_001),
    Case("a comment that is never closed", "AFS102", lambda: GOOD + "/*" + "*" * 900_000),
    Case("a text that is never closed", "AFS102", lambda: GOOD + 'tool t() "' + "x" * 900_000),
    Case("a name of a million letters", "AFS209", lambda: said(f"table {'z' * 900_000} {{ id text key }}")),
    Case("a number of a million digits", "AFS403", lambda: body(f"let v = {'9' * 900_000};")),
    Case("a text of SQL beyond what a column holds", "AFS601", lambda: said(
        f"world z {{ accounts (id, owner) values ('a', '{'x' * 70_000}'); }}")),
    Case("a file of nothing", "AFS004", ""),
    Case("a file of NUL", "AFS108", "\0" * 1_000),
    Case("100,000 mistakes", "AFS005", lambda: GOOD + "tool ;\n" * 100_000),
    Case("20,000 tables of the same name", "AFS005", lambda: GOOD + "table z { id text key }\n" * 20_000),
    Case("a tool of 2,000 statements", "AFS005", lambda: body('require $n > 0 else "x";\n' * 2_000)),
    Case("a thousand files", "AFS005", lambda: {
        "desk.afs": HEAD.replace("\n", "\n" + "".join(f'use "f{i}.afs";\n' for i in range(200)), 1) + TAIL,
        **{f"f{i}.afs": "" for i in range(200)}}),
    Case("a task of a megabyte", "AFS005", lambda: tasks(json.dumps({**TASK, "intent": "x" * 70_000_000}))),
    Case("tasks that are brackets", "AFS710", lambda: tasks("[" * 1_000_000)),
    Case("tasks that are nothing", "AFS710", lambda: tasks("null\n" * 1_000)),
    Case("a table of 40 megabytes", "AFS609", lambda: rows("id,owner\n" + "a,b\n" * 10_000_000)),
    Case("a table of 300,000 rows", "AFS609", lambda: rows("id,owner\n" + "".join(f"{i},b\n" for i in range(300_000)))),
    Case("a cell of 20 megabytes", "AFS601", lambda: rows("id,owner\na," + "x" * 20_000_000)),
    Case("a quote that is never closed", "AFS609", lambda: rows('id,owner\na,"' + "x\n" * 1_000_000)),
    Case("a row of a million columns", "AFS609", lambda: rows("id" + ",owner" * 1_000_000 + "\n")),
    Case("JSON of brackets", "AFS609", lambda: rows("[" * 1_000_000, "rows.json")),
    Case("JSON of one object in another", "AFS609", lambda: rows('[{"id":' * 100_000, "rows.json")),
    Case("JSON with a number of a million digits", "AFS609", lambda: rows('[{"id": "a", "owner": ' + "9" * 1_000_000 + "}]", "rows.json")),
    Case("JSON with a million keys", "AFS202", lambda: rows(
        "[{" + ",".join(f'"k{i}": 1' for i in range(300_000)) + "}]", "rows.json")),
)  # fmt: skip
