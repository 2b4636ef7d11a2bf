"""Reads the parts of the page: scripts, styles, and what they fill."""

from __future__ import annotations

import os
from functools import cache

_FOLDER = os.path.join(os.path.dirname(__file__), "page")


@cache
def page_file(name: str) -> str:
    """Returns the text of a file of the page, such as `page.css`."""
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as stream:
        return stream.read()
