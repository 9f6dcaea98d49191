"""The runtime compiled to C tells what the one in Python tells. Skipped where `make compiled` has not made it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shipped import ENVIRONMENTS

COMPILED = Path(sys.prefix) / "compiled"
GENERATED = Path(__file__).parents[2] / "generated"
PLAY = """
import sys
from forgec_runtime import call, load_environment
from forgec_runtime.plan import play_gold
print(call.__file__.endswith(".py"), file=sys.stderr)
for folder in sys.argv[1:]:
    env = load_environment(folder)
    for name, task in list(env.tasks.items())[:8]:
        gold, episode = play_gold(env, task), env.reset(name)
        for made in gold.calls:
            for missing in made.arguments:
                rest = {name: value for name, value in made.arguments.items() if name != missing}
                print(env.call(episode, made.tool, None, **rest).text)
            told = env.call(episode, made.tool, None, **made.arguments)
            print(told.kind, told.text, told.detail, told.changed)
        print(episode.changes(), episode.digest(), episode.broken_rules, env.reward(episode, task))
    print(env.executions)
"""


@pytest.mark.skipif(not COMPILED.exists(), reason="`make compiled` has not been run")
def test_the_compiled_runtime_means_the_same() -> None:
    folders = [str(GENERATED / path.stem) for path in ENVIRONMENTS]
    told, in_python = [], []
    for first in ([], [str(COMPILED)]):
        path = os.pathsep.join([*first, *sys.path])
        run = subprocess.run(
            [sys.executable, "-c", PLAY, *folders],
            env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        told.append(run.stdout)
        in_python.append(run.stderr.strip())
    assert in_python == ["True", "False"]
    assert told[0] == told[1]
