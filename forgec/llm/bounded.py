"""Bodies of responses that are read up to a limit alone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2


class TooLarge(Exception):
    """An answer that is not read to its end."""


class Bounded(httpx2.AsyncByteStream):
    """The bytes of a response, as long as they are not too many."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The parts as they come. Raises `TooLarge`."""
        read = 0
        async for part in self._stream:
            read += len(part)
            if read > self._most:
                raise TooLarge(f"the answer has more than {self._most:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def bound(response: httpx2.Response, most: int) -> None:
    """Have the body of a response read up to so many bytes. Raises `TooLarge` for one whose size cannot be known."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise TooLarge("the answer is compressed, which was not asked for: it may be of any size")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = Bounded(response.stream, most)
