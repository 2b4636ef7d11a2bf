"""What checks write for people and log collectors: one line of JSON each."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any


def say(line: Mapping[str, Any]) -> None:
    """Writes one line of JSON to standard output, at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
