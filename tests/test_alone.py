"""Files that one process at a time works on."""

from __future__ import annotations

from pathlib import Path

import pytest

from forgec.alone import InUseError, alone


def test_nobody_else_has_it_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "work"
    with alone(path, make=True), pytest.raises(InUseError), alone(path):
        pass
    with alone(path):
        pass


def test_what_whoever_had_it_removed_is_another_file(tmp_path: Path) -> None:
    path = tmp_path / "work"
    with alone(path, make=True):
        path.unlink()
        with alone(path, make=True), pytest.raises(InUseError), alone(path):
            pass


def test_it_must_be_there_unless_it_is_to_be_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), alone(tmp_path / "work"):
        pass
    assert not (tmp_path / "work").exists()
