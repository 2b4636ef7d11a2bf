"""The page about the OperatorConfiguration has every field, with its default."""

from __future__ import annotations

import re
from fnmatch import fnmatch

from grove_cli.operator.configuration import UNUSED
from tools.configuration_table import PAGE, table


def test_the_page_has_all_fields_and_their_defaults() -> None:
    assert table() in PAGE.read_text("utf-8"), "python -m tools.configuration_table"


def test_the_page_names_the_fields_that_have_no_effect() -> None:
    rows = re.findall(r"^\| (`.*?) \| ", PAGE.read_text("utf-8").split("## Fields without effect")[1], re.MULTILINE)
    told = [path for row in rows for path in re.findall(r"`([^`]+)`", row)]
    assert [path for path in UNUSED if not any(fnmatch(path, pattern) for pattern in told)] == []
    assert [pattern for pattern in told if not any(fnmatch(path, pattern) for path in UNUSED)] == []
