"""Reads the journals that commands and the applier write."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the lines of a journal, in order, without those that were truncated by a crash."""
    with path.open("rb") as file:
        for text in file:
            with contextlib.suppress(json.JSONDecodeError, UnicodeDecodeError):
                record = json.loads(text)
                if isinstance(record, dict):
                    yield record
