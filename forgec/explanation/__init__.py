"""Why an episode was worth what it was: what it left undone, and the call after which it could not be saved."""

from forgec.explanation.turning import Explanation, Mismatch, Turn, Undone, explain

__all__ = ["Explanation", "Mismatch", "Turn", "Undone", "explain"]
