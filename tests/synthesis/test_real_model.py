"""A real model of 135 million parameters writes specs, offline: poor ones. What counts is that nothing breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from forgec.commands import forgec
from tests.real_model import NEEDED, real_model

pytestmark = NEEDED
DOCUMENTS = Path(__file__).parent / "documents"


@pytest.mark.parametrize("name", ["parcels.md"])
def test_what_a_real_model_writes_is_mended_refused_or_reported(name: str, tmp_path: Path) -> None:
    """Twice, the second time from what was recorded, which comes to the same bytes."""
    options = ["--model", "smollm2", "--tasks", "1", "--rounds", "1", "--group", "4", "--question-size", "9000",
               "--set", "max_tokens=150", "--set", "temperature=0", "--connections", "1", "--json"]  # fmt: skip
    record = str(tmp_path / "traffic.jsonl")
    found = []
    with real_model() as address:
        for folder, more in (
            ("a", ["--base-url", f"{address}/v1", "--record", record]),
            ("b", ["--replay-from", record]),
        ):
            out = tmp_path / folder / "spec.afs"
            result = CliRunner().invoke(
                forgec, ["synth", str(DOCUMENTS / name), *options, *more, "--name", "spec", "--out", str(out)],
                catch_exceptions=False,
            )  # fmt: skip
            assert result.exit_code in (0, 1), result.output
            found.append((result.exit_code, json.loads(result.stdout), out.read_bytes() if out.exists() else b""))
    (code, report, spec), again = found
    assert (again[0], again[2]) == (code, spec)
    covered = report["coverage"]
    assert all(one["state"] == "shown" or one["why"] for one in covered["operations"])
    assert (code == 0) == (covered["shown"] > 0)
    if spec:
        for command in ("check", "test"):
            result = CliRunner().invoke(forgec, [command, str(tmp_path / "a" / "spec.afs")], catch_exceptions=False)
            assert result.exit_code == 0, result.output
