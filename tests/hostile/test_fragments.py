"""Whatever SQL can reach, loop, guess or blow up is refused wherever a spec may say SQL, with a place and in time."""

import time

import pytest

from tests.hostile.desk import HEAD, TAIL, Verdict, judge
from tests.hostile.fragments import GROUPS, UNCLOSED

PLACES = {
    "guard": 'tool guard_%i() { require (%s) is not null else "no"; }',
    "if": 'tool if_%i() { if ((%s) is null) { fail "x"; } }',
    "let": "tool let_%i() { let v = %s; }",
    "lets": "tool lets_%i() { let v[] = %s; }",
    "hole": 'tool hole_%i() { fail "a {%s} b"; }',
    "return": "tool return_%i() returns text? { return %s; }",
    "item": "tool item_%i() { let v = select %s as x from accounts where id = 'A1'; }",
    "where": "tool where_%i() { let v = select id from accounts where (%s) is not null; }",
    "set": "tool set_%i() { update accounts set owner = %s where id = 'A1'; }",
    "delete": "tool delete_%i() { delete from notes where (%s) is null; }",
    "insert": "tool insert_%i() { insert into accounts (id, owner) values (%s, 'x'); }",
    "argument default": "tool param_%i(x text default (%s)) { }",
    "type": "type Type%i = text check ((%s) is not null);",
    "when": "table when_%i { id text key, a integer? when ((%s) is not null) }",
    "view": "view view_%i = select %s as x;",
    "function": "function function_%i() returns text = %s;",
    "check": "table check_%i { id text key, a integer? check ((%s) is not null) }",
    "default": "table default_%i { id text key, a text default (%s) }",
    "invariant": "invariant invariant_%i: (%s) is not null;",
    "rule": 'rule rule_%i audited on fine "x": (%s) is not null;',
    "world": "world world_%i { accounts (id, owner, box) values ('A1', %s, null); }",
    "expect": 'test "expect %i" on w { expect (%s) is not null; }',
    "argument": 'test "argument %i" on w { fine(a: %s); }',
    "outcome": "test \"outcome %i\" on w { fine(a: 'x') returns %s; }",
    "fact": 'task fact_%i on w { intent "x" fact f = %s; plan { s = fine(a: $f); } }',
    "plan": 'task plan_%i on w { intent "x" plan { s = fine(a: %s); } }',
    "reason": 'task reason_%i on w { intent "x" plan { reason r = %s; s = fine(a: $r); } }',
    "task's expect": 'task expect_%i on w { intent "x" plan { s = fine(); } expect (%s) is not null; }',
    "says": 'task says_%i on w { intent "x" plan { s = fine(); } says "x": %s; }',
}


def put(place: str, number: int, fragment: str) -> str:
    return PLACES[place].replace("%i", str(number)).replace("%s", fragment) + "\n"


def everywhere(fragments: tuple[str, ...]) -> tuple[str, dict[tuple[str, str], tuple[int, int]]]:
    """A spec with each fragment in each place, and from where to where each stands."""
    text, spans = HEAD + TAIL, {}
    for place in PLACES:
        for number, fragment in enumerate(fragments):
            piece = put(place, number, fragment)
            spans[place, fragment] = (len(text), len(text) + len(piece))
            text += piece
    return text, spans


@pytest.mark.parametrize("fragment", ["'x'", "lower(coalesce(null, 'X'))"])
def test_a_harmless_fragment_may_stand_in_each_place(fragment: str) -> None:
    places = {place: put(place, 0, fragment) for place in PLACES if place != "lets"}
    assert judge(HEAD + TAIL + "".join(places.values())).shown == ""
    assert judge(HEAD + TAIL + put("lets", 0, "select id from accounts")).shown == ""


@pytest.mark.parametrize("group", GROUPS)
def test_hostile_fragments_are_refused_in_each_place(group: str) -> None:
    text, spans = everywhere(GROUPS[group])
    verdict = judge(text)
    accepted = [where for where, span in spans.items() if not verdict.says_something_within(*span)]
    assert accepted == []


@pytest.mark.parametrize("fragment", [fragment for fragments in GROUPS.values() for fragment in fragments[::7]])
def test_a_hostile_fragment_is_refused_alone_and_in_time(fragment: str) -> None:
    started = time.process_time()
    assert judge(HEAD + TAIL + put("let", 0, fragment)).failed
    assert time.process_time() - started < 5


@pytest.mark.parametrize("fragment", UNCLOSED)
@pytest.mark.parametrize("place", ["let", "hole", "check", "world", "plan"])
def test_what_is_never_closed_swallows_nothing_in_silence(fragment: str, place: str) -> None:
    assert judge(HEAD + put(place, 0, fragment) + TAIL).failed


def clock(value: str) -> Verdict:
    return judge(HEAD.replace("timestamp '2025-01-01 09:00:00'", value) + TAIL)


def test_a_clock_is_a_constant() -> None:
    assert not clock("timestamp '2026-07-01 00:00:00'").failed
    for group in ("files", "metadata", "chance", "bombs", "names"):
        for fragment in GROUPS[group][::3]:
            assert clock(fragment).failed, fragment
    for fragment in ("now()", "today()", "null", "'x'", "cast('now' as timestamp)", "(select max(id) from accounts)"):
        assert clock(fragment).failed, fragment


def test_there_are_many_fragments() -> None:
    assert sum(map(len, GROUPS.values())) > 300
