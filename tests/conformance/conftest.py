"""The shipped rules, compiled once for all cases."""

from __future__ import annotations

import pytest

from grove_compiler.engine.runtime.program import Program
from tests.shipped import program_without_pod_rules


@pytest.fixture(scope="package")
def program() -> Program:
    """Without the rules about pod templates: of some cases the operator's API server took the set, and none of its pods."""
    return program_without_pod_rules()
