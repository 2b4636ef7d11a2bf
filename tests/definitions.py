"""Has a control plane serve our definitions."""

from __future__ import annotations

import functools

from applier.testing.control_plane import ControlPlane
from grove_compiler.api.crd import crds


@functools.cache
def with_definitions(plane: ControlPlane) -> ControlPlane:
    """Applies the definitions, and returns once they are served. Applying is the same however often it is done, by whichever worker."""
    definitions = crds()
    plane.objects.apply(definitions)
    names = [one["metadata"]["name"] for one in definitions]
    plane.kubectl("wait", "--for=condition=Established", "--timeout=120s", *(f"crd/{name}" for name in names))
    plane.objects.await_served(names)
    return plane
