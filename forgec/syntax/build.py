"""Lark's tree to syntax nodes. Everything that leaves here has a `Span`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from lark import Token, Tree

from forgec.diagnostics import Label, Report
from forgec.source import Source, Span
from forgec.syntax import nodes, text
from forgec.syntax.messages import message

_STATEMENT = re.compile(r"(?:let|require|if|each|do|return|reply|fail|insert|update|delete)\b")


class Swallowed(Exception):
    """A statement swallowed the next one; that was reported, and nothing else about this declaration can be."""


class Builder:
    """Builds the nodes of one source; trees are those of `grammar/afs.lark`, rule by rule."""

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report

    def item(self, tree: Tree[Token]) -> nodes.Item:
        built: nodes.Item = self._build(tree)
        return built

    def _build(self, tree: Any) -> Any:
        method: Callable[[Tree[Token]], Any] = getattr(self, f"_{tree.data}")
        return method(tree)

    def _maybe(self, tree: Any) -> Any:
        return None if tree is None else self._build(tree)

    def _all(self, trees: Any) -> tuple[Any, ...]:
        return tuple(self._build(tree) for tree in trees if tree is not None)

    def _span(self, part: Tree[Token] | Token) -> Span:
        if isinstance(part, Token):
            return Span(self.source, part.start_pos or 0, part.end_pos or 0)
        return Span(self.source, part.meta.start_pos, part.meta.end_pos)

    def _name(self, token: Any) -> nodes.Name:
        return nodes.Name(self._span(token), str(token))

    def _names(self, tokens: Any) -> tuple[nodes.Name, ...]:
        return tuple(self._name(token) for token in tokens if token is not None)

    def _text(self, token: Any) -> nodes.Text:
        span = self._span(token)
        return nodes.Text(span, text.plain(span, self.report))

    # -- head and types ----------------------------------------------------------------------------------------

    def _use(self, tree: Tree[Token]) -> nodes.Use:
        return nodes.Use(self._span(tree), self._text(tree.children[0]))

    def _extend(self, tree: Tree[Token]) -> nodes.Extend:
        return nodes.Extend(self._span(tree), self._name(tree.children[0]))

    def _doc(self, tree: Tree[Token]) -> nodes.Text:
        return self._text(tree.children[0])

    def _environment(self, tree: Tree[Token]) -> nodes.Environment:
        name, doc, *settings = tree.children
        return nodes.Environment(self._span(tree), self._name(name), self._maybe(doc), self._all(settings))

    def _setting(self, tree: Tree[Token]) -> nodes.Setting:
        name, value = tree.children
        return nodes.Setting(self._span(tree), self._name(name), self._build(value))

    def _policy(self, tree: Tree[Token]) -> nodes.Policy:
        return nodes.Policy(self._span(tree), self._text(tree.children[0]))

    def _enum(self, tree: Tree[Token]) -> nodes.Enum:
        name, doc, *variants = tree.children
        return nodes.Enum(self._span(tree), self._name(name), self._maybe(doc), self._all(variants))

    def _variant(self, tree: Tree[Token]) -> nodes.Variant:
        token = str(tree.children[0])
        return nodes.Variant(self._span(tree), text.sql_string(token) if token.startswith("'") else token)

    def _record(self, tree: Tree[Token]) -> nodes.Record:
        name, doc, fields = tree.children
        return nodes.Record(self._span(tree), self._name(name), self._maybe(doc), self._build(fields))

    def _domain(self, tree: Tree[Token]) -> nodes.Domain:
        name, doc, type_, check = tree.children
        parts = self._maybe(doc), self._build(type_), self._maybe(check)
        return nodes.Domain(self._span(tree), self._name(name), *parts)

    def _fields(self, tree: Tree[Token]) -> tuple[nodes.Field, ...]:
        return self._all(tree.children)

    def _field(self, tree: Tree[Token]) -> nodes.Field:
        name, type_, doc = tree.children
        return nodes.Field(self._span(tree), self._name(name), self._build(type_), self._maybe(doc))

    def _type(self, tree: Tree[Token]) -> nodes.TypeExpression:
        base, *suffixes = tree.children
        marks = tuple("?" if str(mark) == "?" else "[]" for mark in suffixes)
        return nodes.TypeExpression(self._span(tree), self._build(base), marks)  # type: ignore[arg-type]

    def _named_type(self, tree: Tree[Token]) -> nodes.NamedType:
        path, *given = tree.children
        arguments = [part for part in given if part is not None]
        made = tuple(int(str(part)) if isinstance(part, Token) else self._build(part) for part in arguments)
        return nodes.NamedType(self._span(tree), self._build(path), made)

    def _record_type(self, tree: Tree[Token]) -> nodes.RecordType:
        return nodes.RecordType(self._span(tree), self._build(tree.children[0]))

    def _reference(self, tree: Tree[Token]) -> nodes.Reference:
        path, optional = tree.children
        return nodes.Reference(self._span(tree), self._build(path), optional is not None)

    def _path(self, tree: Tree[Token]) -> tuple[nodes.Name, ...]:
        return self._names(tree.children)

    # -- state -------------------------------------------------------------------------------------------------

    def _table(self, tree: Tree[Token]) -> nodes.Table:
        name, side, doc, missing, *entries = tree.children
        parts = self._maybe(doc), *self._entries(entries), None if missing is None else self._message(missing)
        return nodes.Table(self._span(tree), self._name(name), *parts, False, _side(side))

    def _single(self, tree: Tree[Token]) -> nodes.Table:
        name, side, doc, *columns = tree.children
        parts = self._maybe(doc), self._all(columns), (), None
        return nodes.Table(self._span(tree), self._name(name), *parts, True, _side(side))

    def _nested(self, tree: Tree[Token]) -> nodes.Nested:
        name, kind, doc, *entries = tree.children
        parts = self._maybe(doc), *self._entries(entries), str(kind)
        return nodes.Nested(self._span(tree), self._name(name), *parts)  # type: ignore[arg-type]

    def _entries(self, trees: Any) -> tuple[tuple[nodes.Column | nodes.Nested, ...], tuple[nodes.Tie, ...]]:
        built = self._all(trees)
        ties = tuple(entry for entry in built if isinstance(entry, nodes.Tie))
        return tuple(entry for entry in built if not isinstance(entry, nodes.Tie)), ties

    def _tie(self, tree: Tree[Token]) -> nodes.Tie:
        *names, path, doc = tree.children
        return nodes.Tie(self._span(tree), self._names(names), self._build(path), self._maybe(doc))

    def _column(self, tree: Tree[Token]) -> nodes.Column:
        name, type_, *modifiers, doc = tree.children
        parts = self._build(type_), self._all(modifiers), self._maybe(doc)
        return nodes.Column(self._span(tree), self._name(name), *parts)

    def _key(self, tree: Tree[Token]) -> nodes.Modifier:
        return nodes.Modifier(self._span(tree), "key")

    def _unique(self, tree: Tree[Token]) -> nodes.Modifier:
        return nodes.Modifier(self._span(tree), "unique")

    def _unscored(self, tree: Tree[Token]) -> nodes.Modifier:
        return nodes.Modifier(self._span(tree), "unscored")

    def _unordered(self, tree: Tree[Token]) -> nodes.Modifier:
        return nodes.Modifier(self._span(tree), "unordered")

    def _hidden(self, tree: Tree[Token]) -> nodes.Modifier:
        return nodes.Modifier(self._span(tree), "hidden")

    def _serial(self, tree: Tree[Token]) -> nodes.Modifier:
        pattern = tree.children[0]
        return nodes.Modifier(
            self._span(tree), "serial", pattern=None if pattern is None else text.sql_string(str(pattern))
        )

    def _serial_list(self, tree: Tree[Token]) -> nodes.Modifier:
        tokens = [token for token in tree.children if token is not None]
        keys = tuple(nodes.Variant(self._span(token), text.sql_string(str(token))) for token in tokens)
        return nodes.Modifier(self._span(tree), "serial", keys=keys)

    def _default(self, tree: Tree[Token]) -> nodes.Modifier:
        return nodes.Modifier(self._span(tree), "default", self._build(tree.children[0]))

    def _check(self, tree: Tree[Token]) -> nodes.Modifier:
        return nodes.Modifier(self._span(tree), "check", self._build(tree.children[0]))

    def _when(self, tree: Tree[Token]) -> nodes.Modifier:
        return nodes.Modifier(self._span(tree), "when", self._build(tree.children[0]))

    def _literal(self, tree: Tree[Token]) -> nodes.SqlText:
        return nodes.SqlText(self._span(tree), ())

    def _invariant(self, tree: Tree[Token]) -> nodes.Invariant:
        name, doc, sql = tree.children
        return nodes.Invariant(self._span(tree), self._name(name), self._maybe(doc), self._build(sql))

    # -- behaviour ---------------------------------------------------------------------------------------------

    def _view(self, tree: Tree[Token]) -> nodes.View:
        name, doc, sql = tree.children
        return nodes.View(self._span(tree), self._name(name), self._maybe(doc), self._build(sql))

    def _function(self, tree: Tree[Token]) -> nodes.Function:
        name, params, returns, doc, sql = tree.children
        parts = self._build(params), self._build(returns), self._maybe(doc), self._build(sql)
        return nodes.Function(self._span(tree), self._name(name), *parts)

    def _action(self, tree: Tree[Token]) -> nodes.Action:
        name, params, doc, block = tree.children
        parts = self._build(params), self._maybe(doc), self._build(block)
        return nodes.Action(self._span(tree), self._name(name), *parts)

    def _tool(self, tree: Tree[Token]) -> nodes.Tool:
        side, name, params, returns, ends, doc, block = tree.children
        parts = self._build(params), self._maybe(returns) or (), self._maybe(doc), self._build(block)
        return nodes.Tool(self._span(tree), self._name(name), *parts, _side(side), ends is not None)

    def _results(self, tree: Tree[Token]) -> tuple[nodes.TypeExpression, ...]:
        return self._all(tree.children)

    def _sync(self, tree: Tree[Token]) -> nodes.Sync:
        name, doc, condition, block = tree.children
        parts = self._maybe(doc), self._maybe(condition), self._build(block)
        return nodes.Sync(self._span(tree), self._name(name), *parts)

    def _params(self, tree: Tree[Token]) -> tuple[nodes.Parameter, ...]:
        return self._all(tree.children)

    def _param(self, tree: Tree[Token]) -> nodes.Parameter:
        name, type_, *rest = tree.children
        row = self._name(rest.pop(0)) if isinstance(rest[0], Token) else None
        default, doc = rest[-2:]
        parts = self._build(type_), row, self._maybe(default), self._maybe(doc)
        return nodes.Parameter(self._span(tree), self._name(name), *parts)

    def _block(self, tree: Tree[Token]) -> tuple[nodes.Statement, ...]:
        return self._all(tree.children)

    def _let(self, tree: Tree[Token]) -> nodes.Let:
        name, kind, sql, message = tree.children
        many = isinstance(kind, Token)
        parts = many, None if many else self._maybe(kind), self._build(sql), self._maybe(message)
        return nodes.Let(self._span(tree), self._name(name), *parts)

    def _set(self, tree: Tree[Token]) -> nodes.Set:
        name, sql = tree.children
        return nodes.Set(self._span(tree), self._name(name), self._build(sql))

    def _require(self, tree: Tree[Token]) -> nodes.Require:
        sql, message = tree.children
        return nodes.Require(self._span(tree), self._build(sql), self._build(message))

    def _if(self, tree: Tree[Token]) -> nodes.If:
        branches: list[nodes.Branch] = []
        parts: Iterator[Any] = iter([part for part in tree.children if part is not None])
        for part in parts:
            condition = self._build(part) if part.data == "parens" else None
            block = next(parts) if condition else part
            span = condition.span.to(self._span(block)) if condition else self._span(block)
            branches.append(nodes.Branch(span, condition, self._build(block)))
        return nodes.If(self._span(tree), tuple(branches))

    def _each(self, tree: Tree[Token]) -> nodes.Each:
        name, over, block = tree.children
        is_value = isinstance(over, Tree) and over.data == "value"
        sql = self._build(over) if is_value else self._inside(over)
        return nodes.Each(self._span(tree), self._name(name), sql, self._build(block))

    def _do(self, tree: Tree[Token]) -> nodes.Do:
        deed: Any = tree.children[0]
        action, *arguments = deed.children
        return nodes.Do(self._span(tree), self._name(action), self._all(arguments))

    def _return(self, tree: Tree[Token]) -> nodes.Return:
        sql, message = tree.children
        return nodes.Return(self._span(tree), self._build(sql), self._maybe(message))

    def _reply(self, tree: Tree[Token]) -> nodes.Reply:
        return nodes.Reply(self._span(tree), self._build(tree.children[0]))

    def _fail(self, tree: Tree[Token]) -> nodes.Fail:
        return nodes.Fail(self._span(tree), self._build(tree.children[0]))

    def _write(self, tree: Tree[Token]) -> nodes.Write:
        word, sql = tree.children
        whole = self._sql_between(self._span(word), self._build(sql))
        return nodes.Write(self._span(tree), str(word).lower(), whole)  # type: ignore[arg-type]

    def _rule(self, tree: Tree[Token]) -> nodes.Rule:
        name, verdict, *tools, doc, sql = tree.children
        parts = str(verdict), self._names(tools), self._maybe(doc), self._build(sql)
        return nodes.Rule(self._span(tree), self._name(name), *parts)  # type: ignore[arg-type]

    # -- worlds, tests, tasks ----------------------------------------------------------------------------------

    def _world(self, tree: Tree[Token]) -> nodes.World:
        name, base, doc, seed, *parts = tree.children
        built = self._all(parts)
        happenings = tuple(part for part in built if isinstance(part, nodes.Generate | nodes.Write | nodes.Expect))
        fills = tuple(part for part in built if not isinstance(part, nodes.Generate | nodes.Write | nodes.Expect))
        extended, number = None if base is None else self._name(base), str(seed or "").lstrip("0") or "0"
        head = self._name(name), extended, self._maybe(doc), number
        return nodes.World(self._span(tree), *head, fills, happenings)

    def _generate(self, tree: Tree[Token]) -> nodes.Generate:
        table, least, most, *parts = tree.children
        built = self._all(parts)
        made = tuple(part for part in built if isinstance(part, nodes.Made))
        nested = tuple(part for part in built if isinstance(part, nodes.Generate))
        counts = _count(least), _count(most if most is not None else least)
        return nodes.Generate(self._span(tree), self._build(table), *counts, made, nested)

    def _made(self, tree: Tree[Token]) -> nodes.Made:
        name, sql = tree.children
        return nodes.Made(self._span(tree), self._name(name), self._build(sql))

    def _fill(self, tree: Tree[Token]) -> nodes.Fill:
        table, *rest = tree.children
        columns = self._names(part for part in rest if isinstance(part, Token))
        rows = self._all(part for part in rest if isinstance(part, Tree))
        return nodes.Fill(self._span(tree), self._build(table), columns, rows)

    def _documents(self, tree: Tree[Token]) -> nodes.Documents:
        table, *rows = tree.children
        return nodes.Documents(self._span(tree), self._build(table), self._all(rows))

    def _sourced(self, tree: Tree[Token]) -> nodes.Sourced:
        table, origin, member = tree.children
        at = None if member is None else self._text(member)
        return nodes.Sourced(self._span(tree), self._build(table), self._build(origin), at)

    def _file_origin(self, tree: Tree[Token]) -> nodes.FileOrigin:
        return nodes.FileOrigin(self._span(tree), self._text(tree.children[0]))

    def _package_origin(self, tree: Tree[Token]) -> nodes.PackageOrigin:
        distribution, path = tree.children
        return nodes.PackageOrigin(self._span(tree), self._text(distribution), self._text(path))

    def _variable_origin(self, tree: Tree[Token]) -> nodes.VariableOrigin:
        return nodes.VariableOrigin(self._span(tree), self._text(tree.children[0]))

    def _test(self, tree: Tree[Token]) -> nodes.Test:
        title, world, *steps = tree.children
        return nodes.Test(self._span(tree), self._text(title), self._name(world), self._all(steps))

    def _run(self, tree: Tree[Token]) -> nodes.Run:
        name, call, outcome = tree.children
        fails = self._text(outcome) if isinstance(outcome, Token) else None
        returns = self._build(outcome) if isinstance(outcome, Tree) else None
        known_as = None if name is None else self._name(name)
        return nodes.Run(self._span(tree), known_as, self._build(call), fails, returns)

    def _call(self, tree: Tree[Token]) -> nodes.Call:
        tool, *arguments = tree.children
        return nodes.Call(self._span(tree), self._name(tool), self._all(arguments))

    def _arg(self, tree: Tree[Token]) -> nodes.Argument:
        name, sql = tree.children
        return nodes.Argument(self._span(tree), self._name(name), self._build(sql))

    def _task(self, tree: Tree[Token]) -> nodes.Task:
        name, world, doc, *parts = tree.children
        names = self._name(name), self._name(world)
        return nodes.Task(self._span(tree), *names, self._maybe(doc), self._all(parts))

    def _intent(self, tree: Tree[Token]) -> nodes.Intent:
        return nodes.Intent(self._span(tree), self._message(tree.children[0]))

    def _tags(self, tree: Tree[Token]) -> nodes.Tags:
        return nodes.Tags(self._span(tree), self._names(tree.children))

    def _request(self, tree: Tree[Token]) -> nodes.Request:
        name, *after, condition, told = tree.children
        parts = self._names(after), self._maybe(condition), self._message(told)
        return nodes.Request(self._span(tree), self._name(name), *parts)

    def _condition(self, tree: Tree[Token]) -> nodes.SqlText:
        built: nodes.SqlText = self._build(tree.children[0])
        return built

    def _sample(self, tree: Tree[Token]) -> nodes.Sample:
        name, doc, rows = tree.children
        return nodes.Sample(self._span(tree), self._name(name), self._maybe(doc), self._rows(rows))

    def _rows(self, tree: Any) -> nodes.SqlText:
        """`from orders where ...`; of `from (select ...)` the select."""
        tokens = list(tree.children[1].scan_values(lambda value: isinstance(value, Token)))
        depth, ends = 0, list[int]()
        for i, token in enumerate(tokens):
            depth += (str(token) in ("(", "[", "{")) - (str(token) in (")", "]", "}"))
            if depth == 0:
                ends.append(i)
        whole = self._sql(tree)
        if str(tokens[0]) != "(" or ends != [len(tokens) - 1] or len(tokens) < 3:
            return whole
        return nodes.SqlText(self._span(tokens[1]).to(self._span(tokens[-2])), whole.params)

    def _fact(self, tree: Tree[Token]) -> nodes.Fact:
        name, doc, sql = tree.children
        told = None if doc is None else self._message(doc)
        return nodes.Fact(self._span(tree), self._name(name), told, self._build(sql))

    def _change(self, tree: Tree[Token]) -> nodes.Change:
        return nodes.Change(self._span(tree), self._all(tree.children))

    def _plan(self, tree: Tree[Token]) -> nodes.Plan:
        name, doc, *nodes_ = tree.children
        known_as = None if name is None else self._name(name)
        return nodes.Plan(self._span(tree), known_as, self._maybe(doc), self._all(nodes_))

    def _call_node(self, tree: Tree[Token]) -> nodes.CallNode:
        name, call, condition, *after = tree.children
        parts = *self._named_call(call), self._maybe(condition), self._names(after)
        return nodes.CallNode(self._span(tree), self._name(name), *parts)

    def _named_call(self, tree: Any) -> tuple[nodes.Name, tuple[nodes.Named, ...]]:
        """A call in a task; its tool alone where there are no brackets."""
        if isinstance(tree, Token):
            return self._name(tree), ()
        call = self._call(tree)
        return call.tool, tuple(nodes.Named(one.span, one.name, one.sql) for one in call.arguments)

    def _reason_node(self, tree: Tree[Token]) -> nodes.ReasonNode:
        name, many, condition, doc, sql = tree.children
        parts = many is not None, self._maybe(condition), self._maybe(doc), self._build(sql)
        return nodes.ReasonNode(self._span(tree), self._name(name), *parts)

    def _expect(self, tree: Tree[Token]) -> nodes.Expect:
        return nodes.Expect(self._span(tree), self._build(tree.children[0]))

    def _never(self, tree: Tree[Token]) -> nodes.Never:
        return nodes.Never(self._span(tree), *self._named_call(tree.children[0]))

    def _says(self, tree: Tree[Token]) -> nodes.Says:
        doc, sql = tree.children
        return nodes.Says(self._span(tree), self._maybe(doc), self._build(sql))

    # -- SQL and messages --------------------------------------------------------------------------------------

    def _sql(self, tree: Tree[Token]) -> nodes.SqlText:
        tokens = list(tree.scan_values(lambda value: isinstance(value, Token)))
        span = self._span(tokens[0]).to(self._span(tokens[-1]))
        self._find_missing_semicolon(span, tokens)
        params = tuple(self._span(token) for token in tokens if token.type == "PARAM")
        return nodes.SqlText(span, params)

    _expr = _sql
    _parens = _sql
    _value = _sql

    def _inside(self, parens: Any) -> nodes.SqlText:
        """What stands in parentheses; they themselves where that is nothing."""
        whole, inner = self._sql(parens), parens.children[1:-1]
        if not inner:
            return whole
        return nodes.SqlText(self._span(inner[0]).to(self._span(inner[-1])), whole.params)

    _document = _sql

    def _sql_between(self, first: Span, rest: nodes.SqlText) -> nodes.SqlText:
        return nodes.SqlText(first.to(rest.span), rest.params)

    def _find_missing_semicolon(self, span: Span, tokens: list[Token]) -> None:
        """The run of SQL tokens swallows the next statement when a `;` is missing: say so where it is missing."""
        for before, token in pairwise(tokens):
            end, start = self._span(before).end, self._span(token).start
            between = self.source.text[end:start]
            if "\n" in between and token.type == "NAME" and _STATEMENT.match(self.source.text[start : start + 12]):
                place = Span(self.source, end - 1, end)
                swallowed = Label(self._span(token), "this starts another statement")
                self.report.error("AFS103", "a `;` is missing", place, "after this", related=[swallowed])
                raise Swallowed

    def _message(self, tree: Tree[Token] | Token) -> nodes.Message:
        return message(self._span(tree), self.report)


def _side(tree: Tree[Token] | Token | None) -> nodes.Side:
    return "agent" if tree is None else "user"


def _count(token: Any) -> int:
    """A number, as far as it counts: whatever has ten digits is too many."""
    return int(str(token)[:10])
