"""Has a control plane serve definitions: ours, and those of others."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from grove_compiler.api.crd import crds

FREE: Manifest = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""The schema of a kind of which a server knows no more than its name."""


def definition(
    group: str, version: str, kind: str, plural: str, scope: str = "Namespaced", *, schema: Manifest = FREE, has_status: bool = True
) -> Manifest:
    """Returns a definition of somebody else's kind."""
    served: Manifest = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if has_status:
        served["subresources"] = {"status": {}}
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    spec = {"group": group, "scope": scope, "names": names, "versions": [served]}
    metadata = {"name": f"{plural}.{group}"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec}


def serve(plane: ControlPlane, definitions: Sequence[Manifest]) -> None:
    """Applies definitions, and returns once their kinds are served. Applying is the same however often it is done, by whichever worker."""
    plane.objects.apply(definitions)
    names = [one["metadata"]["name"] for one in definitions]
    plane.kubectl("wait", "--for=condition=Established", "--timeout=120s", *(f"crd/{name}" for name in names))
    plane.objects.await_served(names)


def serve_with_garbage_collection(plane: ControlPlane, definitions: Sequence[Manifest]) -> None:
    """Has a control plane that no other test uses serve definitions, and collect objects of their kinds from the start.

    The garbage collector looks for new kinds every 30 seconds, and as it starts.
    """
    serve(plane, definitions)
    manager = plane.server("kube-controller-manager")
    manager.stop()
    manager.start()


@functools.cache
def with_definitions(plane: ControlPlane) -> ControlPlane:
    """Returns the control plane, once it serves our definitions."""
    serve(plane, crds())
    return plane
