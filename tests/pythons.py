"""Where the Pythons of this machine are."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path


def interpreter(version: str) -> str | None:
    """The program of a version of Python: this one, one on the path, or one that pyenv keeps."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    kept = Path.home().glob(f".pyenv/versions/{version}.*/bin/python")
    for program in (shutil.which(f"python{version}"), *sorted(map(str, kept))):
        if (
            program is not None
            and subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0
        ):
            return program
    return None
