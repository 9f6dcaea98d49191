"""The reference executor: the statements of a spec as written, call by call, in a private DuckDB.

Slow and plain: it defines what a spec means, and the compiled executor must equal it. It shares nothing with that but
the checked tree, the decoding of arguments and the texts of errors.
"""

from forgec.reference.executor import ReferenceEpisode

__all__ = ["ReferenceEpisode"]
