"""What a path in a spec may lead to: regular files in the folder of the environment, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forgec.files.folder import Folder, NoFile


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    inside = tmp_path / "specs"
    (inside / "shared").mkdir(parents=True)
    (inside / "shared" / "money.afs").write_text("money", encoding="utf-8")
    (inside / "shared" / "more.afs").write_text("more", encoding="utf-8")
    (tmp_path / "secret.afs").write_text("secret", encoding="utf-8")
    return Folder(inside)


@pytest.mark.parametrize(
    ("written", "beside", "found"),
    [
        ("shared/money.afs", "", "shared/money.afs"),
        ("shared/money.afs", "library.afs", "shared/money.afs"),
        ("./shared/../shared//money.afs", "library.afs", "shared/money.afs"),
        ("more.afs", "shared/money.afs", "shared/more.afs"),
        ("../shared/more.afs", "shared/money.afs", "shared/more.afs"),
    ],
)
def test_a_path_starts_at_the_file_that_it_stands_in(folder: Folder, written: str, beside: str, found: str) -> None:
    assert folder.find(written, beside) == found


def test_no_more_is_read_than_shows_that_it_is_too_much(folder: Folder) -> None:
    assert folder.read("shared/money.afs", 100) == b"money"
    assert folder.read("shared/money.afs", 2) == b"mon"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "this path is empty"),
        ("a\nb", "this path has a character that cannot be seen"),
        ("a\0b", "this path has a character that cannot be seen"),
        ("shared\\money.afs", "`shared\\money.afs` is not a path of the folder"),
        ("/etc/passwd", "`/etc/passwd` is an absolute path"),
        ("C:/money.afs", "`C:/money.afs` is an absolute path"),
        ("../secret.afs", "`../secret.afs` lies outside the folder of the spec"),
        ("shared/../../secret.afs", "`shared/../../secret.afs` lies outside the folder of the spec"),
        ("..", "`..` lies outside the folder of the spec"),
        ("shared", "`shared` is no file, but a folder"),
        (".", "`.` is no file, but a folder"),
        ("mony.afs", "there is no file `mony.afs` beside this one"),
        ("shared/money.afs/x", "there is no file `shared/money.afs/x` beside this one"),
        ("a" * 5000, f"`{'a' * 5000}` cannot be read: File name too long"),
    ],
)
def test_no_path_leads_out_of_the_folder(folder: Folder, written: str, message: str) -> None:
    with pytest.raises(NoFile) as refused:
        folder.find(written, "library.afs")
    assert refused.value.message == message


def test_what_was_meant_is_looked_for_where_the_path_leads(folder: Folder) -> None:
    with pytest.raises(NoFile) as refused:
        folder.find("shared/mony.afs")
    assert refused.value.help == "did you mean `shared/money.afs`?"


@pytest.mark.parametrize("target", ["../secret.afs", "/etc/passwd", ".."])
def test_no_link_leads_out_of_the_folder(folder: Folder, target: str) -> None:
    (folder.path / "link").symlink_to(target)
    written = "link/secret.afs" if target == ".." else "link"
    with pytest.raises(NoFile, match="leads out of the folder"):
        folder.find(written)


def test_links_inside_of_the_folder_are_followed(folder: Folder) -> None:
    (folder.path / "link.afs").symlink_to("shared/money.afs")
    assert folder.find("link.afs") == "link.afs"


def test_the_folder_itself_may_be_a_link(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to("specs")
    assert Folder(tmp_path / "linked").find("shared/money.afs") == "shared/money.afs"


def test_what_is_no_regular_file_is_not_read(folder: Folder) -> None:
    os.mkfifo(folder.path / "pipe.afs")
    with pytest.raises(NoFile, match="is no file"):
        folder.find("pipe.afs")
