"""Damaged inputs, a bounded number of each kind: `make fuzz` reads more."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgec_runtime.limits import MAX_RESULT
from forgec_runtime.wire import pack, unpack
from tests.hostile.fuzzing import TARGETS, corpus, fuzz, library

INPUTS = {
    "parse": 400, "check": 40, "format": 100, "tasks": 400, "rows": 800, "parquet": 60, "vetting": 300,
    "snapshots": 800, "wire": 800, "calls": 150,
}  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize("target", TARGETS)
def test_damaged_inputs_are_told_so(target: str) -> None:
    assert corpus(target)
    fuzz(target, "ci", INPUTS[target])


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_arguments_of_any_shape_are_answered(data: st.DataObject) -> None:
    env = library()
    tool = data.draw(st.sampled_from(sorted(env.tools)))
    names = st.sampled_from([parameter.name for parameter in env.tools[tool].parameters] or ["x"]) | st.text(
        max_size=10
    )
    arguments: dict[str, Any] = data.draw(st.dictionaries(names, VALUES, max_size=5))
    episode = env.reset(next(iter(env.worlds)))
    for given_ in (arguments, json.dumps(arguments)):
        result = env.step([(episode, tool, given_)])[0]
        assert result.kind in ("ok", "refused", "invalid")
        assert len(result.text) <= MAX_RESULT
        assert result.ok or episode.changes() == {}


@given(st.lists(VALUES | st.binary(max_size=20), max_size=4))
@settings(max_examples=150, deadline=None)
def test_messages_arrive_as_they_were_sent(message: list[Any]) -> None:
    assert repr(unpack(pack(message))) == repr(message)
