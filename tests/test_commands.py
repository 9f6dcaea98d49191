"""The command line as a user meets it: exit codes, what is printed where, and what happens to files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from forgec import __main__, commands
from forgec.commands import COMMANDS, forgec
from forgec.installation import require_interpreted

DESK = dedent(
    """\
    environment desk "The desk of a small library" { }

    table members "People with a card" {
      member_id text key,
      name      text,
      fines     decimal(8, 2) default 0,
    }

    tool name_of(member_id -> members as m) returns text "The name of a member."
    {
      return $m.name;
    }

    tool pay(member_id -> members as m) returns decimal(8, 2) "Pay everything. Returns what it was."
    {
      update members set fines = 0 where member_id = $member_id;
      return $m.fines;
    }

    world small "One member" {
      members (member_id, name, fines) values ('M1', 'Ada', 2.50);
    }

    test "a member has a name" on small {
      name_of(member_id: 'M1') returns 'Ada';
    }

    task settle on small "Pay what is owed" {
      intent "You are member M1. You want to pay what you owe, and to hear how much that was."
      plan {
        paid = pay(member_id: 'M1');
      }
      says "what was paid": $paid;
    }
    """
)
SAMPLED = """
task settle_of_somebody on small "Pay what is owed" {
  sample who from members where fines > 0;
  intent "You are member {$who.member_id}, and want to pay what you owe.";
  plan { paid = pay(member_id: $who.member_id); }
}
"""
SHOP = DESK.replace("environment desk", "environment shop")
BROKEN = SHOP.replace("return $m.name", "return $m.nmae")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, list(arguments), catch_exceptions=False)


@pytest.fixture(autouse=True)
def a_folder_to_work_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds `desk.afs` and nothing else."""
    monkeypatch.chdir(tmp_path)
    write("desk.afs", DESK)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def tree() -> dict[str, tuple[bytes, int]]:
    """Every file here: its bytes, and when they were written."""
    files = sorted(path for path in Path().rglob("*") if path.is_file())
    return {path.as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def generated() -> set[str]:
    return {path.relative_to("generated/desk").as_posix() for path in Path("generated/desk").rglob("*.py")}


# -- a spec that cannot be read -----------------------------------------------------------------------------------


def expect_unreadable(name: str, text: str) -> None:
    for command in ("check", "compile", "test"):
        result = invoke(command, name)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == dedent(text)


def test_a_missing_file() -> None:
    expect_unreadable(
        "dsk.afs",
        """\
        error[AFS001]: there is no such file
         --> dsk.afs
        1 error
        """,
    )


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission() -> None:
    Path("desk.afs").chmod(0)
    assert "error[AFS001]: this file cannot be read: Permission denied" in invoke("check", "desk.afs").stderr


def test_a_directory() -> None:
    Path("specs").mkdir()
    expect_unreadable(
        "specs",
        """\
        error[AFS002]: this is a directory, not a spec
         --> specs
          = help: name files: specs/*.afs
        1 error
        """,
    )


def test_a_file_that_is_not_utf_8() -> None:
    Path("latin.afs").write_bytes(b"environment caf\xe9 { }\n")
    expect_unreadable(
        "latin.afs",
        """\
        error[AFS003]: this file is not UTF-8: byte 15 on line 1 is 0xe9
         --> latin.afs
          = help: save it as UTF-8
        1 error
        """,
    )


def test_a_byte_order_mark_is_no_mistake() -> None:
    Path("desk.afs").write_bytes(b"\xef\xbb\xbf" + DESK.encode())
    assert invoke("check", "desk.afs").exit_code == 0


# -- a file without a spec ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "this file is empty"), (" \n\n", "this file is empty"), ("-- later\n", "this file declares nothing")],
)
def test_a_file_that_declares_nothing(text: str, message: str) -> None:
    write("empty.afs", text)
    result = invoke("check", "empty.afs")
    assert result.exit_code == 1
    assert result.stderr == (
        f"error[AFS004]: {message}\n"
        " --> empty.afs\n"
        '  = help: a spec begins with `environment library "Front desk of a public library" { }`\n'
        "1 error\n"
    )


def test_a_file_that_is_too_large() -> None:
    write("large.afs", DESK + "-- x\n" * 200_000)
    result = invoke("check", "large.afs")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[AFS005]: a spec has at most 1,000,000 characters\n --> large.afs:1:1\n")


# -- check --------------------------------------------------------------------------------------------------------


def test_check_says_what_a_sound_spec_holds() -> None:
    result = invoke("check", "desk.afs")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "desk.afs: ok, 1 table, 2 tools, 0 rules, 1 world, 1 test, 1 task\n"


def test_check_prints_findings_to_standard_error_and_the_sound_specs_to_standard_output() -> None:
    write("shop.afs", BROKEN)
    result = invoke("check", "shop.afs", "desk.afs")
    assert result.exit_code == 1
    assert result.stderr == dedent(
        """\
        error[AFS202]: unknown column `nmae` of `$m`
          --> shop.afs:11:10
           |
        11 |   return $m.nmae;
           |          ^^^^^^^
           |
           = help: did you mean `name`?
        1 error
        """
    )
    assert result.stdout == "desk.afs: ok, 1 table, 2 tools, 0 rules, 1 world, 1 test, 1 task\n"


def test_check_json_is_the_findings() -> None:
    write("shop.afs", BROKEN)
    result = invoke("check", "shop.afs", "desk.afs", "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    (found,) = json.loads(result.stdout)
    assert (found["code"], found["file"], found["line"], found["column"]) == ("AFS202", "shop.afs", 11, 10)
    assert json.loads(invoke("check", "desk.afs", "--json").stdout) == []


def test_a_flood_of_findings_is_cut_off() -> None:
    columns = "".join(f"  column_{i} txet,\n" for i in range(60))
    write("flood.afs", f"environment desk {{ }}\n\ntable t {{\n  id text key,\n{columns}}}\n")
    result = invoke("check", "flood.afs")
    assert result.stderr.count("error[") == 50
    assert result.stderr.endswith("... and 10 more\n60 errors\n")
    assert len(json.loads(invoke("check", "flood.afs", "--json").stdout)) == 60


def test_an_unreadable_spec_decides_the_exit_code() -> None:
    write("shop.afs", BROKEN)
    assert invoke("check", "shop.afs", "missing.afs", "desk.afs").exit_code == 2


def test_a_spec_named_twice_is_read_once() -> None:
    result = invoke("check", "desk.afs", "./desk.afs", str(Path("desk.afs").resolve()))
    assert (result.exit_code, result.stdout.count("ok")) == (0, 1)


def test_two_specs_may_not_declare_one_environment() -> None:
    write("other.afs", DESK)
    result = invoke("compile", "desk.afs", "other.afs")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[AFS802]: the environment `desk` is declared by desk.afs too\n")
    assert " --> other.afs:1:" in result.stderr
    assert result.stdout.startswith("desk.afs -> generated/desk: ")


# -- compile ------------------------------------------------------------------------------------------------------


def test_compile_writes_a_package_and_says_so() -> None:
    result = invoke("compile", "desk.afs")
    assert (result.exit_code, result.stderr) == (0, "")
    manifest = json.loads(Path("generated/desk/manifest.json").read_text())
    files = {name for name in tree() if name.startswith("generated/")}
    assert files == {f"generated/desk/{name}" for name in [*manifest["files"], "manifest.json"]}
    assert result.stdout == f"desk.afs -> generated/desk: {len(files)} written, 0 unchanged, 0 removed\n"


def test_compile_again_touches_nothing() -> None:
    invoke("compile", "desk.afs")
    before = tree()
    result = invoke("compile", "desk.afs")
    assert tree() == before
    assert result.stdout == f"desk.afs -> generated/desk: 0 written, {len(before) - 1} unchanged, 0 removed\n"


def test_compile_writes_only_what_a_change_touches() -> None:
    invoke("compile", "desk.afs")
    before = tree()
    write("desk.afs", DESK.replace("set fines = 0 where", "set fines = 1 where"))
    invoke("compile", "desk.afs")
    changed = {name for name, file in tree().items() if file != before.get(name)}
    assert changed == {
        "desk.afs",
        "generated/desk/tools/pay.py",
        "generated/desk/hashes.json",
        "generated/desk/manifest.json",
    }


def test_compile_removes_its_own_files_and_no_others() -> None:
    invoke("compile", "desk.afs")
    write("generated/desk/tools/notes.txt", "mine")
    write("generated/notes.txt", "mine")
    tool = DESK[DESK.index("tool name_of") : DESK.index("tool pay")]
    test = DESK[DESK.index("test") : DESK.index("task")]
    write("desk.afs", DESK.replace(tool, "").replace(test, ""))
    result = invoke("compile", "desk.afs")
    assert result.stdout.endswith("unchanged, 1 removed\n")
    assert "tools/name_of.py" not in generated()
    assert Path("generated/desk/tools/notes.txt").read_text() == Path("generated/notes.txt").read_text() == "mine"


def test_a_broken_spec_leaves_its_package_alone_and_the_others_compile() -> None:
    write("shop.afs", SHOP)
    invoke("compile", "shop.afs")
    before = tree()
    write("shop.afs", BROKEN)
    result = invoke("compile", "shop.afs", "desk.afs")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[AFS202]: unknown column `nmae`")
    assert Path("generated/desk/manifest.json").exists()
    after = tree()
    assert {name: after[name] for name in before if name != "shop.afs"} == {
        name: file for name, file in before.items() if name != "shop.afs"
    }


def test_a_broken_spec_makes_no_folder() -> None:
    write("shop.afs", BROKEN)
    assert invoke("compile", "shop.afs").exit_code == 1
    assert not Path("generated").exists()


def test_compile_keeps_what_was_edited_by_hand() -> None:
    invoke("compile", "desk.afs")
    write("generated/desk/tools/pay.py", "# my own\n")
    before = tree()
    result = invoke("compile", "desk.afs")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == dedent(
        """\
        error[AFS801]: edited by hand since it was generated: tools/pay.py
         --> generated/desk
          = help: change the spec instead, or overwrite with --force
        1 error
        """
    )
    assert tree() == before
    assert invoke("compile", "desk.afs", "--force").exit_code == 0
    assert "my own" not in Path("generated/desk/tools/pay.py").read_text()


def test_compile_keeps_a_file_that_somebody_put_where_a_new_one_goes() -> None:
    invoke("compile", "desk.afs")
    write("generated/desk/tools/rename.py", "# my own\n")
    write("desk.afs", DESK.replace("name_of", "rename"))
    result = invoke("compile", "desk.afs")
    assert result.exit_code == 1
    assert "error[AFS801]" in result.stderr and "tools/rename.py" in result.stderr
    assert Path("generated/desk/tools/rename.py").read_text() == "# my own\n"


def test_compile_keeps_a_folder_that_is_not_its_own() -> None:
    write("generated/desk/thesis.md", "ten years of work")
    before = tree()
    result = invoke("compile", "desk.afs")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == dedent(
        """\
        error[AFS803]: this folder holds files that forgec did not generate
         --> generated/desk
          = help: choose another --out, or overwrite with --force
        1 error
        """
    )
    assert tree() == before
    assert invoke("compile", "desk.afs", "--force").exit_code == 0
    assert Path("generated/desk/thesis.md").read_text() == "ten years of work"


def test_a_folder_that_cannot_be_written() -> None:
    write("generated/desk", "a file where the folder should go")
    before = tree()
    result = invoke("compile", "desk.afs")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error[AFS804]: cannot be written: ")
    assert " --> generated/desk/" in result.stderr
    assert tree() == before


def test_a_write_that_fails_leaves_no_half_of_a_file() -> None:
    invoke("compile", "desk.afs")
    Path("generated/desk/tools/pay.py").unlink()
    write("generated/desk/tools/pay.py/in_the_way", "")
    result = invoke("compile", "desk.afs", "--force")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[AFS804]: cannot be written: ")
    assert result.stderr.splitlines()[1] == " --> generated/desk/tools/pay.py"
    assert not [name for name in tree() if ".forgec-" in name]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_permission() -> None:
    Path("sealed").mkdir(mode=0o500)
    result = invoke("compile", "desk.afs", "--out", "sealed")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[AFS804]: cannot be written: Permission denied\n")


def test_compile_check_of_a_package_that_is_up_to_date() -> None:
    invoke("compile", "desk.afs")
    before = tree()
    result = invoke("compile", "desk.afs", "--check")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "desk.afs: generated/desk is up to date\n"
    assert tree() == before


def test_compile_check_prints_what_would_change_and_touches_nothing() -> None:
    invoke("compile", "desk.afs", "--out", "build")
    write("desk.afs", DESK.replace("Pay everything.", "Settle the account."))
    before = tree()
    result = invoke("compile", "desk.afs", "--check", "--out", "build")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--- build/desk/tools/pay.py\n+++ build/desk/tools/pay.py (new)\n" in result.stderr
    assert '+    """Settle the account.' in result.stderr
    assert result.stderr.endswith("build/desk is not up to date; run: forgec compile desk.afs --out build\n")
    assert tree() == before


def test_compile_check_names_libraries_of_other_versions() -> None:
    invoke("compile", "desk.afs")
    manifest = Path("generated/desk/manifest.json")
    text = manifest.read_text(encoding="utf-8")
    older = re.sub(r'"duckdb": "[^"]*"', '"duckdb": "1.9.0"', text)
    manifest.write_text(older, encoding="utf-8")
    result = invoke("compile", "desk.afs", "--check")
    here = version("duckdb")
    assert result.exit_code == 1
    assert result.stderr == (
        f"generated/desk was generated with duckdb 1.9.0, here is {here}\n"
        "generated/desk is not up to date; run: forgec compile desk.afs\n"
    )
    write("generated/desk/policy.md", "edited")
    assert "+++ generated/desk/policy.md (new)" in invoke("compile", "desk.afs", "--check").stderr
    write("desk.afs", DESK.replace("Pay everything.", "Settle the account."))
    assert "+++ generated/desk/tools/pay.py (new)" in invoke("compile", "desk.afs", "--check").stderr


def test_compile_check_of_nothing() -> None:
    before = tree()
    result = invoke("compile", "desk.afs", "--check")
    assert result.exit_code == 1
    assert "generated/desk/schema.py is missing" in result.stderr
    assert result.stderr.endswith("generated/desk is not up to date; run: forgec compile desk.afs\n")
    assert tree() == before


def test_compile_json_tells_what_happened() -> None:
    write("shop.afs", BROKEN)
    result = invoke("compile", "desk.afs", "shop.afs", "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    told = json.loads(result.stdout)
    (package,) = told["packages"]
    assert (package["environment"], package["folder"], package["changed"]) == ("desk", "generated/desk", True)
    assert "tools/pay.py" in package["written"] and package["removed"] == []
    assert [found["code"] for found in told["diagnostics"]] == ["AFS202"]
    again = json.loads(invoke("compile", "desk.afs", "--check", "--json").stdout)
    assert again["packages"][0]["up_to_date"] is True


# -- test ---------------------------------------------------------------------------------------------------------


def test_tests_that_pass() -> None:
    result = invoke("test", "desk.afs")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "desk.afs: 1 passed, 0 failed\n"
    assert set(tree()) == {"desk.afs"}


def failing(step: str) -> Result:
    write("desk.afs", DESK + f'\ntest "something else" on small {{\n  {step}\n}}\n')
    result = invoke("test", "desk.afs")
    assert result.exit_code == 1
    assert result.stdout == "desk.afs: 1 passed, 1 failed\n"
    return result


def test_a_wrong_result_is_shown_where_it_is_expected() -> None:
    assert failing("name_of(member_id: 'M1') returns 'Bob';").stderr == dedent(
        """\
        error[AFS901]: expected Bob
          --> desk.afs:37:36
           |
        37 |   name_of(member_id: 'M1') returns 'Bob';
           |                                    ^^^^^ it returns "Ada"
        1 error
        """
    )


def test_a_failure_is_shown_with_its_real_text() -> None:
    assert failing("name_of(member_id: 'M2') fails \"Nobody\";").stderr == dedent(
        """\
        error[AFS901]: expected the error "Nobody"
          --> desk.afs:37:3
           |
        37 |   name_of(member_id: 'M2') fails "Nobody";
           |   ^^^^^^^^^^^^^^^^^^^^^^^^ it fails with "Unknown member_id: M2"
        1 error
        """
    )


def test_an_unexpected_failure_is_shown_with_its_real_text() -> None:
    shown = failing("name_of(member_id: 'M2') returns 'Ada';").stderr
    assert "error[AFS901]: this call fails\n" in shown
    assert "^ Unknown member_id: M2\n" in shown


def test_an_unexpected_success_is_shown() -> None:
    shown = failing("name_of(member_id: 'M1') fails \"Unknown member_id: M1\";").stderr
    assert "error[AFS901]: this call should fail\n" in shown
    assert '^ it succeeds with "Ada"\n' in shown


def test_a_false_expectation_is_shown_with_the_values_it_looked_at() -> None:
    shown = failing("name = name_of(member_id: 'M1'); expect $name = 'Bob';").stderr
    assert "error[AFS901]: this does not hold\n" in shown
    assert "^^^^^^^^^^^^^ $name is Ada\n" in shown


@pytest.mark.parametrize(
    "step",
    [
        "expect (select max(cast(name as integer)) from members) > 0;",
        "name_of(member_id: (select cast(cast(name as integer) as text) from members order by name limit 1));",
        "name_of(member_id: 'M1') returns (select cast(cast(min(name) as integer) as text) from members);",
    ],
)
def test_what_duckdb_cannot_compute_is_a_finding(step: str) -> None:
    result = failing(step)
    assert result.exit_code == 1
    assert "error[AFS901]: this cannot be computed\n" in result.stderr
    assert "^ Conversion Error: Could not convert string 'Ada' to INT64" in result.stderr


def test_tests_are_chosen_by_their_titles() -> None:
    failing("name_of(member_id: 'M1') returns 'Bob';")
    result = invoke("test", "desk.afs", "-k", "has a name")
    assert (result.exit_code, result.stdout) == (0, "desk.afs: 1 passed, 0 failed\n")


def test_test_json_is_one_object_a_test() -> None:
    failing("name_of(member_id: 'M1') returns 'Bob';")
    result = invoke("test", "desk.afs", "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    told = json.loads(result.stdout)
    assert [(test["title"], test["passed"]) for test in told["tests"]] == [
        ("a member has a name", True),
        ("something else", False),
    ]
    assert told["tests"][1]["findings"][0]["line"] == 37


# -- run ----------------------------------------------------------------------------------------------------------


def test_run_plays_tasks_and_prints_rewards() -> None:
    invoke("compile", "desk.afs")
    result = invoke("run", "desk", "--agent", "gold", "--agent", "noop")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[2].split() == ["desk/settle", "1", "0"]


def test_run_says_when_the_seed_changes_nothing() -> None:
    invoke("compile", "desk.afs")
    said = "--seed changes nothing here: no task that was played samples anything\n"
    assert invoke("run", "desk").stderr == ""
    assert invoke("run", "desk", "--seed", "7").stderr == said
    assert invoke("run", "desk", "--seed", "0").stderr == said
    assert invoke("run", "desk", "--seed", "7", "--agent", "random").stderr == ""
    write("drawn.afs", DESK.replace("environment desk", "environment drawn") + SAMPLED)
    invoke("compile", "drawn.afs")
    assert invoke("run", "drawn", "--seed", "7").stderr == ""


def test_run_takes_a_folder_too() -> None:
    invoke("compile", "desk.afs", "--out", "build")
    assert invoke("run", "build/desk").exit_code == 0


def test_run_json_has_the_reasons_of_each_reward() -> None:
    invoke("compile", "desk.afs")
    told = json.loads(invoke("run", "desk", "--agent", "gold", "--agent", "noop", "--json").stdout)
    assert [(one["agent"], one["task"], one["reward"]) for one in told] == [
        ("gold", "settle", 1),
        ("noop", "settle", 0),
    ]
    assert told[0]["reasons"] == [] and told[1]["reasons"]


def test_run_without_the_environment() -> None:
    result = invoke("run", "dsk")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: there is no generated environment in generated/dsk; compile its spec first\n"


def test_names_of_environments_and_of_specs_are_told_apart() -> None:
    assert invoke("run", "desk.afs").exit_code == 0
    write("specs/shop.afs", SHOP)
    for name, meant in (("desk", "desk.afs"), ("shop", "specs/shop.afs"), ("shop.afs", "specs/shop.afs")):
        result = invoke("check", name)
        assert result.exit_code == 2
        assert f"= help: did you mean `{meant}`?" in result.stderr


def test_run_without_the_task() -> None:
    invoke("compile", "desk.afs")
    result = invoke("run", "desk", "--task", "setle")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: `desk` has no task `setle`; did you mean `settle`?\n"


def test_run_fails_when_gold_is_not_paid() -> None:
    write("desk.afs", DESK.replace('says "what was paid"', "expect members['M1'].fines = 1; says \"what was paid\""))
    invoke("compile", "desk.afs")
    result = invoke("run", "desk")
    assert result.exit_code == 1
    assert "desk/settle, gold:\n  expected: members['M1'].fines = 1" in result.stdout


# -- the program --------------------------------------------------------------------------------------------------


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "forgec", *arguments], capture_output=True, text=True, check=False)


def test_usage_errors_have_exit_code_2() -> None:
    for arguments in (["frobnicate"], ["check"], ["check", "desk.afs", "--colour"], ["run", "desk", "--trials", "0"]):
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("Usage: forgec")


def test_a_misspelled_command_has_a_hint() -> None:
    assert "there is no command `chekc`; did you mean `check`?" in invoke("chekc", "desk.afs").stderr


def test_a_defect_of_the_compiler_has_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(prog_name: str) -> None:
        raise KeyError(prog_name)

    monkeypatch.setattr(commands, "forgec", fail)
    with pytest.raises(SystemExit) as stopped:
        __main__.main()
    assert stopped.value.code == 3
    assert "internal error: this is a defect of forgec" in capsys.readouterr().err


def test_a_compiled_sqlglot_is_told_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def load(prog_name: str) -> None:
        require_interpreted(f"/lib/{prog_name}/core.cpython-311-x86_64-linux-gnu.so")

    monkeypatch.setattr(commands, "forgec", load)
    with pytest.raises(SystemExit) as stopped:
        __main__.main()
    assert stopped.value.code == 2
    assert "pip uninstall sqlglotc" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_examples_and_exit_codes(command: str) -> None:
    shown = invoke(command, "--help").stdout
    assert f"Examples:\n    forgec {command} " in shown
    assert "Exit codes: 0 " in shown


def test_help_shows_examples_of_every_command() -> None:
    shown = invoke("--help").stdout
    assert "Examples:\n" in shown
    assert all(f"    forgec {command} " in shown for command in COMMANDS)


def test_help_is_quick() -> None:
    heavy = ["black", "duckdb", "jinja2", "lark", "networkx", "pydantic", "sqlglot"]
    script = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print('loaded:', [name for name in {heavy} if name in sys.modules]))\n"
        "sys.argv = ['forgec', '--help']\n"
        "from forgec.__main__ import main\n"
        "main()\n"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("Usage: forgec ")
    assert shown.endswith("loaded: []\n")


def test_the_program_runs_as_a_module_and_knows_its_version() -> None:
    assert program("--version").stdout.startswith("forgec ")
    result = program("check", "missing.afs")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "error[AFS001]: there is no such file\n --> missing.afs\n1 error\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [["--help"], ["show", str(Path(__file__).parents[1] / "specs" / "library.afs")]])
def test_an_output_that_is_full_is_told_without_a_traceback(arguments: list[str]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "forgec", *arguments]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr) == (2, "forgec: No space left on device\n")
