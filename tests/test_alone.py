"""Files that one process at a time works on."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forgec.alone import InUseError, Lines, alone


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


@contextmanager
def full_at(size: int) -> Iterator[None]:
    """No file can grow beyond so many bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_line_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    lines = Lines(path)
    lines.add(b"one\n")
    with full_at(10), pytest.raises(OSError, match="too large"):
        lines.add(b"another, which is longer\n")
    lines.add(b"two\n")
    lines.close()
    assert path.read_bytes() == b"one\ntwo\n"


def test_lines_are_added_by_one_process_at_a_time(tmp_path: Path) -> None:
    lines = Lines(tmp_path / "lines")
    with pytest.raises(InUseError):
        Lines(tmp_path / "lines")
    lines.close()
    Lines(tmp_path / "lines").close()


def test_what_has_no_end_is_cut_off_if_it_may_be_ours(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    long = b'{"a":' + b"1" * 200_000
    for rest, ours in ((b"", True), (b"{", True), (b'{"a":1', True), (long, True), (b"mine", False)):
        for before in (b"", b'{"a":0}\n'):
            path.write_bytes(before + rest)
            lines = Lines(path)
            assert lines.cut_off(b'{"a":') == ours
            lines.close()
            assert path.read_bytes() == (before if ours else before + rest)


def test_lines_go_to_files_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(OSError, match="Not a regular file"):
            Lines(path)
    with pytest.raises(IsADirectoryError):
        Lines(tmp_path)
