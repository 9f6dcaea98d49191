"""Queries that Python answers as DuckDB would, without its planning."""

from forgec.certifying.computing.twin import twin_of

__all__ = ["twin_of"]
