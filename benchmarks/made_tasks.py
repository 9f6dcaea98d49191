"""What many made tasks are like: acceptance, coverage, difficulty, duplicates and perturbed plans, for each spec.

    python benchmarks/made_tasks.py --count 1000 --picture docs/tasks.png specs/library.afs specs/phone.afs

Prints a table in Markdown, and draws the histograms of difficulty.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def report_of(spec: Path, count: int, seed: int) -> dict[str, Any]:
    """The report of a run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "made.jsonl"
        command = [sys.executable, "-m", "forgec", "tasks", str(spec), "--count", str(count), "--seed", str(seed)]
        done = subprocess.run([*command, "--out", str(out), "--json"], stdout=subprocess.PIPE, check=False)
        report: dict[str, Any] = json.loads(done.stdout)
    return {**report, "spec": spec.stem}


def rate(report: dict[str, Any], kind: str) -> str:
    """How many perturbed plans of a kind that make a difference are not paid, and how many make none."""
    found = {what: report["mutants"].get(f"{kind}: {what}", 0) for what in ("refused", "unpaid", "paid", "same")}
    made = found["refused"] + found["unpaid"] + found["paid"]
    return f"{(made - found['paid']) / made:.1%} of {made:,}; {found['same']:,}" if made else "none"


def row(report: dict[str, Any]) -> list[str]:
    left = report["left out"]
    alike = sum(number for why, number in left.items() if "like" in why)
    shares = [f"{one['covered']} of {one['of']}" for one in report["coverage"].values()]
    kinds = [rate(report, kind) for kind in ("a call left out", "another argument", "a write added")]
    return [
        report["spec"], f"{report['tasks']:,}", f"{report['acceptance']:.1%}", *shares, f"{alike:,}", *kinds,
        str(report["reasoning"].get("drawn by the seed", 0)), str(report["reasoning"].get("more rows", 0)),
    ]  # fmt: skip


TITLES = (
    "spec", "tasks", "certified", "tools", "guards kept", "guards broken", "edges", "too alike",
    "a call left out", "another argument", "a write added", "by the seed", "changed worlds",
)  # fmt: skip


def draw(reports: list[dict[str, Any]], picture: Path) -> None:
    """A histogram of difficulty for each spec."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(reports), figsize=(3 * len(reports), 2.6), squeeze=False)
    for axis, report in zip(axes[0], reports, strict=True):
        scores = {int(score): number for score, number in report["difficulty"].items()}
        axis.bar(list(scores), list(scores.values()), width=3.4, align="edge")
        for bound in (9, 16):
            axis.axvline(bound, color="black", linewidth=0.8, linestyle=":")
        axis.set_title(f"{report['spec']}: {report['tasks']:,}", fontsize=9)
        axis.set_xlabel("difficulty", fontsize=8)
        axis.tick_params(labelsize=7)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    reports = [report_of(spec, options.count, options.seed) for spec in options.specs]
    print(" | ".join(["", *TITLES, ""]).strip())
    print(" | ".join(["", *("---" for _ in TITLES), ""]).strip())
    for report in reports:
        print(" | ".join(["", *row(report), ""]).strip())
    if options.picture is not None:
        draw(reports, options.picture)


if __name__ == "__main__":
    main()
