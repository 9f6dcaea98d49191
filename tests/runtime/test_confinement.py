"""Workers try to get out, and cannot; memory is bounded; no error of the engine reaches an agent."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forgec_runtime import PostureError, Workers
from forgec_runtime.confining import landlock, posture, seccomp
from forgec_runtime.errors import FAULT_TEXT
from tests.runtime.test_workers import LIBRARY, pids

linux = pytest.mark.skipif(
    not landlock.version() or not seccomp.available(), reason="this kernel has no Landlock, or no seccomp filters"
)


@pytest.fixture(scope="module")
def confined() -> Iterator[Workers]:
    with Workers(LIBRARY, 1) as pool:
        yield pool


@linux
def test_nothing_that_a_worker_tries_works(confined: Workers) -> None:
    tried = confined.attempts()
    assert [one for one in tried if not one.held] == []
    assert {one.layer for one in tried} == {
        "variables", "files", "network", "processes", "memory", "time", "engine", "modules",
    }  # fmt: skip
    assert confined.posture == posture.measured(tried) == "confined"
    assert confined.layers == {"privileges": "", "files": "", "calls": "", "limits": ""}


@linux
def test_what_is_tried_works_where_nothing_stops_it() -> None:
    """Else the attempts would show nothing."""
    with Workers(LIBRARY, 1, confine=False) as pool:
        worked = {one.tried for one in pool.attempts() if not one.held}
    assert worked >= {
        "read the environment", "read a file of the system", "list a folder", "write a file", "open a TCP socket",
        "open a Unix socket", "fork", "run a program", "signal its parent", "trace a process", "reserve 64 GiB",
        "make memory that runs", "run without end",
    }  # fmt: skip


def test_a_worker_that_is_not_confined_is_refused() -> None:
    with pytest.raises(PostureError, match="to be `confined`, and here they are only `process`"):
        Workers(LIBRARY, 1, confine=False, posture="confined")


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look into a process that nobody may trace")
def test_a_worker_has_no_descriptors_but_its_own(confined: Workers) -> None:
    (pid,) = pids(confined)
    open_files = sorted(os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir())
    pipes = [file for file in open_files if file.startswith("pipe:")]
    assert len(pipes) == 3
    others = {file for file in open_files if file not in pipes}
    assert others <= {"/dev/null", f"/proc/{pid}/statm", f"/proc/{pid}/cgroup", "/sys/fs/cgroup"}
    assert Path(f"/proc/{pid}/environ").read_bytes().count(b"=") <= len(os.environ)


@linux
def test_a_filter_fails_what_it_does_not_allow_and_no_more() -> None:
    """The numbers of calls are those of this machine: Python goes on, and each kind of refused call is refused."""
    program = """
import ctypes, errno, os, threading, time
from forgec_runtime.confining import seccomp
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
seccomp.install()
threads = [threading.Thread(target=time.sleep, args=(0.001,)) for _ in range(3)]
[one.start() for one in threads]
[one.join() for one in threads]
assert sum(map(int, map(str, range(1000)))) and open("/dev/null").read() == "" and time.time() > 0 and os.getpid()
for call in (
    os.fork, os.setsid, lambda: os.open("/dev/null", os.O_WRONLY), lambda: os.kill(os.getpid(), 0),
    lambda: os.mkdir("/x"), lambda: os.symlink("a", "/b"), lambda: os.chmod("/dev/null", 0o777),
    lambda: os.pipe2(0), lambda: os.memfd_create("a"), lambda: os.posix_spawn("/bin/true", ["true"], {}),
):
    try:
        call()
    except OSError as error:
        assert error.errno == errno.EPERM, error
    else:
        raise AssertionError(call)
print("done", flush=True)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("done\n", "")


def test_machines_without_layers_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not seccomp.available()
    with pytest.raises(OSError, match="on riscv64"):
        seccomp.install()
    layers = {"privileges": "", "files": "", "calls": "no filter is known for riscv64", "limits": ""}
    assert posture.reached(layers) == "limits"
    assert posture.reached({**layers, "limits": "RLIMIT_AS"}) == "process"
    assert posture.missing(layers) == "calls: no filter is known for riscv64"


BOMBS = """
from datetime import datetime
from pathlib import Path
from forgec_runtime import Column, Environment, Parameter, Query, Table, Tool, World, types as t

ROWS = Table("rows", columns=(Column("k", t.Text()), Column("n", t.Integer())), key=("k",))

def bomb(name, text):
    query = Query(text, tables=(), values=(), columns=("v",), order="")
    return Tool(name, lambda call: call.value(query))

def hoard(call, n):
    kept = []
    for _ in range(n):
        kept.append(bytearray(1 << 20))
    return len(kept)

def deep(call, n):
    return deep(call, n + 1)

N = (Parameter("n", t.Integer()),)
ENVIRONMENT = Environment(
    name="bombs", clock=datetime(2025, 3, 1), tables=(ROWS,),
    tools=(
        bomb("repeated", "select length(repeat('x', 3000000000)) as v"),
        bomb("listed", "select len(range(2000000000)) as v"),
        bomb("formatted", "select length(format('{{:>2000000000}}', 'x')) as v"),
        bomb("secret", "select secret_of_others as v from rows_of_others"),
        bomb("read", "select content as v from read_text('/etc/hosts')"),
        Tool("hoard", hoard, parameters=N), Tool("deep", deep, parameters=N),
    ),
    worlds=(World("w", Path(__file__).with_name("w.json")),),
)
"""


@linux
def test_memory_is_bounded_and_errors_of_the_engine_are_not_told(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text(BOMBS, encoding="utf-8")
    (tmp_path / "w.json").write_text('{"rows": [{"k": "a", "n": 0}]}', encoding="utf-8")
    with Workers(tmp_path, 1, trusted=True) as pool:
        before = pids(pool)
        episode = pool.reset("w")
        names = ("repeated", "listed", "formatted", "secret", "read")
        results = pool.step([(episode, name, {}) for name in names])
        results += pool.step([(episode, "hoard", {"n": 20_000}), (episode, "deep", {"n": 0})])
        assert [(result.kind, result.text) for result in results] == [("fault", FAULT_TEXT)] * 7
        details = [result.detail for result in results]
        assert all("memory" in detail.lower() for detail in [*details[:3], details[5]]), details
        assert "rows_of_others" in details[3] and "LocalFileSystem" in details[4]  # for developers alone
        assert pool.call(episode, "hoard", n=10).text == "10"
        assert pids(pool) == before
