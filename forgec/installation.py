"""What forgec rests on, where another form of it is installed than the one that is needed."""

from __future__ import annotations


class BadInstallation(ImportError):
    """A library is there and cannot be used; the text says what to do."""


def require_interpreted(module_file: str) -> None:
    """Raise `BadInstallation` where sqlglot is the compiled one, whose nodes nobody can add to.

    `module_file` is the file of its module of nodes.
    """
    if not module_file.endswith((".py", ".pyc")):
        raise BadInstallation(
            "sqlglot is installed in its compiled form, `sqlglot[c]`, which forgec cannot add to; "
            "`pip uninstall sqlglotc` leaves the other, or install forgec into an environment of its own"
        )
