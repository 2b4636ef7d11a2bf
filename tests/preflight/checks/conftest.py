"""What several tests of checks need."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: the path of a Unix socket has at most 107 characters."""
    with tempfile.TemporaryDirectory(prefix="pf") as name:
        yield Path(name)
