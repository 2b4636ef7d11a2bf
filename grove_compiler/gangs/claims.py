"""Reads ComputeDomains and the resource claims that stand for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grove_compiler.graph.node import Manifest
from kube_objects.manifest import labels_of, maps, section

DOMAIN_KIND = "ComputeDomain"
CLAIM_KINDS = ("ResourceClaim", "ResourceClaimTemplate")
COMPONENT, MNNVL_CLAIM = "app.kubernetes.io/component", "mnnvl-claim"
DEVICE_CLASS = "compute-domain"
"""The prefix of the device classes that the driver of ComputeDomains serves."""


def pod_claims(pod_spec: Manifest) -> Iterator[tuple[str, str]]:
    """Yields the claims of a pod: the name inside of the pod, and that of the ResourceClaim or its template; empty where there is none."""
    for claim in maps(pod_spec.get("resourceClaims")):
        yield str(claim.get("name")), str(claim.get("resourceClaimTemplateName") or claim.get("resourceClaimName") or "")


def domain_template(domain: Manifest) -> str:
    """Returns the name of the template that the driver makes for a ComputeDomain; empty where it asks for none."""
    return str(section(domain, "spec", "channel", "resourceClaimTemplate").get("name") or "")


def is_channel(claim: Manifest) -> bool:
    """Reports whether a claim, or a template's claim, requests only channels of a ComputeDomain: by its label, or by its device classes."""
    if str(labels_of(claim).get(COMPONENT)).startswith(MNNVL_CLAIM):
        return True
    spec = section(claim, "spec", "spec") or section(claim, "spec")
    requests = maps(section(spec, "devices").get("requests"))
    names = [str(section(request, "exactly").get("deviceClassName") or request.get("deviceClassName") or "") for request in requests]
    return bool(names) and all(name.startswith(DEVICE_CLASS) for name in names)


def quoted_names(claim: Manifest) -> Iterator[str]:
    """Yields every text that a CEL expression of a claim quotes: a claim selects its ComputeDomain by quoting the domain's name."""
    for expression in _expressions(claim.get("spec")):
        yield from expression.replace("'", '"').split('"')[1::2]


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        cel = value.get("cel")
        if isinstance(cel, dict) and isinstance(cel.get("expression"), str):
            yield cel["expression"]
        for child in value.values():
            yield from _expressions(child)
    elif isinstance(value, list):
        for child in value:
            yield from _expressions(child)
