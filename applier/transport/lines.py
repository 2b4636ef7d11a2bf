"""Cuts a stream of bytes into lines."""

from __future__ import annotations


class Lines:
    """Lines of a stream that comes in chunks of any size. Each byte is looked at once, however long a line is."""

    def __init__(self) -> None:
        self.rest: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their ends and without empty ones."""
        if b"\n" not in chunk:
            self.rest.append(chunk)
            return []
        lines = chunk.split(b"\n")
        if self.rest:
            lines[0] = b"".join((*self.rest, lines[0]))
        last = lines.pop()
        self.rest = [last] if last else []
        return [line for line in lines if line]
