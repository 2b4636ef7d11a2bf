"""Leaves out of a part of a set, or of its status, what no server with our definitions stores: somebody else's definition may allow it.

Only what has failed is looked at so: to check each object at each step would take longer than all else.
"""

from __future__ import annotations

from applier.ref import Kind, Manifest
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.structure import check_and_prune
from grove_operator.controller.membership import PARTS


def sound(manifest: Manifest) -> Manifest:
    """Returns an object without what has another form than its kind. It `is` the object if all is well.

    Of a set only the status is looked at: its spec is checked where it is decoded, and errors are told.
    """
    kind = Kind.of(manifest)
    schema = KINDS.get((kind.api_version, kind.kind)) if kind.kind in (SET_KIND, *PARTS) else None
    if schema is None:
        return manifest
    fields = DEFINITIONS[schema["ref"]]["fields"]
    checked = ("status",) if kind.kind == SET_KIND else ("spec", "status")
    present = [key for key in checked if key in manifest]
    parts = {key: check_and_prune(manifest[key], fields[key], DEFINITIONS)[1] for key in present}
    if all(parts[key] is manifest[key] for key in present):
        return manifest
    return {**manifest, **{key: part if isinstance(part, dict) else {} for key, part in parts.items()}}
