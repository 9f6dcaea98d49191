"""Landlock: which files a process may reach, and no TCP, no signals to others, no sockets without a name.

Linux gives it to every process, without rights and without a library, as three system calls since 5.13. The bindings
that can be installed are wrappers of these three that are not kept up, so that they are made here.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on every architecture
_VERSION = 1
_BENEATH = 1

_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_FILE_RIGHTS = {1: 1 << 13, 2: 1 << 14, 3: 1 << 15, 5: 1 << 16}
"""By version, one more than the last bit of what it can forbid to do with files."""
_TCP = 0b11
_SCOPES = 0b11


def version() -> int:
    """The version of Landlock that this kernel has; 0 for none, also where it is switched off."""
    if platform.system() != "Linux":  # where these numbers mean something else
        return 0
    found = ctypes.CDLL(None, use_errno=True).syscall(
        ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), _VERSION
    )
    return max(int(found), 0)


def restrict(readable: Iterable[Path]) -> int:
    """Let this thread, and those that it starts, read these files and what is below these folders, and nothing else.

    Gives the version used. It needs `no_new_privs`. Raises `OSError`.
    """
    found = version()
    if not found:
        raise OSError("this kernel has no Landlock, or does not let it be used")
    rights = _FILE_RIGHTS[max(known for known in _FILE_RIGHTS if known <= found)] - 1
    fields = (rights, _TCP if found >= 4 else 0, _SCOPES if found >= 6 else 0)
    attributes = struct.pack("=QQQ", *fields)[: 24 if found >= 6 else 16 if found >= 4 else 8]
    ruleset = _call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    try:
        for path in readable:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                allowed = _READ_FILE | (_READ_FOLDER if path.is_dir() else 0)
                _call(_ADD_RULE, ruleset, _BENEATH, struct.pack("=Qi", allowed, place), 0)
            finally:
                os.close(place)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return found


def _call(number: int, *arguments: object) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    result = int(library.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock: {os.strerror(code)}")
    return result
