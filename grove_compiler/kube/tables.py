"""Reads the tables of this package: data that programs generate and no person edits, one JSON file each."""

from __future__ import annotations

# The scanner behind `json.loads`, in C. Importing all of json costs 1.4 ms, which every start would pay for three tables.
from _json import make_scanner
from typing import Any

_FOLDER = __file__.rpartition("tables.py")[0]


class _Decoder:
    """Provides the attributes that the scanner reads from a `json.JSONDecoder`."""

    strict = True
    object_hook = object_pairs_hook = parse_constant = None
    parse_float = float
    parse_int = int


def read_table(name: str) -> Any:
    """Reads the table `NAME.json` of this folder, as a new value each time. Raises FileNotFoundError for an unknown name.

    The module's own loader reads it, so that it is found wherever the package is, even in an archive; to the purity of the compiler it is
    like an import.
    """
    text = __loader__.get_data(f"{_FOLDER}{name}.json").decode()  # type: ignore[name-defined]
    value, _ = make_scanner(_Decoder)(text, 0)  # type: ignore[arg-type]  # it asks for attributes, and declares a class
    return value
