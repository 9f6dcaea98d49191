"""What people see of a diagnostic, character for character."""

from __future__ import annotations

from textwrap import dedent

from forgec.diagnostics import Diagnostic, Label
from forgec.diagnostics.text import render_text, summary
from forgec.source import Source, Span

BILLING = dedent("""\
    table users
      user_id text key
      email text

    tool upgrade(user -> usres)
      update usres set plan = 'pro'
    """)


def label(source: Source, text: str, said: str = "", *, nth: int = 0) -> Label:
    """A label on the occurrence of `text` that has `nth` others before it."""
    start = -1
    for _ in range(nth + 1):
        start = source.text.index(text, start + 1)
    return Label(Span(source, start, start + len(text)), said)


def expect(diagnostic: Diagnostic, text: str) -> None:
    assert render_text([diagnostic]) == dedent(text).strip("\n")


def test_primary_label_notes_and_help() -> None:
    source = Source("specs/billing.afs", BILLING)
    found = Diagnostic(
        "AFS201",
        "unknown table `usres`",
        label(source, "usres", "not a table of this spec"),
        notes=("references resolve against the tables of a spec and its imports", "two lines\nof one note"),
        help="did you mean `users`?",
    )
    expect(
        found,
        """
        error[AFS201]: unknown table `usres`
         --> specs/billing.afs:5:22
          |
        5 | tool upgrade(user -> usres)
          |                      ^^^^^ not a table of this spec
          |
          = note: references resolve against the tables of a spec and its imports
          = note: two lines
                  of one note
          = help: did you mean `users`?
        """,
    )


def test_distant_lines_have_an_ellipsis_between_them() -> None:
    source = Source("x.afs", BILLING)
    near = label(source, "users", "a table with a similar name")
    expect(
        Diagnostic("AFS201", "unknown table `usres`", label(source, "usres", "not a table"), (near,)),
        """
        error[AFS201]: unknown table `usres`
         --> x.afs:5:22
          |
        1 | table users
          |       ----- a table with a similar name
        ...
        5 | tool upgrade(user -> usres)
          |                      ^^^^^ not a table
        """,
    )


def test_a_single_line_between_two_is_shown() -> None:
    source = Source("x.afs", BILLING)
    expect(
        Diagnostic("AFS202", "two of them", label(source, "email"), (label(source, "table", "in this"),)),
        """
        error[AFS202]: two of them
         --> x.afs:3:3
          |
        1 | table users
          | ----- in this
        2 |   user_id text key
        3 |   email text
          |   ^^^^^
        """,
    )


def test_line_numbers_share_one_width() -> None:
    source = Source("x.afs", "first\n" * 8 + "ninth\ntenth\n")
    expect(
        Diagnostic("AFS202", "two of them", label(source, "tenth", "b"), (label(source, "ninth", "a"),), ("so",)),
        """
        error[AFS202]: two of them
          --> x.afs:10:1
           |
        9  | ninth
           | ----- a
        10 | tenth
           | ^^^^^ b
           |
           = note: so
        """,
    )


def test_labels_on_one_line_hang_below_but_for_the_last() -> None:
    source = Source("x.afs", "amount <= balance - fee\n")
    related = (label(source, "amount", "a decimal"), label(source, "-"), label(source, "fee", "a date"))
    expect(
        Diagnostic("AFS300", "types differ", label(source, "balance", "a decimal, too"), related),
        """
        error[AFS300]: types differ
         --> x.afs:1:11
          |
        1 | amount <= balance - fee
          | ------    ^^^^^^^ - --- a date
          | |         |
          | |         a decimal, too
          | a decimal
        """,
    )


def test_the_primary_label_is_drawn_over_those_around_it() -> None:
    source = Source("x.afs", "sum(price * count)\n")
    around = label(source, "sum(price * count)", "in this sum")
    expect(
        Diagnostic("AFS300", "unknown column `price`", label(source, "price", "not a column"), (around,)),
        """
        error[AFS300]: unknown column `price`
         --> x.afs:1:5
          |
        1 | sum(price * count)
          | ----^^^^^--------- in this sum
          |     |
          |     not a column
        """,
    )


def test_labels_on_the_same_place_have_a_line_each() -> None:
    source = Source("x.afs", "abc\n")
    related = (label(source, "abc", "second"), label(source, "abc", "third"))
    expect(
        Diagnostic("AFS300", "wrong", label(source, "abc", "first"), related),
        """
        error[AFS300]: wrong
         --> x.afs:1:1
          |
        1 | abc
          | ^^^ first
          | |
          | third
          | second
        """,
    )


def test_labels_in_another_source_are_a_block_of_their_own() -> None:
    here, there = Source("b.afs", "table users\n"), Source("a.afs", "\n" * 10 + "table users\n")
    first = label(there, "users", "first declared here")
    expect(
        Diagnostic("AFS110", "`users` is declared twice", label(here, "users", "again"), (first,), help="rename one"),
        """
        error[AFS110]: `users` is declared twice
          --> b.afs:1:7
           |
        1  | table users
           |       ^^^^^ again
           |
          ::: a.afs:11:7
           |
        11 | table users
           |       ----- first declared here
           |
           = help: rename one
        """,
    )


def test_without_a_primary_label() -> None:
    expect(
        Diagnostic("AFS001", "no such file", path="specs/x.afs", help="create it with `forgec new`"),
        """
        error[AFS001]: no such file
         --> specs/x.afs
          = help: create it with `forgec new`
        """,
    )
    expect(Diagnostic("AFS002", "nothing to check", severity="warning"), "warning[AFS002]: nothing to check")


def test_without_a_primary_label_but_with_related_ones() -> None:
    source = Source("a.afs", "extend library\n")
    expect(
        Diagnostic("AFS003", "no environment", related=(label(source, "library", "extended here"),), path="specs"),
        """
        error[AFS003]: no environment
         --> specs
          |
         ::: a.afs:1:8
          |
        1 | extend library
          |        ------- extended here
        """,
    )


def test_several_diagnostics_have_a_blank_line_between_them() -> None:
    both = [Diagnostic("AFS001", "one"), Diagnostic("AFS002", "two", severity="warning")]
    assert render_text(both) == "error[AFS001]: one\n\nwarning[AFS002]: two"
    assert render_text([]) == ""


def test_marks_on_what_is_cut_off_are_on_the_ellipsis() -> None:
    source = Source("x.afs", "first " + "." * 200 + " second " + "." * 200 + " third\n")
    related = (label(source, "first", "1st"), label(source, "third", "3rd"))
    shown = render_text([Diagnostic("AFS300", "wrong", label(source, "second", "2nd"), related)])
    assert shown.split("\n")[3:] == [
        f"1 | ...{'.' * 79} second {'.' * 33}...",
        f"  | ---{' ' * 80}^^^^^^{' ' * 34}--- 3rd",
        f"  | |{' ' * 82}|",
        f"  | |{' ' * 82}2nd",
        "  | 1st",
    ]


def test_messages_and_names_are_made_visible_too() -> None:
    source = Source("a\nb.afs", "x")
    found = Diagnostic("AFS1", "bad `\x1b[0m`", label(source, "x", "\u202e"), notes=("\a",), help="\t\u200b")
    expect(
        found,
        """
        error[AFS1]: bad `␛[0m`
         --> a␊b.afs:1:1
          |
        1 | x
          | ^ <U+202E>
          |
          = note: ␇
          = help: ␉<U+200B>
        """,
    )


def test_colours_only_when_asked() -> None:
    source = Source("x.afs", "a b\n")
    found = Diagnostic("AFS1", "wrong", label(source, "a", "this"), (label(source, "b", "that"),), help="so")
    red, blue, bold, off = "\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"
    assert render_text([found], color=True).split("\n") == [
        f"{red}error[AFS1]{off}{bold}: wrong{off}",
        f"{blue} -->{off} x.afs:1:1",
        f"{blue}  |{off}",
        f"{blue}1 |{off} a b",
        f"{blue}  |{off} {red}^{off} {blue}-{off}{blue} that{off}",
        f"{blue}  |{off} {red}|{off}",
        f"{blue}  |{off} {red}this{off}",
        f"{blue}  |{off}",
        f"{blue}  = {off}{bold}help{off}: so",
    ]
    assert render_text([Diagnostic("AFS2", "odd", severity="warning")], color=True).startswith("\x1b[1;33mwarning")


def test_summary() -> None:
    error, warning = Diagnostic("AFS1", "a"), Diagnostic("AFS2", "b", severity="warning")
    assert summary([error, warning, error]) == "2 errors, 1 warning"
    assert summary([error]) == "1 error"
    assert summary([warning, warning]) == "2 warnings"
    assert summary([]) == "no findings"
