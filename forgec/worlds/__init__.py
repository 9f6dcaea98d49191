"""Worlds made whole: what they extend, what is generated, what is written, in that order.

Everything is computed in a private DuckDB by the reference executor, so that a world is made by what its spec means.
What is drawn by lot depends on the names of things and the numbers of rows alone.
"""

from forgec.worlds.whole import whole_worlds

__all__ = ["whole_worlds"]
