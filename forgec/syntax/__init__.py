"""From text to syntax tree."""

from forgec.syntax.parse import parse

__all__ = ["parse"]
