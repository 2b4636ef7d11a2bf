"""Applies merge patches (RFC 7386) and JSON patches (RFC 6902)."""

from __future__ import annotations

from typing import Any

from applier.errors import Invalid
from applier.ref import Manifest
from applier.testing.memory.store import copied


def patched(live: Manifest, patch: Any) -> Manifest:
    """Returns `live`, as a new object, after a JSON patch if `patch` is a list, else after a merge patch. Raises `Invalid`."""
    return _json_patched(live, patch) if isinstance(patch, list) else merge_patched(copied(live), copied(patch))


def merge_patched(target: Any, patch: Any) -> Any:
    """Merges by RFC 7386, section 2: maps are merged, null deletes, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = target if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patched(result.get(key), value)
    return result


def _json_patched(live: Manifest, patch: list[Any]) -> Manifest:
    import jsonpatch  # only tests need it

    try:
        made: Manifest = jsonpatch.apply_patch(copied(live), patch, in_place=True)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
        # The API server's words for a `test` that does not hold, and for a path that is not there.
        raise Invalid(422, "Invalid", f"the server rejected our request due to an error in our request: {error}") from error
    return made
