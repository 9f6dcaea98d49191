"""The process that plays gold plans again.

    python -m forgec.certifying.player FOLDER [SOURCE]...

reads tasks with seeds from its standard input, and writes the digests of the states that their plans end in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from forgec.certifying.collecting import seldom_collected
from forgec.certifying.computing import twin_of
from forgec.certifying.messages import receive, send
from forgec.certifying.trial import digests, try_out
from forgec_runtime import load_environment


def main(folder: str, sources: Iterable[str]) -> None:
    """Answer until nothing is asked any more."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # tools may print
    environment = load_environment(Path(folder), allow_sources=sources)
    environment.keep_answers(twin_of)
    with seldom_collected():
        while True:
            try:
                asked = receive(sys.stdin.buffer)
            except EOFError:
                return
            send(replies, [digests(trial) for trial in try_out(environment, asked)])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
