"""`forgec export nemo-gym`: what is written, that its rewards are right where it is played, and what is refused."""

from __future__ import annotations

import ast
import asyncio
import hashlib
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.exporting.writing import RECORD
from forgec.serving.gym.fixtures import opened, replayed, seeded
from forgec.serving.gym.service import Problem
from tests.serving.playing import GENERATED, lines

SPEC = """
environment kiosk "A kiosk: it's \\"open\\"." {{ clock timestamp '2025-03-01 09:00:00'; }}
table guests "Guests" {{ guest_id text key, name text, }}
tool {tool}(guest_id -> guests, name text) "Change a name." {{
  update guests set name = $name where guest_id = $guest_id;
}}
world day {{ guests (guest_id, name) values ('G1', 'Ada'), ('G2', 'Bo'); }}
task rename on day {{
  tags {tag};
  intent "You are a guest and want to be called Eve from now on.";
  fact guest "your guest number" = 'G1';
  plan {{ done = {tool}(guest_id: $guest, name: 'Eve'); }}
}}
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(forgec, ["export", "nemo-gym", *map(str, arguments)])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "gym"
    done = run(GENERATED / "library", GENERATED / "phone", "--out", folder, "--task", "*the*,text_*")
    assert done.exit_code == 0, done.output
    return folder


def test_what_an_environment_comes_to(project: Path) -> None:
    server = project / "resources_servers" / "forgec_library"
    assert (server / "package" / "library" / "__init__.py").read_bytes() == (
        GENERATED / "library" / "__init__.py"
    ).read_bytes()
    config = yaml.safe_load((server / "configs" / "forgec_library.yaml").read_text())
    assert config["library_resources_server"]["resources_servers"]["forgec_library"]["user"] == "scripted"
    agent = config["library_agent"]["responses_api_agents"]["forgec_agent"]
    assert agent["resources_server"]["name"] == "library_resources_server"
    assert {data["name"] for data in agent["datasets"]} == {"train", "example"}
    manifest = yaml.safe_load((project / "environments" / "forgec_library" / "manifest.yaml").read_text())
    assert manifest["resources_server"] == "forgec_library"
    rows = lines(server / "data" / "train.jsonl")
    assert {row["agent_ref"]["name"] for row in rows} == {"library_agent"}
    assert [item["role"] for item in rows[0]["responses_create_params"]["input"]] == ["system"]
    assert {tool["name"] for tool in rows[0]["responses_create_params"]["tools"]} >= {"find_member", "lend_book"}
    assert "plan" not in json.dumps(rows[0])
    for path in project.rglob("app.py"):
        ast.parse(path.read_text())


@pytest.mark.parametrize("name", ["library", "phone"])
def test_the_cases_of_the_verifier_hold(project: Path, name: str) -> None:
    """What NeMo Gym does with them, in this process."""
    server = project / "resources_servers" / f"forgec_{name}"
    cases = lines(server / "tests" / "verifier_cases.jsonl")
    assert {case["kind"] for case in cases} == {"full_reward", "zero_reward", "determinism", "malformed"}

    async def reward(case: dict[str, object]) -> float:
        service = opened(server / "package" / name)
        if case["kind"] == "determinism":
            await seeded(service, case["request"])  # type: ignore[arg-type]
        found: float = (await replayed(service, case["request"]))["reward"]  # type: ignore[arg-type]
        return found

    for case in cases:
        if case["kind"] == "malformed":
            with pytest.raises(Problem, match=case["expected_error"]):
                asyncio.run(reward(case))
        else:
            assert asyncio.run(reward(case)) == case["expected_reward"], case["name"]


def test_the_same_again_writes_nothing_and_changes_are_kept(project: Path) -> None:
    arguments = (GENERATED / "library", GENERATED / "phone", "--out", project, "--task", "*the*,text_*")
    assert json.loads(run(*arguments, "--json").output)["written"] == []
    changed = project / "resources_servers" / "forgec_library" / "app.py"
    before = changed.read_text()
    changed.write_text(before + "# mine\n")
    refused = run(*arguments)
    assert refused.exit_code == 2 and "app.py was changed, or is another's; --force" in refused.output
    assert json.loads(run(*arguments, "--json", "--force").output)["written"] == [
        "resources_servers/forgec_library/app.py"
    ]
    assert changed.read_text() == before


def test_users_that_tell_everything_open_in_the_rows(tmp_path: Path) -> None:
    task = "settle_the_overdue"
    done = run(GENERATED / "library", "--out", tmp_path, "--user", "briefed", "--task", task, "--validation", task)
    assert done.exit_code == 0, done.output
    server = tmp_path / "resources_servers" / "forgec_library"
    (row,) = lines(server / "data" / "validation.jsonl")
    assert not (server / "data" / "train.jsonl").exists()
    for case in lines(server / "tests" / "verifier_cases.jsonl"):
        if case["kind"] != "malformed":
            service = opened(server / "package" / "library", user="briefed")
            assert asyncio.run(replayed(service, case["request"]))["reward"] == case["expected_reward"]
    assert "What you know:" in row["responses_create_params"]["input"][1]["content"]


def _spec(folder: Path, tool: str = "rename", tag: str = "test") -> Path:
    (folder / "kiosk.afs").write_text(SPEC.format(tool=tool, tag=tag))
    return folder / "kiosk.afs"


def test_tasks_that_are_not_certified_or_were_otherwise_are_refused(tmp_path: Path) -> None:
    spec, out = _spec(tmp_path), tmp_path / "out"
    refused = run(spec, "--out", out)
    assert refused.exit_code == 1 and "kiosk/rename is not certified" in refused.output
    assert CliRunner().invoke(forgec, ["certify", str(spec)]).exit_code == 0
    assert run(spec, "--out", out).exit_code == 0
    spec.write_text(spec.read_text().replace("'Ada'", "'Ann'"))
    stale = run(spec, "--out", tmp_path / "other")
    assert stale.exit_code == 1 and "kiosk/rename is stale: world changed" in stale.output
    assert not (tmp_path / "other").exists()
    data = out / "resources_servers" / "forgec_kiosk" / "data"
    assert sorted(path.name for path in data.iterdir()) == ["example.jsonl", "validation.jsonl"]


def test_what_was_made_is_made_anew_and_what_is_no_more_is_taken_away(tmp_path: Path) -> None:
    spec, out = _spec(tmp_path), tmp_path / "out"
    assert CliRunner().invoke(forgec, ["certify", str(spec)]).exit_code == 0
    assert run(spec, "--out", out).exit_code == 0
    assert run(GENERATED / "library", "--out", out, "--task", "settle_the_overdue").exit_code == 0
    server = out / "resources_servers" / "forgec_kiosk"
    mine = server / "notes.txt"
    mine.write_text("mine")
    _spec(tmp_path, tool="call_name", tag="train")
    assert CliRunner().invoke(forgec, ["certify", str(spec)]).exit_code == 0
    done = json.loads(run(spec, "--out", out, "--json").output)
    inside = "resources_servers/forgec_kiosk"
    assert done["removed"] == [f"{inside}/data/validation.jsonl", f"{inside}/package/kiosk/tools/rename.py"]
    assert sorted(path.name for path in (server / "data").iterdir()) == ["example.jsonl", "train.jsonl"]
    assert mine.exists() and (out / "environments" / "forgec_library" / "manifest.yaml").exists()


def test_a_record_of_what_was_made_reaches_nothing_outside(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"kept")
    out = tmp_path / "out"
    out.mkdir()
    digest = hashlib.sha256(b"kept").hexdigest()
    up = "resources_servers/forgec_library/../../../outside"
    for record in (
        json.dumps({up: digest, str(outside): digest, "x\0": digest, "README.md": 3}),
        "{",
        "[]",
        "[" * 9999,
    ):
        (out / RECORD).write_text(record)
        done = run(GENERATED / "library", "--out", out, "--task", "settle_the_overdue", "--json")
        assert done.exit_code == 0 and json.loads(done.output)["removed"] == []
    assert outside.read_bytes() == b"kept"


def test_a_model_that_plays_the_user_is_defined(tmp_path: Path) -> None:
    done = run(GENERATED / "library", "--out", tmp_path, "--user", "model", "--task", "settle_the_overdue")
    assert done.exit_code == 0, done.output
    folder = tmp_path / "resources_servers" / "forgec_library"
    config = yaml.safe_load((folder / "configs" / "forgec_library.yaml").read_text())
    named = config["library_resources_server"]["resources_servers"]["forgec_library"]["user_model_server"]["name"]
    (model,) = config[named]["responses_api_models"].values()
    assert model["openai_model"] == "${oc.select:user_model_name,${policy_model_name}}"


def test_a_tool_that_has_the_name_of_a_route_is_refused(tmp_path: Path) -> None:
    spec = _spec(tmp_path, tool="verify")
    assert CliRunner().invoke(forgec, ["certify", str(spec)]).exit_code == 0
    refused = run(spec, "--out", tmp_path / "out")
    assert refused.exit_code == 1 and "a tool `verify`, which is a route of the server itself" in refused.output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["no_such", "--out", "x"], "no generated environment"),
        ([str(GENERATED / "library"), "--out", "x", "--task", "no_such"], "has no task `no_such`"),
        ([str(GENERATED / "library"), str(GENERATED / "library"), "--out", "x"], "is named twice"),
        (["no_such.afs", "--out", "x"], "no_such.afs"),
        ([str(GENERATED / "library"), "--out", "x", "--validation", "tag:tset"], "no environment has a task"),
        ([str(GENERATED / "library"), "--out", "/proc/nowhere", "--task", "settle_the_overdue"], "cannot be written"),
    ],
)
def test_what_cannot_be_exported_is_told(arguments: list[str], text: str) -> None:
    refused = run(*arguments)
    assert refused.exit_code == 2 and text in refused.output


def test_a_user_that_has_to_act_is_not_briefed(tmp_path: Path) -> None:
    refused = run(GENERATED / "phone", "--out", tmp_path, "--user", "briefed")
    assert refused.exit_code == 1 and "which a briefed one does not: choose another" in refused.output
