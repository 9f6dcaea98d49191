"""Random tools over the tables of the kitchen sink: expressions of every type, wherever an expression may stand."""

import itertools
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from forgec.diagnostics import Report
from forgec.pipeline import check_source
from forgec.source import Source

KITCHEN = Path(__file__).with_name("kitchen_sink.afs").read_text(encoding="utf-8")
PARAMETERS = (
    "a integer?, b integer, x decimal(8, 2)?, y decimal(6, 4), t text?, u text, f boolean?, g boolean, d date?, e date, "
    "m timestamp?, heat Heat?, place Place?, box Box, p double?, sink -> sinks as s, job -> jobs? as j"
)
INTEGER, DECIMAL, TEXT, BOOLEAN, DATE, TIME, DOUBLE, HEAT = (
    "integer decimal text boolean date timestamp double heat".split()
)
RETURNS = {
    INTEGER: "integer?", DECIMAL: "decimal(18, 6)?", TEXT: "text?", BOOLEAN: "boolean?", DATE: "date?",
    TIME: "timestamp?", DOUBLE: "double?", HEAT: "Heat?",
}  # fmt: skip

VALUES: Mapping[str, tuple[str, ...]] = {
    INTEGER: (
        "$a", "$b", "$s.size", "$box.wide", "$box.high", "$place.box.wide", "sinks[$t].size", "plates[$b, $u].seen",
        "plates[$a, 'l'].seen", "sinks[plates[1, $u].sink].size", "open_jobs($sink)", "0", "1", "7", "-3", "2147483647",
    ),
    DECIMAL: ("$x", "$y", "$s.litres", "$s.price", "$s.rough", "$j.effort", "sinks[$t].price", "price_of($t)", "1.5", "0.00",
              "-0.125", "jobs[$job].effort", "plates[$b, 'r'].worth"),
    TEXT: ("$t", "$u", "$s.tap", "$s.note", "$s.sink", "$j.job", "$place.shelf", "$box.label", "sinks[$u].note", "'a'", "''",
           "'É_%'", "shown($s.place)", "$j.sink", "plates[$b, $t].spare"),
    BOOLEAN: ("$f", "$g", "$s.on_wall", "$j.done", "jobs[$job].done", "true", "false", "null", "days[$d].open"),
    DATE: ("$d", "$e", "$s.built", "$j.due", "$place.since", "today()", "date '2024-02-29'", "jobs[$job].due",
           "next_due($sink, $d)"),
    TIME: ("$m", "now()", "$s.checked", "timestamp '2025-02-28 23:59:59.5'", "sinks[$u].checked"),
    DOUBLE: ("$p", "$s.factor", "sinks[$t].factor"),
    HEAT: ("$heat", "$s.heat", "$s.backup", "sinks[$t].backup"),
}  # fmt: skip
COLUMNS: Mapping[str, tuple[str, ...]] = {
    INTEGER: ("{0}.size", "{0}.place.box.wide", "{0}.place.box.high"),
    DECIMAL: ("{0}.litres", "{0}.price", "{0}.rough"),
    TEXT: ("{0}.sink", "{0}.tap", "{0}.note", "{0}.place.shelf", "{0}.place.box.label"),
    BOOLEAN: ("{0}.on_wall",),
    DATE: ("{0}.built", "{0}.place.since"),
    TIME: ("{0}.checked",),
    DOUBLE: ("{0}.factor",),
    HEAT: ("{0}.heat", "{0}.backup"),
}
SET = {
    "size": INTEGER, "price": DECIMAL, "rough": DECIMAL, "litres": DECIMAL, "tap": TEXT, "note": TEXT, "on_wall": BOOLEAN,
    "built": DATE, "checked": TIME, "factor": DOUBLE, "heat": HEAT, "backup": HEAT,
}  # fmt: skip


class Writer:
    """Writes tools; `aliases` are the names that rows of `sinks` have where an expression stands."""

    def __init__(self, seed: object) -> None:
        self.chance = random.Random(f"{seed}")
        self.aliases: list[str] = []
        self.depth = 0

    # -- expressions -------------------------------------------------------------------------------------------

    def expression(self, type_: str, depth: int = 3) -> str:
        chance = self.chance
        if depth <= 0 or chance.random() < 0.15:
            return self._leaf(type_)
        if chance.random() < 0.2:
            return self._any_type(type_, depth - 1)
        makers: dict[str, Callable[[int], str]] = {
            INTEGER: self._integer, DECIMAL: self._decimal, TEXT: self._text, BOOLEAN: self.condition, DATE: self._date,
            TIME: self._time, DOUBLE: self._double, HEAT: lambda depth: self._leaf(HEAT),
        }  # fmt: skip
        return makers[type_](depth - 1)

    def _leaf(self, type_: str) -> str:
        columns = COLUMNS[type_] if self.aliases and self.chance.random() < 0.5 else ()
        if columns:
            return self.chance.choice(columns).format(self.chance.choice(self.aliases))
        return self.chance.choice(VALUES[type_])

    def _any_type(self, type_: str, depth: int) -> str:
        one = lambda: self.expression(type_, depth)  # noqa: E731
        made = self.chance.choice(["coalesce", "case", "case_of", "query", "greatest", "paren", "nullif"])
        if made == "coalesce":
            return f"coalesce({one()}, {one()})"
        if made == "case":
            otherwise = f" else {one()}" if self.chance.random() < 0.7 else ""
            return f"case when {self.condition(depth)} then {one()} when {self.condition(depth)} then {one()}{otherwise} end"
        if made == "case_of":
            return (
                f"case {self.expression(INTEGER, 1)} when {self.expression(INTEGER, 0)} then {one()} else {one()} end"
            )
        if made == "query":
            return self._query(type_, depth)
        if made == "nullif":
            return f"nullif({one()}, {one()})"
        return f"({one()})" if made == "paren" or type_ in (BOOLEAN, HEAT) else f"{made}({one()}, {one()})"

    def _query(self, type_: str, depth: int) -> str:
        aggregate = self.chance.choice(["max", "min", "sum"] if type_ in (INTEGER, DECIMAL) else ["max", "min"])
        alias = self.chance.choice(["k", "n", "sinks"])
        outer, self.aliases = self.aliases, [alias]
        item = self.chance.choice(COLUMNS[type_]).format(alias)
        if outer and self.chance.random() < 0.4:
            self.aliases = [alias, *outer]
        where = self.condition(min(depth, 1))
        self.aliases = outer
        source = "sinks" if alias == "sinks" else f"sinks {alias}"
        if self.chance.random() < 0.3:
            source += f" left join plates z on z.sink = {alias}.sink and z.seen > {self.expression(INTEGER, 0)}"
        return f"(select {aggregate}({item}) from {source} where {where})"

    def _integer(self, depth: int) -> str:
        one = lambda: self.expression(INTEGER, depth)  # noqa: E731
        return self.chance.choice(
            [
                lambda: f"{one()} + {one()}", lambda: f"{one()} - {one()}", lambda: f"{one()} * {one()}",
                lambda: f"-{one()}" if depth < 1 else f"-({one()})", lambda: f"({one()} + {one()}) * {one()}",
                lambda: f"length({self.expression(TEXT, depth)})", lambda: f"abs({one()})", lambda: f"twice({one()})",
                lambda: f"four({one()})", lambda: f"sign({one()})", lambda: f"{one()} // {one()}", lambda: f"{one()} % 7",
                lambda: f"{self.expression(DATE, depth)} - {self.expression(DATE, depth)}",
                lambda: f"year({self.expression(DATE, depth)})", lambda: "same_heat($sink)",
                lambda: f"date_diff('day', {self.expression(DATE, depth)}, {self.expression(DATE, depth)})",
                lambda: f"cast({self.expression(DECIMAL, depth)} as integer)",
                lambda: f"(select count(*) from jobs where {self.expression(BOOLEAN, 0)} or done)",
            ]
        )()  # fmt: skip

    def _decimal(self, depth: int) -> str:
        one = lambda: self.expression(DECIMAL, depth)  # noqa: E731
        return self.chance.choice(
            [
                lambda: f"{one()} + {one()}", lambda: f"{one()} - {one()}", lambda: f"{one()} * {one()}",
                lambda: f"-({one()})", lambda: f"{one()} + {self.expression(INTEGER, depth)}", lambda: f"abs({one()})",
                lambda: f"rounded({one()})", lambda: f"round({one()}, 1)", lambda: f"cast({one()} as decimal(9, 3))",
                lambda: f"cast({self.expression(INTEGER, depth)} as decimal(12, 2))", lambda: f"floor({one()})",
            ]
        )()  # fmt: skip

    def _text(self, depth: int) -> str:
        one = lambda: self.expression(TEXT, depth)  # noqa: E731
        return self.chance.choice(
            [
                lambda: f"{one()} || {one()}", lambda: f"lower({one()})", lambda: f"upper({one()})", lambda: f"trim({one()})",
                lambda: f"left({one()}, {self.expression(INTEGER, 0)})", lambda: f"substring({one()}, 2, 3)",
                lambda: f"cast({self.expression(INTEGER, depth)} as text)", lambda: f"right({one()}, 2)",
                lambda: f"cast({self.expression(DECIMAL, depth)} as text)", lambda: f"cast({self.expression(DATE, 0)} as text)",
                lambda: f"cast({self.expression(TIME, depth)} as text)", lambda: f"cast({self.expression(BOOLEAN, 0)} as text)",
            ]
        )()  # fmt: skip

    def _date(self, depth: int) -> str:
        one = lambda: self.expression(DATE, depth)  # noqa: E731
        return self.chance.choice(
            [
                lambda: f"{one()} + {self.chance.randint(0, 40)}", lambda: f"{one()} - 3",
                lambda: f"{one()} + {self.expression(INTEGER, 0)} % 9", lambda: f"cast({self.expression(TIME, depth)} as date)",
                lambda: f"cast({one()} + interval 1 month as date)", lambda: f"{one()} + length({self.expression(TEXT, 0)})",
            ]
        )()  # fmt: skip

    def _time(self, depth: int) -> str:
        one = lambda: self.expression(TIME, depth)  # noqa: E731
        return self.chance.choice(
            [
                lambda: f"cast({self.expression(DATE, depth)} as timestamp)", lambda: f"{one()} + interval 90 minute",
                lambda: f"{one()} - interval 3 day", lambda: f"{self.expression(DATE, depth)} + interval 1 hour",
            ]
        )()  # fmt: skip

    def _double(self, depth: int) -> str:
        one = lambda: self.expression(DOUBLE, depth)  # noqa: E731
        return self.chance.choice(
            [
                lambda: f"{one()} + {one()}", lambda: f"{one()} * {one()}", lambda: f"-({one()})", lambda: f"abs({one()})",
                lambda: f"{self.expression(INTEGER, depth)} / {self.expression(INTEGER, depth)}",
                lambda: f"{self.expression(DECIMAL, depth)} / 3", lambda: f"round({one()}, 2)",
                lambda: f"cast({self.expression(DECIMAL, depth)} as double)",
            ]
        )()  # fmt: skip

    def condition(self, depth: int = 3) -> str:
        chance = self.chance
        if depth <= 0:
            return self._comparison(0)
        one = lambda: self.condition(depth - 1)  # noqa: E731
        made = chance.choice(
            ["and", "or", "not", "leaf", "compare", "compare", "in", "between", "is", "like", "exists", "any"]
        )
        if made in ("and", "or"):
            return f"({one()} {made} {one()}{f' {made} {one()}' if chance.random() < 0.3 else ''})"
        if made == "not":
            return f"not ({one()})"
        if made == "leaf":
            return self._leaf(BOOLEAN)
        if made == "in":
            return self._in(depth)
        if made == "between":
            type_ = chance.choice((INTEGER, DECIMAL, DATE, TEXT))
            parts = [self.expression(type_, depth - 1) for _ in range(3)]
            return f"{parts[0]} {chance.choice(['', 'not '])}between {parts[1]} and {parts[2]}"
        if made == "is":
            tested = self.expression(chance.choice(list(RETURNS)), depth - 1)
            what = chance.choice(["null", "not null"])
            return (
                f"({tested}) is {what}" if chance.random() < 0.7 else f"({one()}) is {chance.choice(['', 'not '])}true"
            )
        if made == "like":
            pattern = chance.choice(["'%a%'", "'_'", "'É%'", "'s_'", "$t", "'%'"])
            return f"{self.expression(TEXT, depth - 1)} {chance.choice(['like', 'ilike', 'not like'])} {pattern}"
        if made == "exists":
            return self._exists(depth)
        return self._comparison(depth - 1) if made == "compare" else self._any_type(BOOLEAN, depth - 1)

    def _comparison(self, depth: int) -> str:
        operator = self.chance.choice(["=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"])
        type_ = self.chance.choice(list(RETURNS))
        if type_ == HEAT:
            return f"{self._leaf(HEAT)} {operator} {self.chance.choice([self._leaf(HEAT), self._leaf(TEXT), chr(39) + 'low' + chr(39)])}"
        other = type_
        if type_ in (INTEGER, DECIMAL, DOUBLE):
            other = self.chance.choice((INTEGER, DECIMAL, DOUBLE))
        elif type_ in (DATE, TIME):
            other = self.chance.choice((DATE, TIME))
        elif type_ == BOOLEAN:
            return f"({self._leaf(BOOLEAN)}) {operator} ({self.condition(depth - 1) if depth > 0 else self._leaf(BOOLEAN)})"
        return f"{self.expression(type_, depth)} {operator} {self.expression(other, depth)}"

    def _in(self, depth: int) -> str:
        type_ = self.chance.choice((INTEGER, DECIMAL, TEXT, DATE))
        subject = self.expression(type_, depth - 1)
        negated = self.chance.choice(["", "not "])
        if self.chance.random() < 0.4:
            where = self.expression(BOOLEAN, 0)
            column = self.chance.choice(COLUMNS[type_]).format("i")
            return f"{subject} {negated}in (select {column} from sinks i where {where} or {column} is not null)"
        options = ", ".join(self.expression(type_, 0) for _ in range(self.chance.randint(1, 3)))
        return f"{subject} {negated}in ({options})"

    def _exists(self, depth: int) -> str:
        outer, self.aliases = self.aliases, ["q1", *self.aliases]
        where = self.condition(min(depth - 1, 1))
        self.aliases = outer
        group = self.chance.choice(["", " group by q1.heat having count(*) > 1"])
        return f"{self.chance.choice(['', 'not '])}exists (select 1 from sinks q1 where {where}{group})"

    # -- tools -------------------------------------------------------------------------------------------------

    def tool(self, name: str) -> str:
        """A tool of some kind; some of them do not check."""
        type_ = self.chance.choice(list(RETURNS))
        kinds = [
            self._return, self._guard, self._if, self._let, self._by_key, self._rows, self._update, self._update_by_key,
            self._insert, self._insert_rows, self._delete, self._row,
        ]  # fmt: skip
        returns, body = self.chance.choice(kinds)(type_)
        return f"tool {name}({PARAMETERS}) returns {returns} {{\n  " + "\n  ".join(body) + "\n}\n"

    def _return(self, type_: str) -> tuple[str, list[str]]:
        return RETURNS[type_], [f"return {self.expression(type_)};"]

    def _guard(self, type_: str) -> tuple[str, list[str]]:
        holes = " ".join(f"{{{self.expression(t, 1)}}}" for t in (type_, TEXT, INTEGER))
        return "text", [f'require {self.condition()} else "no: {holes}";', f'reply "yes: {holes}";']

    def _if(self, type_: str) -> tuple[str, list[str]]:
        one = lambda: f"{{ return {self.expression(type_, 2)}; }}"  # noqa: E731
        return RETURNS[type_], [f"if ({self.condition()}) {one()} else if ({self.condition(2)}) {one()}",
                                f"return {self.expression(type_, 1)};"]  # fmt: skip

    def _let(self, type_: str) -> tuple[str, list[str]]:
        message = self.chance.choice(["", f' else "none {{{self.expression(TEXT, 1)}}}"'])
        again = {INTEGER: "$v * $v + $v", DECIMAL: "$v * 2 - $v", TEXT: "$v || $v", BOOLEAN: "not $v", DATE: "$v + 1"}
        return RETURNS[type_], [f"let v = {self.expression(type_)}{message};", f"return {again.get(type_, '$v')};"]

    def _by_key(self, type_: str) -> tuple[str, list[str]]:
        key = self.chance.choice(["$sink", "$t", "$u", "coalesce($t, $u)", self.expression(TEXT, 1)])
        self.aliases = ["sinks"]
        where, item = self.condition(2), self.expression(type_, 2)
        self.aliases = []
        message = self.chance.choice(["", ' else "none"'])
        return RETURNS[type_], [
            f"let r = select {item} as v, sink from sinks where sink = {key} and {where}{message};", "return $r.v;",
        ]  # fmt: skip

    def _rows(self, type_: str) -> tuple[str, list[str]]:
        self.aliases = ["n"]
        where, item, order = (
            self.condition(2),
            self.expression(type_, 2),
            self.expression(self.chance.choice((INTEGER, TEXT, DATE)), 1),
        )
        self.aliases = []
        tail = self.chance.choice(["", f" order by {order}", f" order by {order} desc limit 2", " limit 1"])
        join = self.chance.choice(
            ["", "", " left join jobs o on o.sink = n.sink and o.due > $d", " join plates o on o.sink = n.sink"]
        )
        return f"{{ sink text, v {RETURNS[type_]} }}[]", [
            f"return select n.sink, {item} as v from sinks n{join} where {where}{tail};"
        ]

    def _row(self, type_: str) -> tuple[str, list[str]]:
        items = f"{self.expression(type_, 2)} as v, {self.expression(BOOLEAN, 2)} as w"
        return f"{{ v {RETURNS[type_]}, w boolean? }}", [f"return select {items};"]

    def _assignments(self) -> str:
        names = self.chance.sample(list(SET), self.chance.randint(1, 3))
        return ", ".join(f"{name} = {self.expression(SET[name], 2)}" for name in names)

    def _update(self, type_: str) -> tuple[str, list[str]]:
        self.aliases = ["sinks"]
        write = f"update sinks set {self._assignments()} where {self.condition(2)};"
        self.aliases = []
        return RETURNS[type_], [write, f"return {self.expression(type_, 2)};"]

    def _update_by_key(self, type_: str) -> tuple[str, list[str]]:
        self.aliases = ["sinks"]
        rest = f" and {self.condition(2)}" if self.chance.random() < 0.5 else ""
        write = (
            f"update sinks set {self._assignments()} where sink = {self.chance.choice(['$sink', '$t', '$u'])}{rest};"
        )
        self.aliases = []
        return RETURNS[type_], [
            f"let before = {self.expression(type_, 1)};",
            write,
            f"return coalesce($before, {self.expression(type_, 1)});",
        ]

    def _insert(self, type_: str) -> tuple[str, list[str]]:
        values = f"{self.expression(TEXT, 1)}, {self.expression(DATE, 2)}, {self.condition(2)}, {self.expression(DECIMAL, 2)}"
        return "jobs", [
            f"let n = insert into jobs (sink, due, done, effort) values ({values}) returning *;",
            "return $n;",
        ]

    def _insert_rows(self, type_: str) -> tuple[str, list[str]]:
        self.aliases = ["n"]
        items = (
            f"{self.expression(INTEGER, 1)}, n.sink, {self.expression(TEXT, 1)}, n.sink, {self.expression(DECIMAL, 2)}"
        )
        where = self.condition(2)
        self.aliases = []
        return "integer?", [
            f"insert into plates (row_no, side, sink, spare, worth) select {items.replace(', n.sink,', ', left(n.sink, 1),', 1)} "
            f"from sinks n where {where};", "return (select sum(seen) from plates);",
        ]  # fmt: skip

    def _delete(self, type_: str) -> tuple[str, list[str]]:
        key = self.chance.choice(["job = $job and ", "job = $t and ", ""])
        return "integer", [f"delete from jobs where {key}({self.condition(2)});", "return (select count(*) from jobs);"]


def kitchen_without_tools() -> str:
    """The kitchen sink's types, tables, functions and worlds."""
    text = re.sub(r"^(tool|rule|test|invariant) [\s\S]*?(?=^(?:\w|--))", "", KITCHEN, flags=re.MULTILINE)
    return re.sub(r"^test [\s\S]*\Z", "", text, flags=re.MULTILINE)


def random_spec(seed: object, size: int) -> str:
    """A spec with at most `size` random tools: those that check."""
    writer, base = Writer(seed), kitchen_without_tools()
    tools = [writer.tool(f"t{number}") for number in range(size)]
    report = Report()
    check_source(Path("random.afs"), Source("random.afs", base + "".join(tools)), report)
    places = [diagnostic.primary.span.start for diagnostic in report if diagnostic.primary is not None]
    ends = list(itertools.accumulate(map(len, tools), initial=len(base)))
    sound = [tool for tool, (a, b) in zip(tools, itertools.pairwise(ends), strict=True) if not any(a <= p < b for p in places)]
    return base + "".join(sound)
