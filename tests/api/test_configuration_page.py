"""The page about the OperatorConfiguration has every field, with its default."""

from __future__ import annotations

import re

from grove_operator.cli.operator.configuration import UNUSED
from tools.configuration_table import PAGE, table


def test_the_page_has_all_fields_and_their_defaults() -> None:
    assert table() in PAGE.read_text("utf-8"), "python -m tools.configuration_table"


def test_the_page_names_the_fields_that_have_no_effect() -> None:
    rows = re.findall(r"^\| (`.*?) \| (?!`|\d)", PAGE.read_text("utf-8").split("## Taken, and without effect here")[1], re.MULTILINE)
    told = [path for row in rows for path in re.findall(r"`([^`]+)`", row)]
    sections = {path.split(".")[0] for path in UNUSED}
    assert {path.strip(".").split(".")[0] for path in told if not path.startswith(".")} == sections
