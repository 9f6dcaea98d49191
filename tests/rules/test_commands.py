"""Warnings on the command line: what fails, and the formats for people and programs."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from forgec.checks.rules import RULES
from forgec.commands import forgec
from forgec.diagnostics.codes import CODES
from tests.markdown import read

DESK = read(Path(__file__).parent / "desk.afs")
WARNED = DESK + '\nenum Shelf "Where it stands" { crime, science }\n'
LINE = WARNED.count("\n")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("desk.afs").write_text(WARNED, encoding="utf-8")
    Path("clean.afs").write_text(DESK.replace("environment desk", "environment clean"), encoding="utf-8")
    Path("a,b:1%.afs").write_text("environment other { }\ntool t() { x; }\n", encoding="utf-8")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, list(arguments), catch_exceptions=False)


def test_warnings_are_shown_and_fail_when_they_are_to() -> None:
    shown = dedent(
        f"""\
        warning[AFW101]: the enum `Shelf` is never used
          --> desk.afs:{LINE}:6
           |
        {LINE} | enum Shelf "Where it stands" {{ crime, science }}
           |      ^^^^^
        1 warning
        """
    )
    result = invoke("check", "desk.afs")
    assert (result.exit_code, result.stderr) == (0, shown)
    assert result.stdout.startswith("desk.afs: ok, ")
    strict = invoke("check", "desk.afs", "--strict")
    assert (strict.exit_code, strict.stderr) == (1, shown)
    assert (invoke("check", "clean.afs", "--strict").exit_code, invoke("check", "clean.afs").stderr) == (0, "")


@pytest.mark.parametrize("command", ["compile", "test"])
def test_other_commands_count_warnings(command: str) -> None:
    result = invoke(command, "desk.afs", "clean.afs")
    assert (result.exit_code, result.stderr) == (0, "")
    desk, clean = result.stdout.splitlines()
    assert desk.endswith("; 1 warning: see forgec check") and "warning" not in clean
    assert invoke(command, "desk.afs", "--strict").exit_code == 1
    assert invoke(command, "clean.afs", "--strict").exit_code == 0


def test_json_has_warnings_whatever_it_is_asked_by() -> None:
    (found,) = json.loads(invoke("check", "desk.afs", "--format", "json").stdout)
    assert (found["code"], found["severity"], found["line"]) == ("AFW101", "warning", LINE)
    assert invoke("check", "desk.afs", "--json").stdout == invoke("check", "desk.afs", "--format", "json").stdout


def test_github_gets_commands_that_nothing_breaks_out_of() -> None:
    result = invoke("check", "desk.afs", "clean.afs", "a,b:1%.afs", "--format", "github")
    warning, *errors = result.stdout.splitlines()
    place = f"file=desk.afs,title=AFW101,line={LINE},endLine={LINE},col=6,endColumn=11"
    assert warning == f"::warning {place}::the enum `Shelf` is never used"
    assert all(line.startswith("::error file=a%2Cb%3A1%25.afs,title=AFS1") for line in errors) and errors
    assert (result.exit_code, result.stderr) == (1, "")
    assert invoke("check", "clean.afs", "--format", "github").stdout == ""


def test_sarif_says_where_and_what() -> None:
    result = invoke("check", "desk.afs", "a,b:1%.afs", "missing.afs", "--format", "sarif")
    log = json.loads(result.stdout)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert (log["version"], run["columnKind"], result.exit_code) == ("2.1.0", "unicodeCodePoints", 2)
    assert [rule["id"] for rule in rules] == sorted({one["ruleId"] for one in run["results"]})
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"] and one["message"]["text"]
        assert one["level"] == ("warning" if one["ruleId"].startswith("AFW") else "error")
    first = run["results"][0]["locations"][0]["physicalLocation"]
    assert first["artifactLocation"] == {"uri": "desk.afs"}
    assert first["region"] == {"startLine": LINE, "startColumn": 6, "endLine": LINE, "endColumn": 11}
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]}
    assert uris == {"desk.afs", "a%2Cb%3A1%25.afs", "missing.afs"}
    assert json.loads(invoke("check", "clean.afs", "--format", "sarif").stdout)["runs"][0]["results"] == []


def test_rule_lists_the_rules_and_explains_codes() -> None:
    listed = invoke("rule").stdout.splitlines()
    assert [line.split("  ", 1) for line in listed] == [[code, rule.title] for code, rule in RULES.items()]
    shown = invoke("rule", "afw101").stdout
    assert shown.startswith("AFW101: a declaration that nothing uses\n\n") and RULES["AFW101"].explanation in shown
    assert invoke("rule", "AFS201").stdout.startswith("AFS201: an unknown table\n")
    data = json.loads(invoke("rule", "--json").stdout)
    assert [one["code"] for one in data] == list(RULES)


def test_rule_explains_every_code() -> None:
    result = invoke("rule", *CODES, *RULES)
    assert result.exit_code == 0 and all(f"{code}: " in result.stdout for code in (*CODES, *RULES))


def test_rule_knows_no_other_codes() -> None:
    result = invoke("rule", "AFW101", "AFW1O1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "there is no code `AFW1O1`; did you mean `AFW101`?\n"
