"""Python that stands where a spec has names, texts, comments or paths. What does no harm is generated and loaded too."""

from tests.hostile.desk import HEAD, TAIL
from tests.hostile.suite.case import CANARY, Case, body, said

CODE = f"__import__('os').environ.__setitem__('{CANARY}', '1')"
QUOTED = CODE.replace("'", "''")
TEXT = "it is a constant of the package"
NAME = "a prefix or a suffix keeps it from the name that Python has"
COMMENT = "comments of a spec are in no package"
QUOTES = '"' * 3


def tool(name: str) -> str:
    return said(f"tool {name}(a integer) {{ }}")


def tools(*names: str) -> str:
    return said("\n".join(f"tool {name}({name} integer) returns integer {{ return ${name} + 1; }}" for name in names))


CASES = (
    # -- names -------------------------------------------------------------------------------------------------------
    Case("a tool with the name of an import", "AFS209", tool("__import__")),
    Case("a tool with a name of the interpreter", "AFS209", tool("__init__")),
    Case("a tool whose name is a call", "AFS101", tool("x(" + CODE + ")")),
    Case("a tool whose name leaves the folder", "AFS101", tool("../../x")),
    Case("a tool whose name is quoted", "AFS101", tool('"x; import os"')),
    Case("an environment whose name leaves the folder", "AFS101", HEAD.replace("desk", "../desk", 1) + TAIL),
    Case("a column with a name of the interpreter", "AFS209", said("table z { id text key, __class__ text }")),
    Case("a table that hides the row of a call", "AFS209", said("table call { id text key }")),
    Case("a parameter that hides the call", "AFS209", said("tool t(call text) returns text { return $call; }")),
    Case("a field with a line's end in its name", "AFS101", said("record R { a\nimport_os integer, b c integer }")),
    Case("a world whose name is a path", "AFS101", said("world '/etc/passwd' { }")),
    Case("a task whose name is a template", "AFS101", said('task {{7*7}} on w { intent "x" plan { s = fine(); } }')),
    Case("tools with the names of words of Python", "", tools(
        "class", "lambda", "async", "match", "del", "none", "type", "import"), NAME),
    Case("tools with the names of functions of Python", "", tools(
        "eval", "exec", "open", "print", "sum", "len", "max", "str", "int", "object"), NAME),
    Case("tools with the names of what generated modules import", "", tools(
        "sql", "t", "refusal", "tool", "decimal", "date", "path", "functions", "tables"), NAME),
    Case("columns with the names of methods of rows", "", said(
        "table z { id text key, keys text, items text, get text, update text, pop text, copy text, class text }\n"
        "tool t(keys text) returns z? { update z set items = $keys where keys = $keys; return z[$keys]; }"), NAME),
    Case("an environment called like a module", "", HEAD.replace("desk", "json", 1) + TAIL,
         "packages are loaded by their folder, under a name of forgec's own"),
    # -- texts -------------------------------------------------------------------------------------------------------
    Case("a documentation that closes its quotes", "", said(
        f"tool t() \"\\\"\\\"\\\" + {CODE} + \\\"\\\"\\\"\" {{ }}"), TEXT),
    Case("a documentation that ends in a backslash", "", said('tool t() "x \\\\" { }'), TEXT),
    Case("a documentation that names a coding", "", said(f'tool t() "coding: utf-7 +AAo-{CODE}" {{ }}'), TEXT),
    Case("a documentation with escapes of Python", "", said('tool t() "\\\\N\\{DASH\\} \\\\x41 \\\\u0041" { }'), TEXT),
    Case("a documentation with a template", "", said(
        'tool t() "\\{\\{ cycler.__init__.__globals__.os \\}\\} \\{% for x in y %\\}" { }'), TEXT),
    Case("a message with a hole that is code", "AFS404", body(f'fail "a {{{CODE}}}";')),
    Case("a message with braces around code", "", body(f'fail "\\{{{CODE}\\}}";'), TEXT),
    Case("a format of a hole that is code", "AFS405", body('fail "{$n:{__import__}}";')),
    Case("a format of a hole that is endless", "AFS401", body('fail "{$n:>2000000000}";')),
    Case("a format of a hole with a conversion", "AFS401", body('fail "{$n!r}";')),
    Case("an attribute of a value", "AFS202", body('fail "{$word.__class__}";')),
    Case("an attribute of a row", "AFS202", body('fail "{accounts[$id].__class__}";')),
    Case("a value of SQL that closes its quotes", "", body(f"let v = ''' + {QUOTED} + ''';"), TEXT),
    Case("a value of an enum that is code", "", said(f"enum E {{ a, '{QUOTED}' }}\ntool t(e E) {{ }}"), TEXT),
    Case("a pattern of keys that is code", "", said(f"table z {{ id text key serial '{QUOTED}{{00}}' }}"), TEXT),
    Case("a pattern of keys with two counters", "AFS307", said("table z { id text key serial '{0}{0}' }")),
    Case("a policy that is code", "", said(f"policy {QUOTES}{CODE} \\ {{{{ 7 * 7 }}}}{QUOTES}"), "it is a file of text"),
    Case("the intent of a task that is code", "", said(
        f'task k on w {{ intent "\\{{{CODE}\\}}" plan {{ s = fine(); }} }}'), "tasks are lines of JSON"),
    Case("a field of a record that is code", "AFS304", body(f"let v = {{'{QUOTED}': 1}};")),
    Case("a name of a column of a query that is code", "AFS209", body(f"let v = select 1 as \"{CODE}\";")),
    # -- comments and paths ------------------------------------------------------------------------------------------
    Case("a comment that is code", "", f"-- coding: utf-7\n/* \n{CODE}\n*/\n" + HEAD + TAIL, COMMENT),
    Case("a comment in SQL that is code", "", body(f"let v = 1 -- {CODE}\n + /* \n{CODE}\n */ 2;"), COMMENT),
    Case("a comment that returns to the line's start", "AFS108", f"-- a\r{CODE}\n" + HEAD + TAIL),
    Case("a file with a name of code", "", {f"x\n{CODE}\n.afs": HEAD + TAIL}, "the package names it only if it is a plain name"),
    Case("a file with a name of a template", "", {"{{ 7 * 7 }}.afs": HEAD + TAIL}, "the package names it only if it is a plain name"),
    Case("a file with a name that sets a coding", "", {"x coding=utf-7 .afs": HEAD + TAIL}, "the package names it only if it is a plain name"),
)  # fmt: skip
