"""Imports PyYAML only for its binding of libyaml, without compiling the patterns of PyYAML's own parser, which nothing here uses.

Importing PyYAML's binding of libyaml also imports PyYAML's own parser, which compiles its patterns at once. One of them is the class of all
characters that YAML allows, for which `re` iterates over the 65,536 characters of the lower plane: 5 ms, in Python 3.13 as in 3.11. Those
for dates and numbers take another 2 ms. Together that was a twelfth of the start-up time. The modules cannot be avoided, as the binding
imports them itself, and no other binding of libyaml provides events with marks.
"""

from __future__ import annotations

import re
import sys
from typing import Any


class _PatternOnDemand:
    """Compiles a pattern on first use, which may happen elsewhere in the process; `re` caches it from then on."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    def __getattr__(self, name: str) -> Any:
        return getattr(re.compile(*self._arguments), name)


def import_pyyaml() -> None:
    """Imports `yaml`, unless it is imported already."""
    if "yaml" in sys.modules:
        return
    compile_now = re.compile

    def compile_on_demand(*arguments: Any) -> Any:
        # Other threads may import modules meanwhile; their patterns are compiled as usual.
        caller = sys._getframe(1).f_globals["__name__"]
        return (_PatternOnDemand if caller.startswith("yaml.") else compile_now)(*arguments)

    re.compile = compile_on_demand  # type: ignore[assignment]
    try:
        import yaml  # noqa: F401
    finally:
        re.compile = compile_now
