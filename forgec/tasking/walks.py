"""Sequences of calls: random walks over the tools, made for many drafts at once, each step in the state it leads to.

What a draft wants next is chosen by what was exercised least. Arguments are proposed, and all proposals of all drafts
are tried on copies of their episodes in one step of the runtime; so a walk respects every precondition.
Where a guard stands in the way, a tool that changes what the guard looks at may come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forgec.tasking.altering import alterations
from forgec.tasking.coverage import Coverage
from forgec.tasking.drafts import Draft, Move, Proposal
from forgec.tasking.ground import Ground
from forgec.tasking.guards import Guard, guard_of
from forgec.tasking.proposing import Rows, propose
from forgec_runtime.episode import Episode
from forgec_runtime.results import Result, json_able

TRIES = (1, 3, 6)
"""How many arguments are tried for what is wanted, for a refusal three times as many: more where these will not do."""


def walk(ground: Ground, rows: Rows, drafts: list[Draft], coverage: Coverage) -> None:
    """Let the drafts go on until each has what it wants, or finds no more."""
    while active := [draft for draft in drafts if draft.open]:
        wanted: list[_Wanted] = []
        for draft in active:
            draft.rounds += 1
            if not draft.wish:
                _wish(ground, draft, coverage)
            if draft.wish:
                name, guard = draft.wish[-1]
                draft.tried[guard.name if guard is not None else name] += 1
                wanted.append(_Wanted(draft, name, guard))
        missed = wanted
        for tries in TRIES:
            missed = _missed(ground, rows, missed, tries)
        for miss in missed:
            miss.draft.wish.pop()
        altered = _altered(ground, missed)
        for miss in missed:
            if miss.draft.number not in altered:
                _miss(ground, miss)


def attempt(ground: Ground, tries: Iterable[tuple[Episode, Proposal]]) -> list[Result]:
    """Make calls, each in its episode, as whoever the tool belongs to."""
    calls = [(episode, p.tool, {n: json_able(v) for n, v in p.arguments.items()}) for episode, p in tries]
    return ground.env.step(calls, by=None)


def _wish(ground: Ground, draft: Draft, coverage: Coverage) -> None:
    chance = draft.chance
    entries = [name for name in ground.entries if not any(move.tool == name for move in draft.moves)]
    if ground.entries and len(entries) == len(ground.entries):
        draft.wish.append((chance.choice(entries), None))
        return
    kinds = ["write"] * draft.writes + ["look"] * draft.looks + ["refuse"] * draft.refusals
    first = draft.refusals and not any(move.tool not in ground.entries for move in draft.moves)
    kind = "refuse" if first and chance.random() < 0.7 else chance.choice(kinds)
    if kind == "refuse":
        guards = [
            guard for name in ground.refusable for guard in ground.guards[name] if guard.name not in draft.failed
        ]  # fmt: skip
        if not guards:
            draft.refusals = 0
            return
        (guard,) = chance.choices(guards, [coverage.guard_weight(guard) for guard in guards])
        draft.wish.append((guard.tool, guard))
        return
    names = [name for name in (ground.goals if kind == "write" else ground.asked) if name not in draft.failed]
    if not names:
        if kind == "write":
            draft.writes = 0
        else:
            draft.looks = 0
        return
    weights = [coverage.weight(name) * (0.3 if ground.spec.tools[name].side == "user" else 1) for name in names]
    (name,) = chance.choices(names, weights)
    draft.wish.append((name, None))


@dataclass
class _Wanted:
    """What a draft wants: a call, or a refusal by a guard. `proposals` were tried, `refusals` stood in the way."""

    draft: Draft
    tool: str
    guard: Guard | None
    proposals: dict[str, Proposal] = field(default_factory=dict)
    refusals: list[Guard] = field(default_factory=list)

    def more(self, ground: Ground, rows: Rows, count: int) -> list[Proposal]:
        """Up to so many proposals with other arguments, but none that would only do again what was done."""
        known, tool = len(self.proposals), ground.spec.tools[self.tool]
        for _ in range(count if self.guard is None else 3 * count):
            made = propose(ground, rows, self.draft, tool)
            if made is not None and not _repeats(ground, self.draft, made):
                self.proposals.setdefault(repr(sorted(made.arguments.items())), made)
        return list(self.proposals.values())[known:]


def _missed(ground: Ground, rows: Rows, wanted: list[_Wanted], count: int) -> list[_Wanted]:
    """Try so many proposals for each, all at once, and take the first that is what its draft wants; those drafts that
    did not get it.
    """
    tries = [[(one.draft.episode.fork(), proposal) for proposal in one.more(ground, rows, count)] for one in wanted]
    results = iter(attempt(ground, (made for of_draft in tries for made in of_draft)))
    answered = [[(proposal, fork, next(results)) for fork, proposal in of_draft] for of_draft in tries]
    return [one for one, answers in zip(wanted, answered, strict=True) if not _take(ground, one, answers)]


def _take(ground: Ground, wanted: _Wanted, answers: list[tuple[Proposal, Episode, Result]]) -> bool:
    """Whether one of the answers is what the draft wants; the first is taken."""
    draft, guard = wanted.draft, wanted.guard
    for proposal, fork, result in answers:
        if result.ok and len(fork.broken_rules) > len(draft.episode.broken_rules):
            rules = fork.broken_rules[len(draft.episode.broken_rules) :]
            if guard is not None and guard.kind == "audited" and rules == [guard.rule]:
                _asked_in_vain(draft, proposal, guard, result.value)
                return True
        elif result.ok:
            if guard is None and _is_new(ground, draft, proposal.tool, fork, result.value):
                _make(ground, draft, proposal, fork, result.value)
                return True
        elif result.kind == "refused":
            found = guard_of(result.text, ground.guards[wanted.tool])
            if found is not None:
                wanted.refusals.append(found)
                if found is guard:
                    _asked_in_vain(draft, proposal, guard, result.text)
                    return True
    return False


def _altered(ground: Ground, missed: Iterable[_Wanted]) -> set[int]:
    """Change the worlds of drafts that have only begun so that their guards stand in the way; the numbers of those for
    which that is done.
    """
    wanted = [
        (one.draft, one.guard, list(one.proposals.values())[:6])
        for one in missed
        if one.guard is not None and not one.draft.moves
    ]
    found = alterations(ground, wanted)
    for (draft, _, _), choices in zip(wanted, found, strict=True):
        draft.chance.shuffle(choices)
    forks = [[one.episode.fork() for one in choices] for choices in found]
    tries = (
        (fork, one.proposal)
        for choices, of_draft in zip(found, forks, strict=True)
        for one, fork in zip(choices, of_draft, strict=True)
    )
    results = iter(attempt(ground, tries))
    done: set[int] = set()
    for (draft, guard, _), choices, of_draft in zip(wanted, found, forks, strict=True):
        for one, fork, result in [(one, fork, next(results)) for one, fork in zip(choices, of_draft, strict=True)]:
            refused = result.kind == "refused" and guard_of(result.text, ground.guards[guard.tool]) is guard
            if refused or (result.ok and guard.kind == "audited" and fork.broken_rules == [guard.rule]):
                draft.start = draft.episode = one.episode
                draft.change, draft.altered = [one.sql], frozenset({one.table})
                draft.wish.append((guard.tool, guard))
                _asked_in_vain(draft, one.proposal, guard, result.value)
                done.add(draft.number)
                break
    return done


def _miss(ground: Ground, miss: _Wanted) -> None:
    """What was wanted is not to be had as things are."""
    what = miss.guard.name if miss.guard is not None else miss.tool
    miss.draft.failed[what] = miss.draft.failed.get(what, 0) + 1
    _open_the_way(ground, miss.draft, miss.tool, miss.guard, miss.refusals)


def _open_the_way(ground: Ground, draft: Draft, name: str, guard: Guard | None, refusals: list[Guard]) -> None:
    """What was wanted comes after something that changes what stood in the way."""
    if len(draft.wish) > 1 or not refusals:
        return
    other = draft.chance.choice(refusals)
    if guard is not None and other.kind != "rule":
        return
    reads = ground.rule_reads(other.rule, name) if other.rule else ground.reads[name]
    inside = any(move.tool in ground.entries for move in draft.moves)
    pool = ground.goals if inside else [way for way in ground.writers if way not in ground.entries]
    ways = [way for way in pool if way != name and ground.writes[way] & reads]
    if ways:
        draft.failed.pop(guard.name if guard is not None else name, None)
        draft.failed[f"way to {name}"] = draft.failed.get(f"way to {name}", 0) + 1
        if draft.failed[f"way to {name}"] > 3:
            return
        draft.wish += [(name, guard), (draft.chance.choice(ways), None)]


def _make(ground: Ground, draft: Draft, proposal: Proposal, fork: Episode, value: Any) -> None:
    draft.wish.pop()
    opens = bool(draft.wish) or proposal.tool in ground.entries
    draft.person = proposal.person
    draft.moves.append(Move(proposal, draft.episode, value, opens=opens))
    draft.episode = fork
    if ground.writes[proposal.tool]:
        draft.failed.clear()
        draft.writes = max(draft.writes - (not opens), 0)
    else:
        draft.looks = max(draft.looks - 1, 0)


def _asked_in_vain(draft: Draft, proposal: Proposal, guard: Guard, value: Any) -> None:
    draft.wish.pop()
    draft.person = proposal.person
    draft.moves.append(Move(proposal, draft.episode, value, guard))
    draft.refusals -= 1


def _is_new(ground: Ground, draft: Draft, tool: str, fork: Episode, value: Any) -> bool:
    if isinstance(value, Mapping) and value.get("success") is False:
        return False
    return not ground.writes[tool] or fork.changes() != draft.episode.changes()


def _repeats(ground: Ground, draft: Draft, proposal: Proposal) -> bool:
    """Whether this does again, or undoes, what was done to the same rows."""
    mine = _rows_of(ground, proposal)
    for move in draft.moves:
        if _rows_of(ground, move.proposal) == mine and (
            move.tool == proposal.tool or (mine and ground.columns[move.tool] & ground.columns[proposal.tool])
        ):
            return True
    return False


def _rows_of(ground: Ground, proposal: Proposal) -> set[tuple[str, Any]]:
    tool = ground.spec.tools[proposal.tool]
    return {
        (p.references, proposal.arguments[p.name])
        for p in tool.parameters
        if p.references and p.references != ground.people.table and p.name in proposal.arguments
    }
