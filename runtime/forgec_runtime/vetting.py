"""What generated modules may be made of. Whatever else a module holds, it is not run.

The compiler writes a small part of Python. A module is looked at as a tree before it is written and again before it is
loaded, so that neither a mistake of the compiler nor a hand at the files reaches more of Python, or of the runtime,
than tools need: no other module, no name of the interpreter, no attribute that is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from . import sql

_IMPORTS = {
    "__future__": {"annotations"},
    "collections.abc": {"Mapping", "Sequence"},
    "datetime": {"date", "datetime", "timedelta"},
    "decimal": {"Decimal"},
    "forgec_runtime": {
        "Call", "Column", "Environment", "Hashes", "Index", "Invariant", "PackageFile", "Parameter", "Query", "Refusal",
        "Table", "Tasks", "Tie", "Tool", "VariableFile", "World", "sql", "types",
    },
    "pathlib": {"Path"},
    "typing": {"Any", "TypedDict"},
}  # fmt: skip
_OF_MODULES = {
    "call": {
        "breaks", "delete", "document", "documents", "each", "find", "insert", "matches", "row", "rows",
        "single", "unknown", "update", "value", "violation", "where",
    },
    "sql": set(sql.__all__),
    "t": {
        "Boolean", "Date", "Decimal", "Double", "Enum", "Field", "Integer", "List", "Map", "Record", "Text",
        "Timestamp",
    },
}  # fmt: skip
"""What is known of a call, of the twins of SQL and of the types."""
_OWN_MODULES = {"actions", "functions", "syncs"}
_OF_VALUES = {"day", "endswith", "join", "month", "replace", "startswith", "year"}
"""What is known of texts and dates."""
_BUILTINS = {
    "abs", "all", "any", "bool", "dict", "enumerate", "float", "int", "len", "list", "max", "min", "next", "object",
    "range", "round", "sorted", "str", "sum", "tuple", "zip",
}  # fmt: skip
_NODES = (
    ast.Module, ast.ImportFrom, ast.alias, ast.FunctionDef, ast.ClassDef, ast.arguments, ast.arg, ast.keyword,
    ast.Expr, ast.Assign, ast.AnnAssign, ast.If, ast.For, ast.Return, ast.Raise, ast.Pass, ast.Break,
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Call, ast.Starred, ast.Lambda, ast.IfExp,
    ast.Tuple, ast.List, ast.Dict, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.comprehension,
    ast.JoinedStr, ast.FormattedValue, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.expr_context,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.BitOr, ast.And, ast.Or, ast.Not, ast.USub,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn,
)  # fmt: skip
_READERS = {"World": 1, "Tasks": 0, "Hashes": 0}
"""What reads files of the package: which of its arguments, and those after it, are paths."""
_HERE = ast.dump(ast.parse("_HERE = Path(__file__).parent").body[0])
_POLICY = ast.dump(ast.parse('(_HERE / "policy.md").read_text(encoding="utf-8")', mode="eval").body)
MAX_DIGITS = 40
"""Of a number."""


class Unvetted(ValueError):
    """A module that holds what generated code does not."""


def vet(text: str, path: str) -> ast.Module:
    """The tree of a generated module. Raises `Unvetted`, which names the line."""
    try:
        tree = ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unvetted(f"{path} is no Python: {error}") from None
    for node, problem in _Vetting(tree).problems():
        raise Unvetted(f"{path}:{getattr(node, 'lineno', 1)}: generated code has no {problem}")
    return tree


class _Vetting:
    """One look at a module."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(ast.walk(tree))
        self.own, self.modules = _bound(self.nodes), _modules(self.nodes)
        self.fields = _fields(tree)
        calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        self.called = {id(node.func) for node in calls}
        self.known: set[int] = set()
        """The nodes of the two expressions that have a form of their own."""

    def problems(self) -> Iterator[tuple[ast.AST, str]]:
        """The nodes that should not be there, each with what it is."""
        for node in self.nodes:
            if _is_known(node):
                self.known.update(map(id, ast.walk(node)))
            if id(node) in self.known:
                continue
            if not isinstance(node, _NODES):
                yield node, type(node).__name__
            elif (problem := self._problem(node)) is not None:
                yield node, problem

    def _problem(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.ImportFrom):
            return _problem_of_import(node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return _problem_of_definition(node)
        if isinstance(node, ast.Name):
            return None if id(node) in self.fields else self._problem_of_name(node)
        if isinstance(node, ast.arg):
            return f"parameter {node.arg}" if node.arg in _OF_MODULES.keys() - {"call"} else _hidden(node.arg)
        if isinstance(node, ast.Attribute):
            return self._problem_of_attribute(node)
        if isinstance(node, ast.Call):
            return _problem_of_call(node)
        if isinstance(node, ast.BinOp) and _is_path(node) and not _is_inside(node):
            return "path out of its folder"
        if isinstance(node, ast.Constant):
            return _problem_of_constant(node)
        return None

    def _problem_of_name(self, node: ast.Name) -> str | None:
        if isinstance(node.ctx, ast.Store):
            if node.id == "__all__":
                return None
            return f"assignment to {node.id}" if node.id in _OF_MODULES else _hidden(node.id)
        if node.id == "_HERE":
            return None
        if node.id in _READERS and id(node) not in self.called:
            return f"{node.id} that is not called"
        known = (node.id in self.own or node.id in _BUILTINS) and node.id != "Path"
        return _hidden(node.id) if known else f"name {node.id}"

    def _problem_of_attribute(self, node: ast.Attribute) -> str | None:
        if not isinstance(node.ctx, ast.Load):
            return f"change of .{node.attr}"
        if isinstance(node.value, ast.Name):
            base = node.value.id
            if base in _OF_MODULES:
                return None if node.attr in _OF_MODULES[base] else f"{base}.{node.attr}"
            if base in self.modules:
                return _hidden(node.attr)
        return None if node.attr in _OF_VALUES else f".{node.attr}"


def _is_known(node: ast.AST) -> bool:
    """Whether a node is the folder of the package, or the text of its policy."""
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id == "_HERE" and ast.dump(node) == _HERE
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == "read_text" and ast.dump(node) == _POLICY


def _bound(nodes: list[ast.AST]) -> set[str]:
    """Every name that the module gives something."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
    return found


def _modules(nodes: list[ast.AST]) -> set[str]:
    """Those of the package's own modules that the module imports, and gives their names to nothing else."""
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.level and not node.module]
    found = {alias.name for node in imports for alias in node.names} & _OWN_MODULES
    others = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    others += [node.arg for node in nodes if isinstance(node, ast.arg)]
    return found.difference(others)


def _fields(tree: ast.Module) -> set[int]:
    """The names of what rows hold, which are no names of the module."""
    rows = [part for node in tree.body if isinstance(node, ast.ClassDef) for part in node.body]
    return {id(part.target) for part in rows if isinstance(part, ast.AnnAssign)}


def _hidden(name: str) -> str | None:
    """Names with an underscore in front are the interpreter's, or somebody's own; `_` alone is a variable."""
    return f"name {name}" if name.startswith("_") and name != "_" else None


def _problem_of_import(node: ast.ImportFrom) -> str | None:
    for alias in node.names:
        name = alias.asname or alias.name
        if alias.asname is not None and (node.module, alias.name, name) != ("forgec_runtime", "types", "t"):
            return f"import as {name}"
        if name in _OWN_MODULES and (node.module or not node.level):
            return f"import of {name} from a module"
        if node.level == 0 and alias.name not in _IMPORTS.get(node.module or "", ()):
            return f"import of {node.module}.{alias.name}"
        if node.level > 2 or (node.level and (alias.name == "*" or _hidden(alias.name))):
            return f"import of {'.' * node.level}{node.module or ''}.{alias.name}"
        # the names by which modules are known mean these modules
        meant = {"sql": "sql", "t": "types"}
        if name in meant.keys() | {"call"} and (node.module, alias.name) != ("forgec_runtime", meant.get(name)):
            return f"import as {name}"
    return None


def _problem_of_definition(node: ast.FunctionDef | ast.ClassDef) -> str | None:
    if node.decorator_list:
        return "decorator"
    if isinstance(node, ast.ClassDef):
        typed = [ast.unparse(base) for base in node.bases] == ["TypedDict"] and not node.keywords
        if not typed or not all(isinstance(part, ast.AnnAssign | ast.Expr | ast.Pass) for part in node.body):
            return "class that does more than type rows"
    return f"definition of {node.name}" if node.name in _OF_MODULES else _hidden(node.name)


def _problem_of_call(node: ast.Call) -> str | None:
    """What reads a file is told which by a path in the package, never by a text."""
    if not isinstance(node.func, ast.Name | ast.Attribute):
        return "call of what is neither a name nor an attribute"
    first = _READERS.get(node.func.id) if isinstance(node.func, ast.Name) else None
    if first is not None:
        paths = [*node.args[first:], *(part.value for part in node.keywords if part.arg in ("path", "manifest", None))]
        starred = any(isinstance(part, ast.Starred) for part in node.args)
        if starred or not all(isinstance(path, ast.BinOp) and _is_inside(path) for path in paths):
            return "path that is none of its folder"
    return None


def _problem_of_constant(node: ast.Constant) -> str | None:
    if isinstance(node.value, int) and abs(node.value) >= 10**MAX_DIGITS:
        return f"number of more than {MAX_DIGITS} digits"
    return None if isinstance(node.value, str | int | float | None) else type(node.value).__name__


def _is_path(node: ast.BinOp) -> bool:
    return isinstance(node.op, ast.Div) and "_HERE" in {
        part.id for part in ast.walk(node) if isinstance(part, ast.Name)
    }


def _is_inside(node: ast.BinOp) -> bool:
    """Whether a path is the folder of the package and plain names below it."""
    left, right = node.left, node.right
    plain = isinstance(right, ast.Constant) and isinstance(right.value, str) and right.value not in ("", ".", "..")
    if not plain or any(char in str(getattr(right, "value", "")) for char in "/\\:\0"):
        return False
    return (isinstance(left, ast.Name) and left.id == "_HERE") or (isinstance(left, ast.BinOp) and _is_inside(left))
