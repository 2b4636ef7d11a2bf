"""Selects the objects and fields of a comparison that `grove diff` shows, and formats them as a unified diff of their YAML."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from applier.outcome import QUIET, Action, Step
from applier.ref import Manifest
from grove_cli.terminal import Terminal, visible
from grove_compiler.source.yaml_writer import write_yaml

if TYPE_CHECKING:
    from applier.run.difference import Difference

CONTEXT = 3
_COLOURS = {"+": "32", "-": "31", "@": "36"}
NOISE = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")
"""Metadata that the server sets, and that changes with every write."""


def unified(before: Manifest | None, after: Manifest | None, name: str, terminal: Terminal) -> Iterator[str]:
    """Yields the lines of the diff, its two headers first; nothing for equal objects. Keys are sorted."""
    lines = difflib.unified_diff(_lines(before), _lines(after), f"live/{name}", f"wanted/{name}", n=CONTEXT, lineterm="")
    for number, line in enumerate(lines):
        shown = visible(line)
        if number < 2:
            yield terminal.paint(shown, "1")
        else:
            colour = _COLOURS.get(line[:1], "")
            yield terminal.paint(shown, colour) if colour else shown


def as_text(manifest: Manifest | None) -> str:
    """Returns the object as YAML with sorted keys; empty for none."""
    return "" if manifest is None else write_yaml([_sorted(manifest)])


def _lines(manifest: Manifest | None) -> list[str]:
    return as_text(manifest).split("\n")[:-1]


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        first = [key for key in ("apiVersion", "kind", "metadata", "name") if key in value]
        rest = sorted(key for key in value if key not in first)
        return {key: _sorted(value[key]) for key in (*first, *rest)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value


class Shown(NamedTuple):
    """An object that would change, before and after. Either is none if the object does not exist then, both if the result is unknown."""

    step: Step
    before: Manifest | None
    after: Manifest | None


def differences(compared: Iterable[Difference]) -> list[Shown]:
    """Returns the objects that would change.

    An object of which only the owners of fields would change is unchanged, and its step becomes `UNCHANGED`.
    """
    shown = []
    for each in compared:
        if each.step.action is Action.CONFIGURED and each.live and each.merged and _content(each.live) == _content(each.merged):
            each.step.action = Action.UNCHANGED
        if each.step.action not in QUIET:
            is_known = each.merged is not None or each.step.action is Action.PRUNED
            shown.append(Shown(each.step, _shown(each.live) if is_known else None, _shown(each.merged)))
    return shown


def _shown(manifest: Manifest | None) -> Manifest | None:
    """Returns the object without its status and the metadata of the server."""
    if manifest is None:
        return None
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in NOISE}
    return {key: metadata if key == "metadata" else value for key, value in manifest.items() if key != "status"}


def _content(manifest: Manifest) -> Any:
    return _shown(manifest), manifest.get("status")
