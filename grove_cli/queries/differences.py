"""Selects the objects and fields of a comparison that `grove diff` shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from applier.outcome import QUIET, Action, Step
from applier.ref import Manifest

if TYPE_CHECKING:
    from applier.run.difference import Difference

NOISE = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")
"""Metadata that the server sets, and that changes with every write."""


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
