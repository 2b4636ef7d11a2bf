"""Reduces the memory of many similar objects by sharing their equal parts."""

from __future__ import annotations

from typing import Any

from applier.decision import hide_secrets
from applier.ref import Manifest
from kube_objects.manifest import LAST_APPLIED

GENERATION = 5_000


class Compactor:
    """Interns the parts of objects, so that equal ones are shared. The results must not be changed.

    A part is found while it is among the last `generation` to 2 x `generation` different ones; dropping one costs memory, never
    correctness.
    """

    def __init__(self, generation: int = GENERATION) -> None:
        self._generation = generation
        self._young: dict[Any, Any] = {}
        self._old: dict[Any, Any] = {}

    def keep(self, manifest: Manifest, *, managed: bool) -> Manifest:
        """Returns an object as the cache stores it: without values of Secrets, and without managedFields unless `managed`.

        Changes the given object: its parts are replaced by shared ones.
        """
        manifest = hide_secrets(manifest)
        if not managed:
            manifest = {**manifest, "metadata": _without_managers(manifest["metadata"])}
        for part in manifest.values():
            self._share_below(part)
        return manifest

    def _share_below(self, part: Any) -> None:
        """Shares the parts of an object's top-level field; the field itself is hardly ever equal to another."""
        if type(part) is dict:
            for key, value in part.items():
                part[key] = self._share(value)

    def _share(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._one(value, value)
        if kind is dict:
            for key, item in value.items():
                value[key] = self._share(item)
            return self._one((*value, *map(id, value.values())), value)
        if kind is list:
            value[:] = map(self._share, value)
            return self._one((kind, *map(id, value)), value)
        return value if value is None or kind is bool else self._one((kind, value), value)

    def _one(self, key: Any, value: Any) -> Any:
        """Returns the shared value for a key.

        Keys of containers hold ids of their parts. The ids stay valid because the value that a key maps to holds those parts.
        """
        found = self._young.get(key)
        if found is None:
            found = self._young[key] = self._old.pop(key, value)
            if len(self._young) >= self._generation:
                self._old, self._young = self._young, {}
        return found


def _without_managers(metadata: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in metadata.items() if key != "managedFields"}
    if LAST_APPLIED in (rest.get("annotations") or ()):
        rest["annotations"] = {key: value for key, value in rest["annotations"].items() if key != LAST_APPLIED}
    return rest
