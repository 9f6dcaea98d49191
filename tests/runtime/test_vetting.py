"""What generated modules may be made of: all that the compiler writes, and nothing that reaches beyond a tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from forgec_runtime.vetting import Unvetted, vet

ROOT = Path(__file__).parents[2]
GENERATED = sorted([*ROOT.glob("generated/*"), *ROOT.glob("tests/cases/*/generated/*")])
HEAD = "from forgec_runtime import Call, sql\nfrom .schema import BOOKS\n"

REFUSED = {
    "modules": (
        "import os", "import sys as sql", "from os import path", "from os.path import join", "from pathlib import *",
        "from builtins import open", "from forgec_runtime import load_environment",
        "from forgec_runtime.engine import connect",
        "from forgec_runtime import *", "from ...forgec_runtime import engine", "from . import _private",
        "from .schema import *",
        "from datetime import datetime as call", "from .schema import BOOKS as sql", "from typing import TYPE_CHECKING",
        "from importlib import import_module", "from . import schema as t", "from decimal import getcontext",
    ),
    "other names": (
        "from pathlib import Path\nx = Path('/etc/passwd')", "from pathlib import Path as P\nx = P('/etc/passwd')",
        "from pathlib import Path as functions\nx = functions.read_text(functions('/etc/passwd'))",
        "from datetime import datetime as actions\nx = actions.now()", "from .schema import Path\nx = Path('/')",
        "from .schema import Path as P\nx = P('/')", "from forgec_runtime import sql as syncs\nx = syncs.logic",
        "from .schema import functions\nx = functions.now()", "actions = sql.add\nx = actions.im_func",
        "from . import functions\nfunctions = BOOKS\nx = functions.check",
        "from . import functions\ndef f(functions: object) -> None:\n    return functions.check",
        "from .. import actions as syncs\nx = syncs.anything",
    ),
    "names": (
        "open('/etc/passwd')", "eval('1')", "exec('1')", "compile('1', '', 'exec')", "__import__('os')", "globals()",
        "locals()", "vars()", "getattr(sql, 're')", "setattr(sql, 'add', 1)", "type(sql)", "input()", "print('x')",
        "breakpoint()", "exit()", "dir()", "super()", "memoryview(b'')", "__builtins__", "__loader__", "__spec__",
        "__file__",
        "undefined_name", "classmethod(len)", "format('x')", "delattr(sql, 'add')", "hash('a')", "id('a')",
    ),
    "attributes": (
        "sql.re", "sql.__dict__", "sql.logic", "call.episode", "call.run", "call.staged", "call.tool", "call.arguments",
        "call.__class__", "BOOKS.check", "''.format(1)", "'{0.__class__}'.format(1)", "().__class__",
        "(lambda: 0).__globals__", "call.find.__func__", "BOOKS.columns", "call.before", "datetime.now()",
        "'x'.encode()", "sql.add.__globals__", "[].append(1)", "{}.update({})", "int.from_bytes", "call.answers",
        "str.format",
    ),
    "statements": (
        "while True: pass", "try:\n    pass\nexcept Exception:\n    pass", "with x: pass", "del BOOKS", "global x",
        "assert True", "async def f(): pass", "class A(object): pass", "class A:\n    x = 1", "x += 1",
        "@call\ndef f(): pass", "x = (y := 1)", "raise SystemExit", "match 1:\n    case 1: pass", "def _f(): pass",
        "class R(TypedDict, total=False):\n    x: int", "sql = 1", "call = 1", "BOOKS.check = None", "sql.add = None",
        "def sql(): pass", "for sql in (): pass", "f = lambda sql: 0", "_x = 1", "def f(): yield 1", "x = await y",
        "type X = int", "import_ = __import__",
    ),
    "values": (
        "x = b'bytes'", "x = ...", "x = 1j", f"x = {'9' * 60}", "x = 2 ** 64", "x = 1 << 64", "x = 1 // 2", "x = 7 % 2",
        "x = ~1", "x = {1, 2}", "x = {y for y in ()}", "x = (lambda: 0)()", "x = (sql.add if True else sql.sub)(1, 2)",
        "x = [len][0](())[1]()",
    ),
    "files": (
        "x = _HERE / '..' / 'x'", "x = _HERE / '/etc/passwd'", "x = _HERE / 'a/b'", "x = _HERE / name",
        "x = _HERE / ''",
        "x = _HERE.parent", "_HERE = Path('/')", "x = Path('/etc/passwd')", "x = (_HERE / 'worlds').read_text()",
        "x = _HERE / ('a' / _HERE)", "x = (_HERE / 'tasks.py').read_text(encoding='utf-8')", "x = 'a' / _HERE",
        "_HERE = Path(__file__).parent.parent", "x = _HERE / 'C:'", "x = _HERE / 'a\\\\b'",
    ),
    "readers": (
        "from forgec_runtime import World\nx = World('w', '/etc/passwd')",
        "from forgec_runtime import World\nx = World('w', path='/etc/passwd')",
        "from forgec_runtime import World\nx = World(*('w', '/etc/passwd'))",
        "from forgec_runtime import World\nx = World(**{'path': '/etc/passwd'})",
        "from forgec_runtime import World\nx = World('w', _HERE / 'w.json', manifest='/etc/passwd')",
        "from forgec_runtime import Tasks\nx = Tasks('/etc/passwd')",
        "from forgec_runtime import Tasks\ny = Tasks\nx = y('/etc/passwd')",
        "from forgec_runtime import Tasks\nx = [y('/etc/passwd') for y in [Tasks]]",
        "from forgec_runtime import Hashes\nx = Hashes(path='/etc/passwd')",
        "from forgec_runtime import Hashes\nx = sorted(['/etc/passwd'], key=Hashes)",
    ),
    "no Python": ("def", "x = (", "\x00", "x = '" + "(" * 5000, "(" * 1000 + ")" * 1000, "-" * 100_000 + "1"),
}  # fmt: skip


@pytest.mark.parametrize("package", GENERATED, ids=lambda path: "/".join(path.relative_to(ROOT).parts[-3:]))
def test_all_that_the_compiler_writes_is_known(package: Path) -> None:
    modules = list(package.rglob("*.py"))
    assert modules
    for path in modules:
        vet(path.read_text(encoding="utf-8"), path.name)


@pytest.mark.parametrize(("kind", "code"), [(kind, code) for kind, codes in REFUSED.items() for code in codes])
def test_what_reaches_beyond_a_tool_is_refused(kind: str, code: str) -> None:
    with pytest.raises(Unvetted, match=r"^m\.py(:\d+: generated code has no | is no Python: )"):
        vet(f"{HEAD}{code}\n", "m.py")


@pytest.mark.parametrize("kind", ["names", "attributes"])
def test_nor_is_it_inside_of_a_tool(kind: str) -> None:
    for code in REFUSED[kind]:
        for around in ("def f(call: Call) -> None:\n    return {}\n", "x = [{} for y in ()]\n", "x = f'{{{}}}'\n"):
            if "{" in code or ("'" in code and "f'" in around):
                continue
            with pytest.raises(Unvetted):
                vet(HEAD + around.format(code), "m.py")
