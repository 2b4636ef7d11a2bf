"""Puts rules and templates into the wheel, as they are and compiled, so that a first start is a warm one.

They stand at the top of a checkout, where people read them, and inside of the package once it is installed. An editable installation
finds them in the checkout, so nothing is copied for it: a copy would be read instead of what somebody edits.

The file fits the Python that builds the wheel. Any other Python builds the rules once and remembers them in the user's cache.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WarmRules(BuildHookInterface):  # type: ignore[type-arg]
    """Runs for wheels only: an editable installation compiles rules when they change."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        build_data["force_include"] |= {os.path.join(self.root, part): f"grove_compiler/{part}" for part in ("rules", "templates")}
        sys.path.insert(0, self.root)
        from grove_cli import rulebook
        from grove_compiler.compile import VOCABULARY

        book = rulebook.read()
        self._folder = tempfile.TemporaryDirectory()
        path = os.path.join(self._folder.name, book.key)
        with open(path, "wb") as stream:
            stream.write(book.build(VOCABULARY).dump())
        build_data["force_include"][path] = f"grove_compiler/_warm/{book.key}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if hasattr(self, "_folder"):
            self._folder.cleanup()
