"""What is not needed is not imported: start-up is a feature of the command line."""

from __future__ import annotations

import subprocess
import sys
import textwrap

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


def output_after_reading_yaml(code: str) -> str:
    """What code prints that runs in a process of its own, where a YAML text has been read before."""
    reading = f"from {ROOM}.yaml_reader import read_yaml; read_yaml('a: 1', 'f')\n"
    done = subprocess.run([sys.executable, "-c", reading + textwrap.dedent(code)], capture_output=True, text=True, check=True)
    return done.stdout


def test_reading_yaml_compiles_no_pattern_of_pyyamls_own_parser() -> None:
    code = "import re, yaml.reader; print(isinstance(yaml.reader.Reader.NON_PRINTABLE, re.Pattern))"
    assert output_after_reading_yaml(code) == "False\n"


def test_pyyamls_own_parser_still_works_for_others() -> None:
    code = """
        import yaml
        print(yaml.safe_load("{a: 1, b: 2026-01-02, c: yes, d: 1.5, e: x}"))
        try:
            yaml.safe_load("\\x07")
        except yaml.reader.ReaderError as error:
            print(error.reason)
    """
    expected = "{'a': 1, 'b': datetime.date(2026, 1, 2), 'c': True, 'd': 1.5, 'e': 'x'}\nspecial characters are not allowed\n"
    assert output_after_reading_yaml(code) == expected


def test_patterns_of_others_are_compiled_as_ever_afterwards() -> None:
    assert output_after_reading_yaml("import re; print(re.compile('a').match('ab'))") == "<re.Match object; span=(0, 1), match='a'>\n"
