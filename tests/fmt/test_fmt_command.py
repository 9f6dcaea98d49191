"""`forgec fmt` as it is used."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner, Result

import forgec.formatting
from forgec.commands import forgec as main
from forgec.diagnostics import Report
from forgec.formatting import FormatError, format_source
from forgec.source import Source

LOOSE = "enum A {a}\nenum B { b, }\n"
NEAT = "enum A { a }\n\nenum B {\n  b,\n}\n"
BROKEN = "enum A { a }\nenum { }\n"


def invoke(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["fmt", *arguments], input=stdin, catch_exceptions=False)


@pytest.fixture
def loose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("loose.afs").write_text(LOOSE, encoding="utf-8")
    Path("neat.afs").write_text(NEAT, encoding="utf-8")
    Path("broken.afs").write_text(BROKEN, encoding="utf-8")
    return Path("loose.afs")


def test_files_are_formatted_in_place_and_only_if_that_changes_them(loose: Path) -> None:
    loose.chmod(0o640)
    before = os.stat("neat.afs")
    result = invoke("loose.afs", "neat.afs", "./loose.afs")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "loose.afs: formatted\nneat.afs: unchanged\n"
    assert loose.read_text(encoding="utf-8") == NEAT
    assert loose.stat().st_mode & 0o777 == 0o640
    after = os.stat("neat.afs")
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(path.name for path in Path().iterdir()) == ["broken.afs", "loose.afs", "neat.afs"]


def test_a_link_stays_a_link(loose: Path) -> None:
    Path("link.afs").symlink_to(loose)
    assert invoke("link.afs").exit_code == 0
    assert Path("link.afs").is_symlink() and loose.read_text(encoding="utf-8") == NEAT


def test_check_names_what_would_change(loose: Path) -> None:
    result = invoke("neat.afs", "loose.afs", "--check")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "loose.afs: would be formatted\n", "")
    assert loose.read_text(encoding="utf-8") == LOOSE
    result = invoke("neat.afs", "--check")
    assert (result.exit_code, result.output) == (0, "")


def test_diff_prints_what_would_change(loose: Path) -> None:
    result = invoke("loose.afs", "neat.afs", "--diff")
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout == (
        "--- loose.afs\n+++ loose.afs (formatted)\n@@ -1,2 +1,5 @@\n"
        "-enum A {a}\n-enum B { b, }\n+enum A { a }\n+\n+enum B {\n+  b,\n+}\n"
    )
    assert loose.read_text(encoding="utf-8") == LOOSE
    result = invoke("neat.afs", "--diff", "--check")
    assert (result.exit_code, result.output) == (0, "")


def test_standard_input_goes_to_standard_output() -> None:
    result = invoke("-", stdin="\ufeff" + LOOSE)
    assert (result.exit_code, result.stdout, result.stderr) == (0, NEAT, "")
    result = invoke("-", "--check", stdin=LOOSE)
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "<stdin>: would be formatted\n")
    result = invoke("-", "--diff", stdin=LOOSE)
    assert result.exit_code == 1 and result.stdout.startswith("--- <stdin>\n")
    result = invoke("-", stdin=BROKEN)
    assert (result.exit_code, result.stdout) == (1, "") and " --> <stdin>:2:6" in result.stderr
    result = invoke("-", stdin=b"\xff")
    assert (result.exit_code, result.stdout) == (2, "") and "error[AFS003]" in result.stderr


def test_a_file_that_does_not_parse_stays_as_it_is_and_the_others_do_not(loose: Path) -> None:
    result = invoke("broken.afs", "loose.afs")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[AFS101]: ") and " --> broken.afs:2:6" in result.stderr
    assert result.stdout == "loose.afs: formatted\n"
    assert Path("broken.afs").read_text(encoding="utf-8") == BROKEN


def test_a_file_that_cannot_be_read_or_written(loose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = invoke("nowhere.afs", "loose.afs", "--check")
    assert result.exit_code == 2 and "error[AFS001]: there is no such file" in result.stderr

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    result = invoke("loose.afs")
    assert result.exit_code == 1
    assert "error[AFS804]: cannot be written: No space left on device\n --> loose.afs" in result.stderr
    assert sorted(path.name for path in Path().iterdir()) == ["broken.afs", "loose.afs", "neat.afs"]


def test_only_what_is_a_file_and_may_be_written_is_replaced(loose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo("pipe.afs")
    writer = Thread(target=lambda: Path("pipe.afs").write_text(LOOSE, encoding="utf-8"))
    writer.start()
    result = invoke("pipe.afs")
    writer.join()
    assert (result.exit_code, Path("pipe.afs").is_fifo()) == (1, True)
    assert "error[AFS804]: cannot be written: it is no regular file" in result.stderr
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)  # root may write everything
    result = invoke("loose.afs")
    assert (result.exit_code, loose.read_text(encoding="utf-8")) == (1, LOOSE)
    assert "error[AFS804]: cannot be written: Permission denied" in result.stderr


def test_links_that_run_in_a_circle_are_no_defect(loose: Path) -> None:
    Path("circle.afs").symlink_to("circle.afs")
    result = invoke("circle.afs")
    assert result.exit_code == 2 and "error[AFS001]: this file cannot be read: " in result.stderr


def test_json(loose: Path) -> None:
    result = invoke("neat.afs", "loose.afs", "broken.afs", "--json", "--diff")
    report = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (1, "")
    assert [(spec["spec"], spec["outcome"]) for spec in report["specs"]] == [
        ("neat.afs", "unchanged"),
        ("loose.afs", "would be formatted"),
        ("broken.afs", "refused"),
    ]
    assert report["specs"][0]["diff"] == "" and report["specs"][1]["diff"].startswith("--- loose.afs\n")
    assert [found["code"] for found in report["diagnostics"]] == ["AFS101"]


@pytest.mark.parametrize("arguments", [("-", "a.afs"), ("-", "--json"), ()])
def test_usage(arguments: tuple[str, ...]) -> None:
    assert invoke(*arguments, stdin="").exit_code == 2


def test_a_result_that_says_something_else_is_never_written(loose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = forgec.formatting._printed
    monkeypatch.setattr("forgec.formatting._printed", lambda tree: printed(tree).replace("{ a }", "{ x }"))
    result = invoke("loose.afs", "neat.afs")
    assert result.exit_code == 3
    assert result.stderr.startswith(
        "INTERNAL ERROR: loose.afs stays as it is, because in what would be written the syntax trees differ at"
        " the file, items 1, variants 1, value: a became x\n"
    )
    assert loose.read_text(encoding="utf-8") == LOOSE


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("enum A { a } -- c\n", "enum A { a }\n", "comment 1 differs: -- c became nothing"),
        ("enum A { a } -- c\n-- d\n", "enum A { a }  -- d\n-- c\n", "comment 1 differs: -- c became -- d"),
        ("function f() returns text = a;", "function f() returns text = A;\n", "token 8 differs: a became A"),
        ("function f() returns text = a;", "function f() returns text =\n a a;\n", "token 9 differs: ; became a"),
        ("enum A { a }", "enum A { a\n", "it does not parse: expected `,` or `}`, found the end of the declaration"),
        ("enum A { a }", "enum A  { a }\n", "a second run would change line 1"),
    ],
)
def test_what_differs_is_found(before: str, after: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = iter([after, "enum A { a }\n"])
    monkeypatch.setattr("forgec.formatting._printed", lambda tree: next(texts))
    with pytest.raises(FormatError) as raised:
        format_source(Source("spec.afs", before), Report())
    assert str(raised.value) == message
