"""Decides the form of ComputeDomains and their claims: that of the designs, or that of NVIDIA's released driver (`docs/mnnvl.md`)."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Snapshot

AS_PROPOSED = "as-proposed"
DRIVER = "driver"
DRIVER_API_VERSION = "resource.nvidia.com/v1beta1"
DOMAIN = "ComputeDomain"


def shape_of(chosen: str | None, snapshot: Snapshot) -> str:
    """Returns the form that the caller chose, else that of the driver if the snapshot shows that it is installed.

    A ComputeDomain of version v1beta1, or its CRD that serves v1beta1, proves that the driver is installed.
    """
    if chosen:
        return chosen
    domains = any(domain.get("apiVersion") == DRIVER_API_VERSION for domain in snapshot.of_kind(DRIVER_API_VERSION, DOMAIN))
    return DRIVER if domains or _serves_driver_api(snapshot) else AS_PROPOSED


def domain_definition(snapshot: Snapshot) -> Manifest | None:
    """Returns the CustomResourceDefinition of ComputeDomains; None if the snapshot has none."""
    return snapshot.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "computedomains.resource.nvidia.com")


def _serves_driver_api(snapshot: Snapshot) -> bool:
    versions = ((domain_definition(snapshot) or {}).get("spec") or {}).get("versions") or []
    return any(version.get("name") == "v1beta1" and version.get("served") for version in versions)
