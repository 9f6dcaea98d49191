"""The pipeline against a model over HTTP that is right, wrong, cut off, or unwilling; and what it leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forgec.commands import forgec
from forgec.documents import Api
from forgec.llm.client import Client, Endpoint
from forgec.pipeline import check
from forgec.synthesis.asking.asker import Asker
from forgec.synthesis.asking.cache import Cache
from forgec.synthesis.stages.operations import read_operations
from tests.rollouts.server import Trouble, serving
from tests.synthesis.scripted import FIND, LIST, RENT, RETURN, STATE, TASK_LARGE, Model, cut_off, repair, right, tools

LOCKERS = Path(__file__).parent / "exchange" / "lockers.yaml"
EXCHANGE = LOCKERS.with_suffix(".traffic.jsonl")


def synth(folder: Path, *more: str, document: Path = LOCKERS) -> Result:
    options = ["--model", "scripted", "--out", str(folder / "lockers.afs"), "--json"]
    if "--tasks" not in more:
        options += ["--tasks", "0"]
    if not {"--record", "--replay-from"} & set(more):
        options += ["--cache", str(folder / "cache")]
    return CliRunner().invoke(forgec, ["synth", str(document), *options, *more], catch_exceptions=False)


def report(result: Result, code: int = 0) -> dict[str, Any]:
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def whys(found: dict[str, Any]) -> str:
    return "\n".join(f"{one['stage']}: {one['what']}: {one['why']}" for one in found["left_out"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what comes of right answers, in a run that was interrupted on the way; the answers are kept."""
    folder = tmp_path_factory.mktemp("made")
    model, asked = Model(right()), [0]

    def brain(body: dict[str, Any]) -> Any:
        asked[0] += 1
        if asked[0] == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return model(body)

    with serving(brain) as server:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs this may ignore it
        try:
            stopped = synth(folder, "--base-url", server.url)
        finally:
            signal.signal(signal.SIGINT, before)
        assert stopped.exit_code == 130 and "interrupted: what was answered is kept" in stopped.stderr
        assert not (folder / "lockers.afs").exists() and len(list((folder / "cache").iterdir())) == 4
        found = report(synth(folder, "--base-url", server.url))
        assert len(server.seen) == 7  # one for each stage, and one again that was not waited for
    assert [found["asked"][stage]["requests"] for stage in ("state", "world", "tests")] == [0, 0, 1]
    return folder


def test_a_spec_with_certified_tasks_comes_of_a_recorded_exchange(tmp_path: Path) -> None:
    """The exchange was written by hand, with questions left out, and nothing is asked of anybody."""
    found = report(synth(tmp_path, "--replay-from", str(EXCHANGE), "--tasks", "2"))
    assert found["tasks"] == {"the_large_one": True, "the_cheapest": True}
    coverage = found["coverage"]
    assert (coverage["shown"], coverage["documented"]) == (4, 5)
    assert coverage["errors"] == {"realised": 4, "documented": 4}
    assert coverage["parameters"] == {"realised": 6, "documented": 7}
    beep = next(one for one in coverage["operations"] if one["operation"] == "beep_locker")
    assert (beep["state"], beep["why"]) == ("left out", "the model leaves it out: nothing is kept of a beep")
    assert "edge find_guest.name -> rent_locker.guest_id: it gives no key of guests" in whys(found)
    assert "reasoning unknown: error[AFS202]: unknown column `price`" in whys(found)
    for command in (["check"], ["test"], ["certify", "--check"], ["fmt", "--check"]):
        result = CliRunner().invoke(forgec, [*command, str(tmp_path / "lockers.afs")], catch_exceptions=False)
        assert result.exit_code == 0, result.output


def test_the_same_again_is_free_and_the_same(made: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").symlink_to(made / "cache")
    found = report(synth(tmp_path, "--base-url", "http://127.0.0.1:9/v1"))
    assert all(stage["requests"] == 0 for stage in found["asked"].values())
    for name in ("lockers.afs", "lockers.synth.json"):
        assert (tmp_path / name).read_bytes() == (made / name).read_bytes()


def mend(body: dict[str, Any]) -> dict[str, Any]:
    """Corrects what it can: of the tool that returns a locker it only knows other mistakes."""
    question = body["messages"][1]["content"]
    texts = []
    if "AFS103" in question:
        texts.append(STATE[STATE.index("table lockers") : STATE.index("table rentals")])
    if "from boxes" in question:
        texts.append(LIST)
    if "one guest at a time" in question and "this call fails" not in question:
        texts.append(RENT)
    if "not certified: facts" in question:
        texts.append(TASK_LARGE)
    if "$s." in question:
        texts.append(RETURN.replace("$r.", "$t."))
    return repair(*texts)


def test_what_is_wrong_is_mended_or_left_out(tmp_path: Path) -> None:
    """Bad syntax, an unknown table, a tool that breaks an invariant, one that never comes right."""
    careless = RENT.replace('  require not is_rented($locker_id) else "{$locker_id} is rented";\n', "")
    broken = RETURN.replace("$r.", "$s.")
    needless = TASK_LARGE.replace("  plan {", "  fact hat \"the colour of your hat\" = 'red';\n  plan {")
    script = right() | {
        "State": [{"declarations": STATE.replace("size Size,", "size Size"), "assumed": []}],
        "Tools": [tools(FIND, LIST.replace("from lockers", "from boxes"), careless, broken)],
        "Tasks": [{"declarations": needless}],
        "Refined": [{"declaration": needless}],
        "Repair": [mend],
    }
    model = Model(script)
    with serving(model) as server:
        found = report(synth(tmp_path, "--base-url", server.url, "--tasks", "1"))
    spec = check(tmp_path / "lockers.afs").spec
    assert spec is not None and list(spec.tools) == ["find_guest", "list_lockers", "rent_locker"]
    assert "tools: tool return_locker: error[AFS203]" in whys(found)
    left = {one["operation"] for one in found["coverage"]["operations"] if one["state"] == "left out"}
    assert left == {"return_locker", "beep_locker"}
    repairs = [question for form, question in model.asked if form == "Repair"]
    assert "error[AFS103]" in repairs[0] and "error[AFS201]" in repairs[1]
    assert 'it fails with "A locker is rented to one guest at a time"' in repairs[-2]
    assert found["tasks"] == {"the_large_one": True}


def test_a_model_that_does_not_want_to_or_is_cut_off_is_reported(tmp_path: Path) -> None:
    """The state is refused and comes of the draft; answers about two operations or more are cut off."""
    refusal = "I'm sorry, but I can't help with lockers."

    def cut(body: dict[str, Any]) -> Any:
        question = body["messages"][1]["content"]
        asked = question[question.index("The operations:") :]
        return tools(RENT) if asked.count("returns") == 1 and "rent_locker" in asked else cut_off('{"shared": "", "to')

    script = right() | {
        "State": [refusal], "Tools": [cut], "Policy": [{"content": None, "refusal": refusal}],
        "World": [{"declarations": "world sample { guests from \"/etc/passwd\"; }\nuse \"x.afs\";"}],
        "Tests": [{"tests": []}], "Tasks": [refusal], "Graph": ["<html>"],
    }  # fmt: skip
    model = Model(script)
    with serving(model) as server:
        found = report(synth(tmp_path, "--base-url", server.url))
    text = whys(found)
    assert "the state is that of the draft by rule" in text and refusal in text
    assert "tools: an answer about find_guest: its answer was cut off" in text
    assert "world: world sample: rows of files are no part of an answer" in text and "only world were asked for" in text
    spec = check(tmp_path / "lockers.afs").spec
    assert spec is not None and all(one["by"] == "rule" for one in found["coverage"]["operations"] if one["by"])
    assert found["coverage"]["shown"] == len(spec.tools) > 0
    assert CliRunner().invoke(forgec, ["test", str(tmp_path / "lockers.afs")]).exit_code == 0


def test_an_endpoint_without_schemas_is_asked_in_words(tmp_path: Path) -> None:
    def brain(body: dict[str, Any]) -> Any:
        return model(body)

    class Plain(Model):
        def __call__(self, body: dict[str, Any]) -> Any:
            return "```json\n" + str(super().__call__(body)) + "\n```"

    model = Plain(right())
    schemas = [0]

    def trouble(number: int) -> Trouble:
        refused = "response_format" in server.seen[number]
        schemas[0] += refused
        return "400" if refused else None

    with serving(brain, trouble) as server:
        found = report(synth(tmp_path, "--base-url", server.url))
    assert schemas[0] == 1 and found["coverage"]["shown"] == 4


def test_a_spec_that_was_edited_by_hand_is_merged_and_not_overwritten(made: Path, tmp_path: Path) -> None:
    for name in ("cache", "lockers.afs", "lockers.synth.json"):
        (tmp_path / name).symlink_to(made / name) if name == "cache" else (tmp_path / name).write_bytes(
            (made / name).read_bytes()
        )
    path = tmp_path / "lockers.afs"
    edited = path.read_text().replace("for 1 to 14 days", "for one to fourteen days").replace("Eva Lind", "Eve Lind")
    edited = edited.replace("-- What there is", "-- Mine\ntable extras { extra_id text key }\n\n-- What there is")
    path.write_text(edited)
    nowhere = ("--base-url", "http://127.0.0.1:9/v1")
    found = report(synth(tmp_path, *nowhere), 1)
    assert [(one["verb"], one["key"]) for one in found["merge"]] == [
        ("keep", "tool rent_locker"),
        ("keep", "world sample"),
    ]
    assert path.read_text() == edited and found["written"] == []
    found = report(synth(tmp_path, *nowhere, "--merge"))
    assert path.read_text() == edited and found["written"]


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        ("401", "the model cannot be asked: "),
        ("404", "the model cannot be asked: "),
        ("500", "the model cannot be asked: no answer after 1 attempt;"),
    ],
)
def test_an_endpoint_that_cannot_be_asked_is_an_error(trouble: str, says: str, tmp_path: Path) -> None:
    with serving(Model(right()), lambda number: trouble) as server:
        result = synth(tmp_path, "--base-url", server.url, "--retries", "0")
    assert result.exit_code == 2 and says in result.stderr
    assert "what was answered is kept" in result.stderr
    assert not (tmp_path / "lockers.afs").exists()


def test_no_key_and_a_wrong_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    result = synth(tmp_path)
    assert result.exit_code == 2 and "OPENAI_API_KEY has no key" in result.stderr
    result = synth(tmp_path, "--base-url", "localhost:8000/v1")
    assert result.exit_code == 2 and "the base URL does not begin with http:// or https://" in result.stderr
    result = synth(tmp_path, "--base-url", "http://127.0.0.1:9/v1", "--retries", "1")
    assert result.exit_code == 2 and "no answer yet: Connection error" in result.stderr
    assert "the model cannot be asked: no answer after 2 attempts" in result.stderr


def test_operations_are_found_in_plain_words_if_they_stand_there() -> None:
    api = Api(prose="Say open_gate with the number of the gate to open it. " * 200)
    gate = {"name": "gate", "type": "int", "required": True, "doc": "Its number"}
    operations = [
        {"name": "open_gate", "doc": "Opens it.", "parameters": [gate], "returns": "bool", "errors": ["it is open"]},
        {"name": "open_vault", "doc": "Opens the vault.", "parameters": [], "returns": "", "errors": []},
    ]

    async def read_it(url: str) -> None:
        client = Client(Endpoint("scripted", url))
        await read_operations(api, Asker(client, Cache(None)), 12_000)
        await client.close()

    with serving(lambda body: json.dumps({"operations": operations})) as server:
        asyncio.run(read_it(server.url))
        assert len(server.seen) == 3  # pages
    (found,) = api.operations
    assert (found.name, found.place, [(one.name, one.shape.kind) for one in found.parameters]) == (
        "open_gate", "page 1", [("gate", "integer")],
    )  # fmt: skip
    assert [one.code for one in found.failures] == ["it is open"]
    assert str(api.notes[0]) == "page 1: the model names 'open_vault', and the document does not"
