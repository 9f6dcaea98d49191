"""Damaged inputs for whatever reads what others wrote: nothing may be raised but what each reader says it raises.

    python -m tests.hostile.fuzzing --inputs 100000             # a hundred thousand of each target, by a seed
    python -m tests.hostile.fuzzing --target parse --atheris    # led by coverage, where atheris is installed

A finding names its target, seed and number, and shows the input.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType

from forgec.bulk.reading import lines
from forgec.diagnostics import Report
from forgec.diagnostics.text import render_text
from forgec.files.parquet import parquet_documents
from forgec.files.reading import decoded
from forgec.formatting import format_source
from forgec.source import Source
from forgec.syntax import parse
from forgec_runtime import Environment, SnapshotError, load_environment
from forgec_runtime.data.documents import KINDS, Unreadable, documents_in, text_of
from forgec_runtime.data.rows import Reader
from forgec_runtime.engine import connect
from forgec_runtime.limits import MAX_RESULT
from forgec_runtime.vetting import Unvetted, vet
from forgec_runtime.wire import pack, understood, unpack
from tests.hostile.desk import judge

ROOT = Path(__file__).parents[2]
SECONDS = 5
"""CPU seconds that one input may take."""
PIECES = (
    "'", '"', '"""', "(", ")", "[", "]", "{", "}", ";", ",", "--", "/*", "*/", "$", "$x", "\u00aa", "\0", "\u202e",
    "\ud7ff", "\ue000", " select ", " from ", " -> ", " as ", " = ", "1e999", "9" * 50, "null", "true", "[[[[", "{{",
    "}}", "\\", "\\u0000", "\n", "\r", "\ntool x() { }\n", "\ntask t on w { }\n", '\nuse "x.afs";\n', " check (",
    " serial '{0}'", "unnest(", "each x in ", "if (", "{'a': ",
)  # fmt: skip
"""What damages an input in ways that random bytes seldom do."""


@cache
def library() -> Environment:
    return load_environment(ROOT / "generated" / "library")


# -- targets: each takes any bytes ------------------------------------------------------------------------------------


def target_parse(data: bytes) -> None:
    report = Report()
    source = decoded("x.afs", data, report)
    if source is not None:
        parse(source, report)
    render_text(report)


def target_check(data: bytes) -> None:
    judge(data.decode("utf-8", "replace"))


def target_format(data: bytes) -> None:
    format_source(Source("x.afs", data.decode("utf-8", "replace")), Report())


def target_tasks(data: bytes) -> None:
    report = Report()
    for line in lines(Source("x.tasks.jsonl", data.decode("utf-8", "replace")), report):
        line.task(report, line.places())
    render_text(report)


def target_rows(data: bytes) -> None:
    tables = {table.name: table for table in library().tables}
    for kind in KINDS.values():
        for member in ("", "members"):
            try:
                documents = documents_in(text_of(data), kind, member)
            except Unreadable:
                continue
            list(Reader(tables, {}).rows(tables["members"], documents))


def target_parquet(data: bytes) -> None:
    with suppress(Unreadable):
        parquet_documents(data)


def target_vetting(data: bytes) -> None:
    with suppress(Unvetted):
        vet(data.decode("utf-8", "replace"), "x.py")


def target_snapshots(data: bytes) -> None:
    with suppress(SnapshotError):
        library().restore(data)


def target_wire(data: bytes) -> None:
    """What a worker says is no more than JSON; what is sent to one arrives as it was sent."""
    with suppress(ValueError):
        understood(data)
    text = data.decode("utf-8", "surrogateescape")
    for message in ([text, {"a": text}], [data], [1.5, float("inf"), len(data)]):
        assert unpack(pack(message)) == message


def target_calls(data: bytes) -> None:
    """The arguments of every tool, as bytes, as text, and as whatever JSON they are."""
    env = library()
    episode = env.reset(next(iter(env.worlds)))
    text = data.decode("utf-8", "surrogateescape")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = {"member_id": text}
    names = [*env.tools, text]
    for result in env.step([(episode, name, given) for name in names for given in (data, text, value)]):
        assert len(result.text) <= MAX_RESULT
        assert result.kind != "fault", result.detail


TARGETS: dict[str, Callable[[bytes], None]] = {
    name.removeprefix("target_"): target for name, target in list(globals().items()) if name.startswith("target_")
}


# -- inputs -----------------------------------------------------------------------------------------------------------


@cache
def corpus(target: str) -> tuple[bytes, ...]:
    """Sound inputs of a target."""
    if target == "vetting":
        return tuple(path.read_bytes() for path in sorted((ROOT / "generated" / "library").rglob("*.py")))
    if target == "snapshots":
        env = library()
        episode = env.reset("keep_what_can_be_kept")
        env.call(episode, "pay_fines", member_id="M002", amount=1.25, method="card")
        return (episode.snapshot(), env.reset(next(iter(env.worlds))).snapshot())
    if target == "parquet":
        return _parquet()
    if target in ("rows", "wire", "calls"):
        return (
            b'member_id,name,email\nM001,"Ann, ""A""",a@example.org\nM002,,\n',
            b'{"members": [{"member_id": "M001", "name": "Ann", "fines": 1.50}], "x": [1, null, true]}',
            b'{"member_id": "M001", "name": null}\n{"member_id": "M002"}\n',
            b'{"member_id": "M001", "amount": 1.25, "method": "card", "book_id": "B101", "days": [1, {"a": null}]}',
        )
    if target == "tasks":
        return tuple(
            (ROOT / path).read_bytes() for path in sorted(Path(ROOT).glob("tests/cases/bulk_tasks/**/*.jsonl"))
        )
    specs = sorted([*ROOT.glob("specs/*.afs"), *ROOT.glob("tests/cases/*/*.afs"), *ROOT.glob("tests/fmt/**/*.afs")])
    return tuple(text for text in (path.read_bytes() for path in specs) if target == "parse" or len(text) < 3_000)


def _parquet() -> tuple[bytes, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet"
        select = "select 'M' || i as member_id, [i] as xs, {'a': i} as r, i / 3 as d from range(50) as t(i)"
        connect().execute(f"copy ({select}) to '{path}'")
        return (path.read_bytes(),)


def damaged(draw: Random, whole: tuple[bytes, ...]) -> bytes:
    """A sound input, or a part of one, with a few changes."""
    data = bytearray(draw.choice(whole))
    if len(data) > 4_000:
        start = data.find(b"\n", draw.randrange(len(data)))
        data = data[max(start, 0) :][:4_000]
    for _ in range(draw.choice((1, 1, 2, 5, 20))):
        at = draw.randrange(len(data) + 1)
        what = draw.random()
        if what < 0.45:
            data[at:at] = draw.choice(PIECES).encode("utf-8", "surrogatepass")
        elif what < 0.6:
            del data[at : at + draw.choice((1, 1, 3, 20, 200))]
        elif what < 0.7:
            data[at : at + 1] = bytes((draw.randrange(256),))
        elif what < 0.8:
            data[at:at] = data[at : at + draw.choice((5, 50, 500))] * draw.choice((1, 2, 30))
        elif what < 0.9:
            other = draw.choice(whole)
            start = draw.randrange(len(other) + 1)
            data[at:at] = other[start : start + draw.choice((10, 100, 1_000))]
        else:
            data[at:at] = bytes(draw.choices(range(256), k=8))
    return bytes(data[:20_000])


def fuzz(target: str, seed: str, inputs: int, first: int = 0) -> None:
    """Give a target so many damaged inputs. Raises `AssertionError`, which names the one that it fell over."""
    run, whole = TARGETS[target], corpus(target)
    for number in range(first, first + inputs):
        data = damaged(Random(f"{target} {seed} {number}"), whole)
        started = time.process_time()
        try:
            run(data)
        except Exception as error:
            raise AssertionError(f"{target}, seed {seed}, number {number}: {data[:2_000]!r}") from error
        seconds = time.process_time() - started
        assert seconds < SECONDS, f"{target}, seed {seed}, number {number}: {seconds:.1f} s for {data[:2_000]!r}"


def led_by_coverage(target: str, arguments: list[str]) -> None:
    """Have atheris look for inputs, by which lines of forgec they reach, until it is stopped."""
    atheris = importlib.import_module("atheris")
    for data in corpus(target)[:1]:
        TARGETS[target](data)  # so that all modules are there
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("forgec", "forgec_runtime"):
            for function in _functions(module):
                atheris.instrument_func(function)
    atheris.Setup([sys.argv[0], *arguments], TARGETS[target])
    atheris.Fuzz()


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """The functions and methods that a module defines."""
    for value in list(vars(module).values()):
        for function in (value, *(vars(value).values() if isinstance(value, type) else ())):
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function


def main(arguments: list[str]) -> int:
    """Fuzz one target, or all of them, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.fuzzing", description=__doc__)
    parser.add_argument("--target", choices=TARGETS)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--atheris", action="store_true")
    given, others = parser.parse_known_args(arguments)
    for target in [given.target] if given.target else TARGETS:
        if given.atheris:
            led_by_coverage(target, others)
        started = time.process_time()
        fuzz(target, given.seed, given.inputs, given.first)
        print(
            f"{target}: {given.inputs} inputs in {time.process_time() - started:.0f} CPU s", file=sys.stderr, flush=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
