"""Virtual environments with NeMo Gym and this project, made where a Python is found that a release takes."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.pythons import interpreter

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".venv" / "gym"
PROJECTS = (ROOT / "runtime", ROOT)


@dataclass(frozen=True)
class Release:
    """A release of NeMo Gym that the contract was written for."""

    number: str
    python: str
    flags: tuple[str, ...] = ()
    """Of pip, beside the usual ones."""
    masks: bool = True
    """Whether it leaves rollouts that are masked out of its statistics."""
    checks: bool = True
    """Whether it has manifests, and checks of verifiers and sessions."""


RELEASES = (
    Release("0.7.0", "3.13", ("--ignore-requires-python",)),  # wants a later 3.13 than many machines have
    Release("0.4.0", "3.12", masks=False, checks=False),
)


class NotInstalled(Exception):
    """NeMo Gym cannot be had here, and why."""


def installed(release: Release, python: str | None = None) -> Path:
    """The folder of programs of a virtual environment that has a release, made by the Python of this version or path.

    What was installed before is used again until the requirements of this project change. Raises `NotInstalled`.
    """
    wanted = python or release.python
    program = interpreter(wanted) if re.fullmatch(r"3\.\d+", wanted) else shutil.which(wanted)
    if program is None:
        raise NotInstalled(f"there is no Python {wanted} for NeMo Gym {release.number}")
    folder = HOME / f"{release.number}-{_version(program)}"
    done = folder / "installed"
    if not done.exists() or done.stat().st_mtime < max((one / "pyproject.toml").stat().st_mtime for one in PROJECTS):
        print(f"installing NeMo Gym {release.number} with {program} into {folder}", flush=True)
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        editable = [part for one in PROJECTS for part in ("-e", str(one))]
        steps = [
            [program, "-m", "venv", str(folder)],
            [*pip, *release.flags, f"nemo-gym=={release.number}", "pytest"],
            [*pip, *release.flags, f"nemo-gym=={release.number}", *editable],
        ]
        for step in steps:
            if subprocess.run(step).returncode:
                raise NotInstalled(f"NeMo Gym {release.number} cannot be installed: {' '.join(step)} failed")
        done.touch()
    return folder / "bin"


def _version(program: str) -> str:
    """Like 3.13. Raises `NotInstalled`."""
    command = [program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        raise NotInstalled(f"{program} is no Python: {ran.stderr.strip()[:500]}")
    return ran.stdout.strip()
