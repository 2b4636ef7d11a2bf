"""The shipped rules, compiled once."""

from __future__ import annotations

import pytest

from grove_compiler.engine.runtime.program import Program

from .. import shipped


@pytest.fixture(scope="session")
def program() -> Program:
    return shipped.program()
