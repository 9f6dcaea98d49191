"""`forgec certify` and its lock, as their users meet them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from forgec import certifying
from forgec.alone import alone
from forgec.certifying import FreshProcess, Verdict, batches
from forgec.certifying.lock import (
    Certified,
    LockError,
    Stale,
    Uncertified,
    lock_path,
    read,
    require_certified,
    status,
)
from forgec.commands.environments import compiled
from forgec.pipeline import check
from forgec_runtime import Environment, LoadError, Task
from tests.test_commands import invoke

SPEC = """
environment shelf "A shelf of jars" {}

table jars { jar_id text key, label text, spoons integer default 0 check (spoons >= 0) }

tool jar_called(label text) returns jars "Find a jar by what is written on it." {
  let j = select * from jars where label = $label else "No jar is called {$label}";
  return $j;
}

tool fill(jar_id -> jars, spoons integer) returns integer "Put spoons of something into a jar." {
  require $spoons > 0 else "Nothing was put in";
  update jars set spoons = spoons + $spoons where jar_id = $jar_id;
  return jars[$jar_id].spoons;
}

world kitchen { jars (jar_id, label, spoons) values ('J1', 'salt', 3), ('J2', 'sugar', 5); }
world cellar { jars (jar_id, label, spoons) values ('J1', 'salt', 8); }

task more_salt on kitchen {
  intent "You want salt put into its jar.";
  fact label "which jar" = 'salt';
  fact spoons "how much" = 2;
  plan { jar = jar_called(label: $label); more = fill(jar_id: $jar.jar_id, spoons: $spoons); }
}

task how_much_salt on cellar {
  intent "You want to know how much salt there is.";
  fact label "which jar" = 'salt';
  plan { jar = jar_called(label: $label); }
  says "how much": $jar.spoons;
}
"""
UNKNOWABLE = """
task a_jar_by_number on kitchen {
  intent "You want 2 spoons put into the jar.";
  plan { more = fill(jar_id: 'J2', spoons: 2); }
}
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "shelf.afs"
    path.write_text(SPEC, encoding="utf-8")
    return path


def lock_of(spec: Path) -> Path:
    return lock_path(spec.parent, "shelf")


def lines(spec: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in lock_of(spec).read_text(encoding="utf-8").splitlines()]


def change(spec: Path, old: str, new: str) -> None:
    text = spec.read_text(encoding="utf-8")
    assert old in text
    spec.write_text(text.replace(old, new), encoding="utf-8")


def test_a_lock_is_sorted_and_complete(spec: Path) -> None:
    result = invoke("certify", str(spec))
    assert result.exit_code == 0, result.output
    assert "2 of 2 certified" in result.output
    found = lines(spec)
    assert [line["task"] for line in found] == ["how_much_salt", "more_salt"]
    for line in found:
        assert list(line) == sorted(line)
        assert line["certified"] is True
        assert line["digest"]


def test_the_same_spec_gives_the_same_bytes(spec: Path) -> None:
    invoke("certify", str(spec))
    first = lock_of(spec).read_bytes()
    invoke("certify", str(spec), "--all")
    assert lock_of(spec).read_bytes() == first
    lock_of(spec).unlink()
    command = [sys.executable, "-m", "forgec", "certify", str(spec)]
    subprocess.run(command, check=True, env={"PYTHONHASHSEED": "77", "PATH": ""}, capture_output=True)
    assert lock_of(spec).read_bytes() == first


def test_a_task_that_fails_is_explained(spec: Path) -> None:
    spec.write_text(SPEC + UNKNOWABLE, encoding="utf-8")
    result = invoke("certify", str(spec))
    assert result.exit_code == 1
    assert "not certified: closure" in result.output
    assert '"J2" is no fact' in result.output
    assert "hint:" in result.output
    assert invoke("certify", str(spec), "--check").exit_code == 1
    assert invoke("certify", str(spec), "--task", "more_salt").exit_code == 0


def test_only_what_changed_is_certified_again(spec: Path) -> None:
    invoke("certify", str(spec))
    before = {str(line["task"]): line for line in lines(spec)}
    mark = '"digest": "'
    lock = lock_of(spec)
    lock.write_text(lock.read_text(encoding="utf-8").replace(mark, mark + "kept"), encoding="utf-8")
    change(spec, "'salt', 8", "'salt', 9")
    assert invoke("certify", str(spec)).exit_code == 0
    after = {str(line["task"]): line for line in lines(spec)}
    assert after["more_salt"]["digest"] == f"kept{before['more_salt']['digest']}"
    assert after["how_much_salt"]["digest"] != f"kept{before['how_much_salt']['digest']}"
    assert invoke("certify", str(spec), "--check").exit_code == 0
    result = invoke("certify", str(spec), "--check", "--all")
    assert result.exit_code == 1
    assert "more_salt: the lock says something else" in result.output


def test_check_writes_nothing_and_says_what_changed(spec: Path) -> None:
    assert invoke("certify", str(spec), "--check").exit_code == 1
    assert not lock_of(spec).exists()
    invoke("certify", str(spec))
    for old, new, part in (
        ("'salt', 8", "'salt', 9", "world"),
        ("You want salt put", "You want some salt put", "task"),
        ("Nothing was put in", "Nothing is put in", "environment"),
        ("label text,", "label text unscored,", "grading"),
    ):
        change(spec, old, new)
        result = invoke("certify", str(spec), "--check")
        assert result.exit_code == 1
        assert f"{part} changed" in result.output
        assert invoke("certify", str(spec)).exit_code in (0, 1)


def test_tasks_that_are_gone_leave_the_lock(spec: Path) -> None:
    spec.write_text(SPEC + UNKNOWABLE, encoding="utf-8")
    invoke("certify", str(spec))
    spec.write_text(SPEC, encoding="utf-8")
    assert invoke("certify", str(spec), "--check").exit_code == 1
    assert invoke("certify", str(spec)).exit_code == 0
    assert [line["task"] for line in lines(spec)] == ["how_much_salt", "more_salt"]


def test_as_json(spec: Path) -> None:
    result = invoke("certify", str(spec), "--json")
    rows = json.loads(result.stdout)
    assert {(row["task"], row["status"]) for row in rows} == {
        ("more_salt", "certified"),
        ("how_much_salt", "certified"),
    }
    assert rows[0]["verdict"]["checks"]["gold"]["passed"]


@pytest.mark.parametrize("damage", ["{", "[]", '{"task": "x"}', "\xff", '{"task":"a","world":"b","checks":3}'])
def test_a_damaged_lock_is_reported_and_can_be_written_anew(spec: Path, damage: str) -> None:
    lock_of(spec).write_bytes(damage.encode("latin-1"))
    result = invoke("certify", str(spec))
    assert result.exit_code == 2
    assert "no line of a lock" in result.output
    assert invoke("certify", str(spec), "--all").exit_code == 0


def test_a_lock_that_counts_something_else_is_damaged(spec: Path) -> None:
    invoke("certify", str(spec))
    change(lock_of(spec), '"unpaid"', '"unheard"')
    result = invoke("certify", str(spec))
    assert result.exit_code == 2 and "no line of a lock" in result.output


def test_a_write_that_nobody_compares_is_counted_apart(spec: Path) -> None:
    change(spec, "(spoons >= 0) }", "(spoons >= 0), looked integer default 0 unscored }")
    tool = 'tool look_into(jar_id -> jars) returns integer "Look into a jar." {'
    body = "update jars set looked = looked + 1 where jar_id = $jar_id; return jars[$jar_id].spoons;"
    change(spec, "world kitchen", f"{tool} {body} }}\n\nworld kitchen")
    result = invoke("certify", str(spec))
    assert result.exit_code == 0, result.output
    assert "0 paid all the same; 2 change nothing that is compared" in result.output
    added = read(lock_of(spec))["more_salt"].kills["a write added"]
    assert (added.paid, added.same, added.unpaid) == (0, 1, 1) and added.rate == 1.0


def test_a_task_that_is_not_there(spec: Path) -> None:
    result = invoke("certify", str(spec), "--task", "more_slat")
    assert result.exit_code == 2
    assert "did you mean `more_salt`?" in result.output


def test_a_spec_without_tasks(spec: Path) -> None:
    spec.write_text(SPEC.partition("task more_salt")[0], encoding="utf-8")
    result = invoke("certify", str(spec))
    assert result.exit_code == 0, result.output
    assert "0 of 0 certified" in result.output


def test_what_others_ask_a_lock(spec: Path) -> None:
    spec.write_text(SPEC + UNKNOWABLE, encoding="utf-8")
    assert read(lock_of(spec)) == {}
    invoke("certify", str(spec))
    lock = read(lock_of(spec))
    checked = check(spec)
    assert checked.spec is not None
    with compiled(checked.spec) as environment:
        assert environment.hashes is not None
        assert status(lock, environment.hashes, "more_salt") == Certified()
        assert status(lock, environment.hashes, "a_jar_by_number") == Uncertified(("closure",))
        assert status(lock, environment.hashes, "another") == Uncertified()
        assert status({}, environment.hashes, "more_salt") == Uncertified()
        require_certified(lock, environment.hashes, ["more_salt", "how_much_salt"])
        with pytest.raises(LockError, match="a_jar_by_number is not certified: closure"):
            require_certified(lock, environment.hashes, environment.tasks)
    change(spec, "Nothing was put in", "Nothing is put in")
    again = check(spec)
    assert again.spec is not None
    with compiled(again.spec) as environment:
        assert environment.hashes is not None
        assert status(lock, environment.hashes, "more_salt") == Stale(("environment",))


def test_run_marks_what_is_not_certified(spec: Path) -> None:
    spec.write_text(SPEC + UNKNOWABLE, encoding="utf-8")
    invoke("compile", str(spec))
    assert "not certified, for want of a lock: shelf" in invoke("run", "shelf").output
    assert {row["certified"] for row in json.loads(invoke("run", "shelf", "--json").stdout)} == {None}
    invoke("certify", str(spec))
    result = invoke("run", "shelf")
    assert "not certified: closure" in result.output
    assert result.output.count("certified") == 1
    change(spec, "'salt', 8", "'salt', 9")
    invoke("compile", str(spec))
    for named in ("shelf", str(spec)):
        assert "stale: world changed" in invoke("run", named).output
        found = {row["task"]: row for row in json.loads(invoke("run", named, "--json").stdout)}
        assert {name: row["certified"] for name, row in found.items()} == {
            "more_salt": "certified",
            "how_much_salt": "stale",
            "a_jar_by_number": "uncertified",
        }
        assert found["how_much_salt"]["changed"] == ["world"]


def test_run_marks_dialogues(spec: Path) -> None:
    spec.write_text(SPEC + UNKNOWABLE, encoding="utf-8")
    invoke("certify", str(spec))
    invoke("run", str(spec), "--user", "scripted", "--out", "played.jsonl")
    found = [json.loads(line) for line in Path("played.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {one["task"]: one["certified"] for one in found} == {
        "more_salt": "certified",
        "how_much_salt": "certified",
        "a_jar_by_number": "uncertified",
    }


def test_run_with_a_lock_of_its_own(spec: Path, tmp_path: Path) -> None:
    invoke("certify", str(spec))
    lock_of(spec).rename(tmp_path / "elsewhere.jsonl")
    rows = json.loads(invoke("run", str(spec), "--lock", "elsewhere.jsonl", "--json").stdout)
    assert {row["certified"] for row in rows} == {"certified"}
    assert invoke("run", str(spec), "--lock", "nowhere.jsonl").exit_code == 2


def test_what_is_done_is_kept_when_the_run_is_cut_short(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []

    def certify(environment: Environment, tasks: list[Task], process: FreshProcess) -> list[Verdict]:
        if len(played) == 1:
            raise KeyboardInterrupt
        played.extend(task.name for task in tasks)
        return certifying.certify(environment, tasks, process)

    monkeypatch.setattr(batches, "SIZE", 1)
    monkeypatch.setattr(batches, "certify", certify)
    assert invoke("certify", str(spec)).exit_code == 1
    assert [line["task"] for line in lines(spec)] == played == ["more_salt"]
    monkeypatch.undo()
    monkeypatch.chdir(spec.parent)
    result = invoke("certify", str(spec))
    assert "2 of 2 certified" in result.output
    assert len(lines(spec)) == 2


def test_one_run_certifies_the_tasks_of_a_spec_at_a_time(spec: Path) -> None:
    with alone(spec):
        result = invoke("certify", str(spec))
        assert result.exit_code == 2 and "another run is certifying the tasks of" in result.output
        assert not lock_of(spec).exists()
        assert "not certified" in invoke("certify", str(spec), "--check").output  # which writes nothing
    assert invoke("certify", str(spec)).exit_code == 0


def test_a_process_that_dies(spec: Path) -> None:
    checked = check(spec)
    assert checked.spec is not None
    with compiled(checked.spec) as environment, FreshProcess(environment) as process:
        assert process.digests([(environment.tasks["more_salt"], 0)])
        process.stop()
        with pytest.raises(LoadError, match="has died"):
            process.digests([(environment.tasks["more_salt"], 0)])
