"""Keeping many objects in little memory: parts that are equal are kept once, and what nobody asked for not at all."""

from __future__ import annotations

from typing import Any

from applier.decision import LAST_APPLIED, hide_secrets
from applier.ref import Manifest

GENERATION = 5_000


class Compactor:
    """Lets objects share their equal parts. What it gives must not be changed: others hold the same parts.

    Parts are found again for as long as they are among the last `generation` to 2 x `generation` different ones; forgetting one costs
    memory, never correctness.
    """

    def __init__(self, generation: int = GENERATION) -> None:
        self._generation = generation
        self._young: dict[Any, Any] = {}
        self._old: dict[Any, Any] = {}

    def keep(self, manifest: Manifest, *, managed: bool) -> Manifest:
        """Returns an object as the cache keeps it: without values of Secrets, and without managedFields unless they are asked for.

        Parts of the object given are replaced by equal ones.
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
        """Returns the one that stands for all that are equal.

        Ids in keys stay valid: the value that a key leads to holds what they name.
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
