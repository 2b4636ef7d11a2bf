"""Names the parts of the product that get faults, and the folders whose tests are to find them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_EXPANDED = "grove_compiler/model/expanded"
_UPDATES = ("rolls", "clique_roll", "group_roll", "set_update", "revisions", "recorded_templates", "inherited_hashes")
_LIVE = ("tests/step", "tests/status", "tests/why")

NOT_COLLECTED = ("tests/preflight/beside", "tests/preflight/checks", "tests/preflight/live")
"""Folders below those of areas whose tests have another subject, and cost more than the rest."""


class Area(NamedTuple):
    """A part of the product: its sources as globs, those of them that belong to another area, and the folders of its tests."""

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    besides: tuple[str, ...] = ()

    def files(self, root: Path) -> Iterator[str]:
        """Yields the sources, relative to the root, sorted."""
        others = {path for glob in self.besides for path in root.glob(glob)}
        found = {path for glob in self.sources for path in root.glob(glob)} - others
        yield from sorted(path.relative_to(root).as_posix() for path in found if path.name != "__init__.py")


AREAS = (
    Area("validation", ("rules/validation/**/*.yaml",), ("tests/validation", "tests/golden")),
    Area(
        "rules",
        ("rules/**/*.yaml",),
        ("tests/updates", "tests/training", *_LIVE, "tests/features", "tests/model", "tests/preflight"),
        besides=("rules/validation/**/*.yaml",),
    ),
    Area("updates", ("grove_compiler/step*.py", *(f"{_EXPANDED}/{name}.py" for name in _UPDATES)), ("tests/updates", *_LIVE)),
    Area("training", (f"{_EXPANDED}/training/*.py", f"{_EXPANDED}/attempts/*.py"), ("tests/training", *_LIVE)),
    Area("decision", ("applier/decision/*.py",), ("tests/applier/decision", "tests/applier/plan")),
    Area("loop", ("applier/loop/*.py",), ("tests/applier/loop",)),
)
