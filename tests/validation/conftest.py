"""The shipped rules, compiled once."""

from __future__ import annotations

import pytest

from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.runtime.program import Program
from grove_operator import rulebook


@pytest.fixture(scope="session")
def program() -> Program:
    return rulebook.read().build(VOCABULARY)
