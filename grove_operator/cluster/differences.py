"""What is worth showing of a difference: objects as people mean them, without what the server keeps for itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from applier.outcome import QUIET, Action, Step
from applier.ref import Manifest

if TYPE_CHECKING:
    from applier.run.difference import Difference

NOISE = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")
"""Metadata that the server keeps for itself: every write changes some of it, and nobody means it."""


class Shown(NamedTuple):
    """An object that would not stay as it is, before and after; None where there is none, and twice where nobody can say."""

    step: Step
    before: Manifest | None
    after: Manifest | None


def differences(compared: Iterable[Difference]) -> list[Shown]:
    """Returns the objects that would not stay as they are.

    When only the owners of fields would change, an object is no different: its step becomes one that changes nothing.
    """
    found = []
    for one in compared:
        if one.step.action is Action.CONFIGURED and one.live and one.merged and _content(one.live) == _content(one.merged):
            one.step.action = Action.UNCHANGED
        if one.step.action not in QUIET:
            known = one.merged is not None or one.step.action is Action.PRUNED
            found.append(Shown(one.step, _shown(one.live) if known else None, _shown(one.merged)))
    return found


def _shown(manifest: Manifest | None) -> Manifest | None:
    """Returns the object without its status and its noise."""
    if manifest is None:
        return None
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in NOISE}
    return {key: metadata if key == "metadata" else value for key, value in manifest.items() if key != "status"}


def _content(manifest: Manifest) -> Any:
    return _shown(manifest), manifest.get("status")
