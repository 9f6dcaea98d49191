"""Plans without one of their calls."""

from __future__ import annotations

from collections.abc import Iterator

from forgec.certifying.perturbing.mutant import LEFT, Mutant, known_before
from forgec.certifying.replay import Run, has_written
from forgec.certifying.trial import Trial


def left_out(trial: Trial, gold: Run) -> Iterator[Mutant]:
    """The plan without each of its calls. What a call that only looks would have told is not known then, so that what
    reads it is left out, too; what one that writes would have told an agent may guess.
    """
    for call, before, after in gold.stages():
        known = known_before(gold, call.node)
        wrote = has_written(before, after)
        if wrote:
            known[call.node] = gold.values[call.node]
        rest = gold.graph.after(call.node)
        run = Run(before.fork(), trial.task, gold.graph, known, rest, lost=() if wrote else [call.node])
        words, places = f"without {call.node} = ", (before, after) if wrote else None
        yield Mutant(LEFT, words, call.tool, call.arguments, gold, run, places)
