"""Seccomp: the system calls that a process may make. All others fail, as if there was no permission.

The filter allows what Python and DuckDB need to compute and to answer over pipes that are open. What it leaves out are
new processes and programs, sockets, writing of files, signals to others, tracing, mounts, memory that can be run, and
whatever kernels will have one day.

The known library for this, libseccomp, is a system package that Python's binding does not bring along, and that is
missing on many machines; the filter itself is a hundred words, which are put together here.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_THREAD = 0x10000  # CLONE_THREAD
_EXECUTE = 4  # PROT_EXEC
_FILE_COMMANDS = (0, 1, 2, 3, 4, 5, 6, 7, 1030)  # copies, flags and locks of descriptors; no owner of signals

_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67), "lseek": (8, 62),
    "close": (3, 57), "fstat": (5, 80), "newfstatat": (262, 79), "stat": (4, None), "lstat": (6, None),
    "statx": (332, 291), "access": (21, None), "faccessat": (269, 48), "readlink": (89, None), "readlinkat": (267, 78),
    "getdents64": (217, 61), "fadvise64": (221, 223), "dup": (32, 23), "poll": (7, None), "ppoll": (271, 73),
    "select": (23, None), "pselect6": (270, 72), "munmap": (11, 215), "mremap": (25, 216), "madvise": (28, 233),
    "brk": (12, 214), "futex": (202, 98), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169), "times": (100, 153),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "restart_syscall": (219, 128), "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "getcpu": (309, 168),
    "membarrier": (324, 283), "set_robust_list": (273, 99), "set_tid_address": (218, 96), "rseq": (334, 293),
    "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "getcwd": (79, 17), "uname": (63, 160), "sysinfo": (99, 179),
    "getrusage": (98, 165), "getrlimit": (97, 163), "getrandom": (318, 278), "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip
"""What may be called with any arguments: the numbers on x86-64 and on ARM 64."""

_MACHINES = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}
"""By machine: the column of numbers, the name that the kernel has for it, and the number of `seccomp` itself."""


@dataclass(frozen=True)
class _Rule:
    """A call that may be made when one of its arguments fits: has none of some bits, or one, or is among values."""

    numbers: tuple[int | None, int | None]
    argument: int
    none_of: int = 0
    one_of: int = 0
    among: tuple[int, ...] = ()


def _rules(pid: int) -> tuple[_Rule, ...]:
    return (
        _Rule((2, None), 1, none_of=_WRITES),  # open
        _Rule((257, 56), 2, none_of=_WRITES),  # openat
        _Rule((56, 220), 0, one_of=_THREAD),  # clone
        _Rule((9, 222), 2, none_of=_EXECUTE),  # mmap
        _Rule((10, 226), 2, none_of=_EXECUTE),  # mprotect
        _Rule((72, 25), 1, among=_FILE_COMMANDS),  # fcntl
        _Rule((302, 261), 0, among=(0,)),  # prlimit64, of itself
        _Rule((234, 131), 0, among=(pid,)),  # tgkill, of its own threads
    )


_UNKNOWN = ((435, 435), (437, 437), (439, 439))
"""Calls that libraries do without on kernels that have them not: clone3, openat2, faccessat2."""

_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _ANY, _ABOVE, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_X32 = 0x40000000


def available() -> bool:
    """Whether this kernel and machine have it."""
    if platform.system() != "Linux" or platform.machine() not in _MACHINES:
        return False
    library = ctypes.CDLL(None, use_errno=True)
    action = struct.pack("=I", _KILL)
    number = _MACHINES[platform.machine()][2]
    return int(library.syscall(ctypes.c_long(number), 2, 0, action)) == 0  # SECCOMP_GET_ACTION_AVAIL


def install() -> None:
    """Let this process make no other calls from now on. It needs `no_new_privs`. Raises `OSError`."""
    if platform.system() != "Linux" or platform.machine() not in _MACHINES:
        raise OSError(f"no filter is known for {platform.system()} on {platform.machine()}")
    words = b"".join(_program())
    memory = ctypes.create_string_buffer(words)
    program = struct.pack("@HP", len(words) // 8, ctypes.addressof(memory))
    library = ctypes.CDLL(None, use_errno=True)
    number = _MACHINES[platform.machine()][2]
    if library.syscall(ctypes.c_long(number), 1, 1, program) != 0:  # SECCOMP_SET_MODE_FILTER, for all threads
        code = ctypes.get_errno()
        raise OSError(code, f"seccomp: {os.strerror(code)}")


def _program() -> Iterator[bytes]:
    column, machine, _ = _MACHINES[platform.machine()]
    yield _word(_LOAD, 4)
    yield _word(_EQUAL, machine, 1, 0)
    yield _word(_RETURN, _KILL)
    yield _word(_LOAD, 0)
    if column == 0:
        yield _word(_ABOVE, _X32, 0, 1)
        yield _word(_RETURN, _FAIL | errno.EPERM)
    for numbers in _NUMBERS.values():
        if (number := numbers[column]) is not None:
            yield _word(_EQUAL, number, 0, 1)
            yield _word(_RETURN, _ALLOW)
    for numbers in _UNKNOWN:
        yield _word(_EQUAL, numbers[column], 0, 1)
        yield _word(_RETURN, _FAIL | errno.ENOSYS)
    for rule in _rules(os.getpid()):
        if (number := rule.numbers[column]) is not None:
            tests = list(_tests(rule))
            yield _word(_EQUAL, number, 0, len(tests) + 1)
            yield _word(_LOAD, 16 + 8 * rule.argument)
            yield from tests
    yield _word(_RETURN, _FAIL | errno.EPERM)


def _tests(rule: _Rule) -> Iterator[bytes]:
    """What ends a call one way or the other, by an argument that is loaded."""
    refused, allowed = _word(_RETURN, _FAIL | errno.EPERM), _word(_RETURN, _ALLOW)
    if rule.none_of:
        yield from (_word(_ANY, rule.none_of, 0, 1), refused, allowed)
        return
    if rule.one_of:
        yield from (_word(_ANY, rule.one_of, 0, 1), allowed)
    for value in rule.among:
        yield from (_word(_EQUAL, value, 0, 1), allowed)
    yield refused


def _word(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
