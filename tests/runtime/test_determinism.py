"""The same calls give the same texts and states in every process."""

import os
import subprocess
import sys
from pathlib import Path

PLAY = """
import sys
from pathlib import Path
from tests.runtime.library_fixture import make_library
env = make_library(Path(sys.argv[1]), books=12_000)
episodes = [env.reset("front_desk") for _ in range(8)]
for i in range(4):
    isbns = [f"B{11_000 + 3 * i + j % 3}" for j in range(8)]
    calls = [(e, "lend_book", {"member_id": "M2", "isbn": isbn}) for e, isbn in zip(episodes, isbns)]
    calls += [(e, "list_loans", {"member_id": "M2"}) for e in reversed(episodes)]
    calls += [(e, "add_member", {"member_id": f"N{i}", "email": f"{j}@example.org"}) for j, e in enumerate(episodes)]
    for result in env.step(calls):
        print(result.kind, result.text)
for episode in episodes:
    print(episode.changes(), episode.broken_rules)
print(env.executions)
"""


def test_hash_seeds_change_nothing(tmp_path: Path) -> None:
    told = []
    for seed in ("0", "1", "4711"):
        folder = tmp_path / seed
        folder.mkdir()
        path = os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        run = subprocess.run(
            [sys.executable, "-c", PLAY, str(folder)], env=environment, capture_output=True, text=True, check=True
        )
        told.append(run.stdout)
    assert told[0] == told[1] == told[2]
    assert "A member may hold three books at a time" in told[0]
