"""Reads the tables of this package: data that programs generate and no person edits, one JSON file each."""

from __future__ import annotations

from json import loads  # the scanner in C: these tables take 0.2 ms, and as modules of literals they took twice that
from typing import Any

_FOLDER = __file__.rpartition("tables.py")[0]


def read_table(name: str) -> Any:
    """Returns the table `NAME.json` of this folder, a new value each time. Raises FileNotFoundError for a name that has none.

    It is read by what has imported this module, so that it is found wherever the package lies, also in an archive; to the layers it is
    as an import would be.
    """
    return loads(__loader__.get_data(f"{_FOLDER}{name}.json"))  # type: ignore[name-defined]
