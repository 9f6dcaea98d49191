"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes | Iterable[bytes], like: os.stat_result | None = None) -> None:
    """Put a file there in one step, all of its data or part by part, with the permissions of another and, if that is
    allowed, its owner.

    Raises `OSError`; what was there before is then still there.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".forgec-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
        if like is not None:
            with suppress(PermissionError):
                os.chown(temporary, like.st_uid, like.st_gid)
        os.chmod(temporary, 0o644 if like is None else like.st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
