"""Reads streams line by line: watches, and subresources that are text, such as the logs of pods."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from urllib.parse import urlencode

from applier.transport.connection_errors import ConnectionErrors
from applier.transport.retries import ApiRequest
from applier.transport.wire import Wire


class LineSplitter:
    """Splits a stream that comes in chunks of any size into lines, in time linear in its length.

    `rest` is what follows the last line end.
    """

    def __init__(self) -> None:
        self.rest: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Returns the lines that this chunk completes, without line ends and without empty lines."""
        if b"\n" not in chunk:
            self.rest.append(chunk)
            return []
        lines = chunk.split(b"\n")
        if self.rest:
            lines[0] = b"".join((*self.rest, lines[0]))
        last = lines.pop()
        self.rest = [last] if last else []
        return [line for line in lines if line]


async def text_lines(
    wire: Wire, request: ApiRequest, path: str, query: Mapping[str, str], silence: float | None
) -> AsyncGenerator[bytes, None]:
    """Yields the lines of a text, without line ends and without empty lines, until the server ends it.

    Raises `Unreachable` if the stream breaks, or is silent for `silence` seconds.
    """
    stream = await wire.stream(request, f"{path}?{urlencode(query)}" if query else path, headers={"Accept": "*/*"}, silence=silence)
    lines = LineSplitter()
    try:
        while chunk := await stream.chunk():
            for line in lines.feed(chunk):
                yield line
        if lines.rest:
            yield b"".join(lines.rest)
    except ConnectionErrors as error:
        raise wire.broken(error) from None
    finally:
        stream.close()
