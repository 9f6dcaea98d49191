"""What can go wrong between us and a model. None of these has a secret in its text."""

from __future__ import annotations


class LLMError(Exception):
    """No answer came of a request."""

    kind = "endpoint"
    """A word for summaries."""


class Unavailable(LLMError):
    """The endpoint did not answer, or not in a way that can be read, however often it was asked."""

    kind = "unavailable"


class Rejected(LLMError):
    """The endpoint does not take this request, and would not take it again."""

    kind = "rejected"


class TooLong(Rejected):
    """The messages do not fit into what the model can read."""

    kind = "too_long"


class Stop(LLMError):
    """No request will be answered any more: whoever asks in a loop had better end it."""

    kind = "stop"


class NotAllowed(Stop):
    """The endpoint knows neither this key, nor this model, or has nothing left for it."""

    kind = "not_allowed"


class OverBudget(Stop):
    """What may be spent is spent."""

    kind = "over_budget"


class NotWritten(Stop):
    """Traffic is to be kept, and cannot be written down."""

    kind = "not_written"


class NotRecorded(Stop):
    """Traffic is replayed, and this request is not in it."""

    kind = "not_recorded"
