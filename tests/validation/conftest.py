"""The shipped rules, compiled once."""

from __future__ import annotations

import pytest

from grove_cli import rulebook
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.runtime.program import Program


@pytest.fixture(scope="session")
def program() -> Program:
    return rulebook.read().build(VOCABULARY)
