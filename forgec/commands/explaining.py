"""What the codes of findings stand for."""

from __future__ import annotations

from forgec.checks.rules import RULES
from forgec.diagnostics.codes import CODES


def titles() -> dict[str, str]:
    """Every code, of errors and of warnings, with what it stands for."""
    return {**CODES, **{code: rule.title for code, rule in RULES.items()}}


def title_of(code: str) -> str:
    return titles()[code]
