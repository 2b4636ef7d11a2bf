"""Imports PyYAML only for its binding of libyaml, without compiling the patterns of PyYAML's own parser, which nothing here uses.

PyYAML binds libyaml's parser, but importing that brings its own parser in Python as well, whose patterns are compiled at once. One of
them is the class of all characters that YAML allows, and `re` goes through all 65,536 of the lower plane for it, in Python 3.13 as in
3.11: 5 ms. Those for dates and numbers take 2 ms more. Together that was a twelfth of a start. There is no way around these
modules, for the binding imports them itself, and no other binding of libyaml gives events with marks.
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
