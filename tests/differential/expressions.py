"""Random tools over the tables of the kitchen sink: expressions of every type, wherever an expression may stand.

A small grammar: `<integer>` in a template stands for any integer expression one level less deep, `<integer0>` for one
of that depth, `<T>` for an expression of the tool's type. Inside `«k: ...»` the columns of a row `k` of `sinks` are at
hand, inside `«+k: ...»` those of the rows around it, too.
"""

import itertools
import random
import re
from collections.abc import Mapping
from pathlib import Path

from forgec.diagnostics import Report
from forgec.pipeline import check_source
from forgec.source import Source

KITCHEN = Path(__file__).with_name("kitchen_sink.afs").read_text(encoding="utf-8")
PARAMETERS = (
    "a integer?, b integer, x decimal(8, 2)?, y decimal(6, 4), t text?, u text, f boolean?, g boolean, d date?, "
    "e date, m timestamp?, heat Heat?, place Place?, box Box, p double?, xs integer[], "
    "ys integer[]?, ts text[], us text[]?, sink -> sinks as s, job -> jobs? as j"
)
RETURNS = {
    "integer": "integer?",
    "decimal": "decimal(18, 6)?",
    "text": "text?",
    "boolean": "boolean?",
    "date": "date?",
    "timestamp": "timestamp?",
    "double": "double?",
    "heat": "Heat?",
    "integers": "integer[]?",
    "texts": "text[]?",
}
LISTS = ("integers", "texts")

LEAVES = {
    "integer": (
        "$a; $b; $s.size; $box.wide; $box.high; $place.box.wide; sinks[$t].size; plates[$b, $u].seen; 0; 1; 7; -3;"
        "plates[$a, 'l'].seen; sinks[plates[1, $u].sink].size; open_jobs($sink); same_heat($sink); 2147483647"
    ),
    "decimal": (
        "$x; $y; $s.litres; $s.price; $s.rough; $j.effort; sinks[$t].price; price_of($t); 1.5; 0.00; -0.125;"
        "jobs[$job].effort; plates[$b, 'r'].worth"
    ),
    "text": (
        "$t; $u; $s.tap; $s.note; $s.sink; $j.job; $j.sink; $place.shelf; $box.label; sinks[$u].note; 'a'; ''; 'É_%';"
        "shown($s.place); plates[$b, $t].spare"
    ),
    "boolean": "$f; $g; $s.on_wall; $j.done; jobs[$job].done; true; false; null; days[$d].open",
    "date": "$d; $e; $s.built; $j.due; $place.since; today(); date '2024-02-29'; jobs[$job].due; next_due($sink, $d)",
    "timestamp": "$m; now(); $s.checked; timestamp '2025-02-28 23:59:59.5'; sinks[$u].checked",
    "double": "$p; $s.factor; sinks[$t].factor",
    "heat": "$heat; $s.heat; $s.backup; sinks[$t].backup",
    "integers": "$xs; $ys; [1, 7]; list_append($ys, $b)",
    "texts": "$ts; $us; ['a', 'É']",
}
COLUMNS = {
    "integer": "size; place.box.wide; place.box.high",
    "decimal": "litres; price; rough",
    "text": "sink; tap; note; place.shelf; place.box.label",
    "boolean": "on_wall",
    "date": "built; place.since",
    "timestamp": "checked",
    "double": "factor",
    "heat": "heat; backup",
}
OF_ANY_TYPE = (
    "coalesce(<T>, <T>); nullif(<T>, <T>); (<T>); case when <condition> then <T> else <T> end;"
    "case when <condition> then <T> when <condition> then <T> else <T> end;"
    "case when <condition> then <T> end; "
    "case <integer1> when <integer0> then <T> else <T> end;"
    "case $t when <text0> then <T> when 'a' then <T> end; case $a when 1 then <T> else null end"
)
OF_ORDERED_TYPES = (
    "greatest(<T>, <T>); least(<T>, <T>); greatest(<T>, null, <T>);"
    "(select max(«n: <column>) from sinks n where <condition1>»);"
    "(select min(«sinks: <column>) from sinks where <condition1>»); (select max(«+k: <column>) from sinks k"
    " left join plates z on z.sink = k.sink and z.seen > <integer0> where <condition1>»)"
)
TEMPLATES = {
    "integer": (
        "<integer> + <integer>; <integer> - <integer>; <integer> * <integer>; -(<integer>); twice(<integer>);"
        "(<integer> + <integer>) * <integer>; length(<text>); abs(<integer>); four(<integer>); sign(<integer>);"
        "<integer> // <integer>; <integer> % 7; <integer> % <integer>; <integer> // 4; <date> - <date>; year(<date>);"
        "month(<timestamp>); day(<date>); date_diff('day', <date>, <date>); date_diff('day', <timestamp>, <date>);"
        "date_diff('month', <date>, <timestamp>); date_diff('year', <date>, <date>); date_diff('week', <date>, <date>);"
        "date_diff('hour', <timestamp>, <timestamp>); date_diff('minute', <timestamp>, <date>); round(<integer>);"
        "cast(<decimal> as integer); cast(<condition1> as integer); cast(<double> as integer);"
        "len(<integers>); len(<texts>); list_sum(<integers>); list_min(<integers>); list_max(<integers>);"
        "list_position(<integers>, <integer0>); list_position(<texts>, <text0>); first_missing(<integers>, <integers>);"
        "(select count(*) from jobs where <boolean0> or done);"
        "(select sum(«n: <integer1>) from sinks n where <condition1>»); [coalesce(<integer>, 0), 7][<integer0>];"
        "(select sum(v.i * <integer0>) from unnest([coalesce(<integer>, 1), 2]) as v(i) where v.i > <integer0>);"
        "(select max(v.pos) from unnest(['a', coalesce(<text0>, '')]) with ordinality as v(t, pos)"
        " where v.t > <text0>)"
    ),
    "decimal": (
        "<decimal> + <decimal>; <decimal> - <decimal>; <decimal> * <decimal>; -(<decimal>); <decimal> + <integer>;"
        "abs(<decimal>); rounded(<decimal>); round(<decimal>, 1); cast(<decimal> as decimal(9, 3)); floor(<decimal>);"
        "round(<decimal>); round(<decimal>, 3); ceil(<decimal>); <decimal> % 7; <decimal> % <decimal>;"
        "<integer> % <decimal>; coalesce(<decimal>, <integer>); greatest(<integer>, <decimal>, 0);"
        "least(<decimal>, 10.00); case when <condition1> then <decimal> else <integer> end; nullif(<decimal>, 0);"
        "case $a when 1 then <integer> when 2.5 then <decimal> end; greatest(<integer0> - <integer0>, 0) * 0.25;"
        "[coalesce(<decimal>, 0), 0.5][<integer0>]; map {'b': coalesce(<decimal>, 1), 'a': 2}[<text0>];"
        "cast(<integer> as decimal(12, 2)); (select sum(«n: <decimal1>) from sinks n where <condition1>»)"
    ),
    "text": (
        "<text> || <text>; lower(<text>); upper(<text>); trim(<text>); left(<text>, <integer0>); right(<text>, 2);"
        "substring(<text>, 2, 3); substring(<text>, <integer0>); substring(<text>, <integer0>, <integer0>);"
        "right(<text>, <integer0>); left(<text>, -1); substring(<text>, -2, 2); nullif(trim(<text>), '');"
        "cast(<integer> as text); cast(<decimal> as text); cast(<date0> as text); cast(<double0> as text);"
        "array_to_string(<texts>, '-'); array_to_string(<integers>, ''); to_json(<texts0>); to_json(<integers0>);"
        "list_min(<texts>); first_missing(<texts>, <texts>);"
        "replace(<text>, 'a', ''); replace(<text>, ' ', '_'); sha256(<text>); to_json(<text>); to_json(<decimal>);"
        "[coalesce(<text>, 'a'), $u][<integer0>]; map {'a': coalesce(<text>, '')}[<text0>];"
        "[$box, $s.place.box][2].label;"
        "to_json(<date0>); to_json(<double0>); to_json($place); to_json(<boolean0>);"
        "(select string_agg(«n: <text1>, '-' order by <integer0>) from sinks n where <condition1>»);"
        "cast(<timestamp> as text); cast(<boolean0> as text); <text> || <integer>; <decimal> || <text>; <date0> || ' '"
    ),
    "date": (
        "[coalesce(<date>, today()), $e][<integer0>];"
        "<date> + 17; <date> - 3; <date> + <integer0> % 9; cast(<timestamp> as date); <date> + length(<text0>);"
        "cast(<date> + interval 1 month as date); last_day(<date>); cast(date_trunc('month', <date>) as date)"
    ),
    "timestamp": (
        "cast(<date> as timestamp); <timestamp> + interval 90 minute; <timestamp> - interval 3 day;"
        "<date> + interval 1 hour; <date> - interval 1 month; <timestamp> + interval 2 year;"
        "<timestamp> - interval 1 week;"
        "<timestamp> + interval (<integer0> % 50) day; <date> + interval (length(<text0>)) month;"
        "date_trunc('week', <timestamp>); date_trunc('hour', <timestamp>); <date> + <integer0> * interval 90 minute;"
        "coalesce(<timestamp>, <date>); greatest(<date>, <timestamp>)"
    ),
    "double": (
        "<decimal> / <integer>; <integer> / 7; <integer> / <decimal>; cast(<integer> as double);"
        "<double> + <double>; <double> - <decimal>; <double> * <double>; <integer> * <double>; <double> / <double>;"
        "<double> / 7; <decimal> / <double>; round_even(<double>, 1); round_even(<double>, 2);"
        "<double> + <double>; <double> * <double>; -(<double>); abs(<double>); <integer> / <integer>; <decimal> / 3;"
        "round(<double>, 2); cast(<decimal> as double); (select avg(«n: <double1>) from sinks n where <condition1>»);"
        "(select sum(«n: <double1> order by <text0> desc) from sinks n where <condition1>»)"
    ),
    "heat": "<heat0>",
    "integers": (
        "list_concat(<integers>, <integers>); <integers> || <integers>; list_sort(<integers>);"
        "list_reverse(<integers>); list_distinct(<integers>); list_append(<integers>, coalesce(<integer0>, 0));"
        "[coalesce(<integer1>, 3)]; (select list(«n: <integer1> order by <text0>») from sinks n)"
    ),
    "texts": (
        "list_concat(<texts>, <texts>); list_sort(<texts>); list_distinct(<texts>); list_append(<texts>, $u);"
        "map_keys(map(list_distinct(<texts0>), list_distinct(<texts0>)));"
        "(select list(distinct «n: <text1>») from sinks n)"
    ),
    "boolean": "<condition>",
    "condition": (
        "(<condition> and <condition>); (<condition> or <condition>); (<condition> and <condition> and <condition>);"
        "not (<condition>); <boolean0>; <boolean>; <compared>; <compared>; <compared>;"
        "<integer> in (<integer0>, <integer0>); <text> not in (<text0>, <text0>, <text0>); <date> in (<date0>);"
        "<decimal> in (select «i: <decimal0> from sinks i where <condition1>»);"
        "<text> not in (select sink from plates);"
        "<integer> between <integer> and <integer>; <text> not between <text> and <text>;"
        "<date> between <date> and <date>;"
        "(<integer>) is null; (<text>) is not null; (<date>) is null; (<decimal>) is not null; (<condition>) is true;"
        "(<condition>) is not true; (<boolean0>) = (<condition>); <text> like '%a%'; <text> ilike 'É%';"
        "<text> like '_%'; <text> like <text0>; <text> ilike <text0>; <text> not ilike '%É_';"
        "<text> like '%' || $t || '%';"
        "contains(<text>, <text0>); starts_with(<text>, 'a'); ends_with(<text>, <text0>); trim(<text>) <> '';"
        "<decimal> in (<integer0>, 2.5, <decimal0>); <decimal> between 0 and <integer>; <date0> < '2025-03-01';"
        "<date0> in ('2024-02-29', <date0>); <timestamp> between <date0> and <timestamp0>; cast(<integer> as boolean);"
        "<text> not like $t; <heat0> = <heat0>; <heat0> is distinct from <text0>; <heat0> in ('low', 'off');"
        "list_contains(<integers>, <integer0>); list_contains(<texts>, <text0>); list_has_all(<integers>, <integers0>);"
        "list_has_any(<texts>, <texts0>); contains_all(<integers>, <integers0>); contains_all(<texts>, <texts0>);"
        "exists (select 1 from sinks q1 where «+q1: <condition1>»);"
        "not exists (select 1 from plates where seen > <integer0>);"
        "exists (select 1 from sinks q2 where «q2: <condition1> group by q2.heat having count(*) > 1»)"
    ),
    "compared": (
        "<integer> ? <integer>; <integer> ? <decimal>; <decimal> ? <decimal>; <decimal> ? <double>; <text> ? <text>;"
        "<date> ? <date>; <date> ? <timestamp>; <timestamp> ? <timestamp>; <boolean0> ? (<boolean0>);"
        "<double> ? <integer>"
    ),
}
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from")

SET = {
    "size": "integer", "price": "decimal", "rough": "decimal", "litres": "decimal", "tap": "text", "note": "text",
    "on_wall": "boolean", "built": "date", "checked": "timestamp", "factor": "double", "heat": "heat", "backup": "heat",
}  # fmt: skip
TOOLS = (
    ("R", "return <T3>;"),
    ("text", 'require <condition3> else "no: {<T1>} {<text1>}"; reply "yes: {<T1>} {<integer1>}";'),
    ("R", "if (<condition3>) { return <T2>; } else if (<condition2>) { return <T2>; } return <T1>;"),
    ("R", "let v = <T3>; return coalesce($v, <T1>);"),
    ("R", 'let v = <T3> else "none {<text1>}"; return $v;'),
    ("integer?", "let v = <integer3>; return $v * $v + $v;"),
    ("decimal(18, 6)?", "let v = <decimal3>; return -$v * 2 - $v;"),
    ("R", "let r = «sinks: select <T2> as v, sink from sinks where sink = <text1> and <condition2>»; return $r.v;"),
    ("R", "let r = «sinks: select <T2> as v from sinks where sink = $t and <condition2>» else \"none\"; return $r.v;"),
    ("{ v R, w boolean? }", "return select <T2> as v, <boolean2> as w;"),
    ("{ sink text, v R }[]", "return «n: select n.sink, <T2> as v from sinks n where <condition2> order by <text1>»;"),
    (
        "{ sink text, v R }[]",
        "return «n: select n.sink, <T2> as v from sinks n left join jobs o on o.sink = n.sink and o.due > $d "
        "where <condition2> order by <integer1> desc limit 2»;",
    ),
    ("{ n integer, v R }[]", "return «n: select count(*) as n, max(<T1>) as v from sinks n where <condition2>»;"),
    ("R", "update sinks set «sinks: <set> where <condition2>»; return <T2>;"),
    ("R", "let before = <T1>; update sinks set «sinks: <set> where sink = $sink»; return coalesce($before, <T1>);"),
    ("R", "update sinks set «sinks: <set> where sink = $t and <condition2>»; return <T1>;"),
    (
        "jobs",
        "let n = insert into jobs (sink, due, done, effort) values (<text1>, <date2>, <condition2>, <decimal2>)"
        " returning *; return $n;",
    ),
    (
        "integer?",
        "insert into plates (row_no, side, sink, spare, worth) «n: select <integer1>, left(n.sink, 1), <text1>, n.sink,"
        " <decimal2> from sinks n where <condition2>»; return (select sum(seen) from plates);",
    ),
    ("integer", "delete from jobs where job = $job and (<condition2>); return (select count(*) from jobs);"),
    ("integer", "delete from jobs where <condition2>; return (select count(*) from jobs);"),
)  # fmt: skip

TOOLS_OF_LISTS = tuple(tool for tool in TOOLS if "max(<T" not in tool[1])
"""DuckDB has no greatest list where none depends on the rows."""


def choices(text: str) -> list[str]:
    return [choice.strip() for choice in text.split(";")]


def _all_templates() -> Mapping[str, list[str]]:
    templates = {symbol: choices(text) for symbol, text in TEMPLATES.items()}
    for type_ in RETURNS:
        templates[type_].extend(choices(OF_ANY_TYPE.replace("T>", f"{type_}>")))
        if type_ not in ("heat", "boolean", *LISTS):
            templates[type_].extend(choices(OF_ORDERED_TYPES.replace("T>", f"{type_}>").replace("column", f"{type_}.")))
    return templates


ALL_TEMPLATES = _all_templates()


class Writer:
    """Writes tools; `aliases` are the names that rows of `sinks` have where an expression stands."""

    def __init__(self, seed: object) -> None:
        self.chance = random.Random(f"{seed}")
        self.aliases: list[str] = []

    def tool(self, name: str) -> str:
        """A tool of some kind; a few of them do not check."""
        type_ = self.chance.choice(list(RETURNS))
        returns, body = self.chance.choice(TOOLS if type_ not in LISTS else TOOLS_OF_LISTS)
        written = self._written(re.sub(r"<T(\d)>", rf"<{type_}\1>", body), 3)
        return f"tool {name}({PARAMETERS}) returns {returns.replace('R', RETURNS[type_])} {{\n  {written}\n}}\n"

    def _written(self, template: str, depth: int) -> str:
        """`template` with what its symbols stand for."""
        parts = re.split(r"«(\+?)(\w+): (.*?)»", template)
        text = self._filled(parts[0], depth)
        for also, alias, inner, after in zip(*[iter(parts[1:])] * 4, strict=True):
            outer, self.aliases = self.aliases, [alias, *(self.aliases if also else [])]
            text += self._filled(inner, depth)
            self.aliases = outer
            text += self._filled(after, depth)
        return text

    def _filled(self, template: str, depth: int) -> str:
        def one(match: re.Match[str]) -> str:
            symbol, limit = match[1], match[2]
            if symbol == "set":
                names = self.chance.sample(list(SET), self.chance.randint(1, 3))
                return ", ".join(f"{name} = {self._expression(SET[name], 2)}" for name in names)
            return self._expression(symbol, int(limit) if limit else depth - 1)

        return re.sub(r"<(\w+?\.?)(\d?)>", one, template)

    def _expression(self, symbol: str, depth: int) -> str:
        if symbol.endswith("."):
            return self._column(symbol[:-1])
        if symbol in LEAVES and (depth <= 0 or self.chance.random() < 0.15):
            return self._leaf(symbol)
        if symbol == "condition" and depth <= 0:
            symbol = "compared"
        template = self.chance.choice(ALL_TEMPLATES[symbol])
        if symbol == "compared":
            template = template.replace("?", self.chance.choice(COMPARISONS))
        return self._written(template, depth)

    def _leaf(self, type_: str) -> str:
        if self.aliases and type_ in COLUMNS and self.chance.random() < 0.5:
            return self._column(type_)
        return self.chance.choice(choices(LEAVES[type_]))

    def _column(self, type_: str) -> str:
        return f"{self.chance.choice(self.aliases)}.{self.chance.choice(choices(COLUMNS[type_]))}"


def kitchen_without_tools() -> str:
    """The kitchen sink's types, tables, functions and worlds."""
    text = re.sub(r"^(tool|rule|test|invariant|task) [\s\S]*?(?=^(?:\w|--)|\Z)", "", KITCHEN, flags=re.MULTILINE)
    return re.sub(r"^test [\s\S]*\Z", "", text, flags=re.MULTILINE)


def random_spec(seed: object, size: int) -> str:
    """A spec with at most `size` random tools: those that check."""
    writer, base = Writer(seed), kitchen_without_tools()
    tools = [writer.tool(f"t{number}") for number in range(size)]
    report = Report()
    check_source(Path("random.afs"), Source("random.afs", base + "".join(tools)), report)
    places = [diagnostic.primary.span.start for diagnostic in report if diagnostic.primary is not None]
    ends = itertools.accumulate(map(len, tools), initial=len(base))
    sound = [
        tool
        for tool, (start, end) in zip(tools, itertools.pairwise(ends), strict=True)
        if not any(start <= place < end for place in places)
    ]
    return base + "".join(sound)
