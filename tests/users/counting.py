"""What the rules make of the labelled messages and transcripts: `python -m tests.users.counting` prints the figures."""

from __future__ import annotations

from tests.users import test_asking, test_errors


def main() -> None:
    """A line for each half."""
    for half, count in test_asking.COUNTS.items():
        misread, told = test_asking.wrong(half)
        print(f"messages, {half}: {count - len(misread)} of {count} read right, {len(told)} with an unasked fact")
    for half in dict.fromkeys(one["half"] for one in test_errors.TRANSCRIPTS):
        precision, recall, wrong = test_errors.figures(half)
        print(f"transcripts, {half}: precision {precision:.3f}, recall {recall:.3f}", *wrong, sep="\n    ")


if __name__ == "__main__":
    main()
