"""How much input a reader accepts before it refuses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Limits:
    """Bounds on one input file; what goes beyond them is an error, never a slow or an exhausted process.

    `size` is in characters, also after aliases are expanded. `nodes` counts mapping entries and list items over the whole
    file, aliases expanded, as well as the parser's events. `documents` counts those of one file. `depth` counts containers inside
    one another, the root included.
    `findings` is how many diagnostics one file may collect before reading stops.
    """

    size: int = 64 * 1024 * 1024
    nodes: int = 5_000_000
    documents: int = 100_000
    depth: int = 100
    findings: int = 1000


DEFAULT_LIMITS = Limits()
