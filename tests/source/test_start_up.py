"""What is not needed is not imported: start-up is a feature of the command line."""

from __future__ import annotations

import subprocess
import sys

import pytest

ROOM = "grove_compiler.source"
CASES = [
    (f"import {ROOM}.reader, {ROOM}.yaml_writer, {ROOM}.json_writer", ["yaml", "json", "logging", "datetime"]),
    (f"from {ROOM}.reader import read_text; read_text('{{\"a\": 1}}', 'f')", ["yaml", "logging"]),
    (f"from {ROOM}.yaml_reader import read_yaml; read_yaml('a: 1', 'f')", ["json", f"{ROOM}.yaml_places", f"{ROOM}.yaml_syntax"]),
    (f"from {ROOM}.yaml_writer import write_yaml; write_yaml([{{'a': 1}}])", ["yaml", "json"]),
]


@pytest.mark.parametrize(("code", "unwanted"), CASES)
def test_only_what_is_needed_is_imported(code: str, unwanted: list[str]) -> None:
    command = f"{code}\nimport sys\nprint([name for name in {unwanted!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
