"""Tells API servers which authority to trust: the `caBundle` of each webhook that leads to our Service, and no other field."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from cryptography import x509

from applier.cluster import Cluster
from applier.errors import NotFound
from applier.ref import Kind, Manifest
from grove_operator.webhooks.authority import read_bundle, write_bundle

CONFIGURATIONS = tuple(
    Kind("admissionregistration.k8s.io", "v1", kind) for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
)
MANAGER = "grove-operator-ca-bundle"
"""Owns the bundles and nothing else, so that whoever installs the configurations changes all the rest without a conflict (grove #453)."""


class Service(NamedTuple):
    """The Service under which API servers reach the webhooks."""

    namespace: str
    name: str

    @property
    def names(self) -> list[str]:
        """The names of the server, the one that API servers ask for first."""
        short = f"{self.name}.{self.namespace}"
        return [f"{short}.svc", f"{short}.svc.cluster.local", short, self.name]


async def spread(
    cluster: Cluster, service: Service, needed: Sequence[x509.Certificate], now: datetime, *, only_needed: bool
) -> list[Manifest]:
    """Sees to it that every webhook of the Service trusts the authorities that are `needed`. Raises `ClusterError`.

    Others that are trusted already stay, unless `only_needed`: another replica may still show what they have signed. Returns what was
    applied. A configuration that somebody changed meanwhile raises `WriteConflict`, one that was deleted is nobody's to make.
    """
    applied = []
    for kind in CONFIGURATIONS:
        resource = await cluster.resource(kind)
        for configuration in (await cluster.list(resource)).items:
            patch = bundle_patch(configuration, service, needed, now, only_needed=only_needed)
            if patch is None:
                continue
            try:
                applied.append(await cluster.apply(resource, patch, manager=MANAGER, force=True))
            except NotFound:
                continue
    return applied


def bundle_patch(
    configuration: Manifest, service: Service, needed: Sequence[x509.Certificate], now: datetime, *, only_needed: bool
) -> Manifest | None:
    """Returns what to apply to a webhook configuration of the cluster; none where it trusts as it should, or does not lead to us."""
    webhooks, differs = [], False
    for webhook in _of_service(configuration, service):
        present = _bundle_of(webhook)
        bundle = wanted_bundle(read_bundle(present), needed, now, only_needed=only_needed)
        differs |= bundle != present
        # What this manager has applied once and leaves out would be taken away, so all are named.
        webhooks.append({"name": webhook["name"], "clientConfig": {"caBundle": base64.b64encode(bundle).decode()}})
    if not differs:
        return None
    metadata = {key: configuration["metadata"][key] for key in ("name", "resourceVersion")}
    return {"apiVersion": configuration["apiVersion"], "kind": configuration["kind"], "metadata": metadata, "webhooks": webhooks}


def wanted_bundle(present: Sequence[x509.Certificate], needed: Sequence[x509.Certificate], now: datetime, *, only_needed: bool) -> bytes:
    """Returns the bundle that trusts what is needed and, unless `only_needed`, what it trusted before and is not over."""
    # As they stand now, so that two replicas that want the same do not write in turns.
    kept = [one for one in present if one in needed or (not only_needed and now < one.not_valid_after_utc)]
    return write_bundle([*kept, *(one for one in needed if one not in kept)])


def _of_service(configuration: Manifest, service: Service) -> Iterator[Manifest]:
    for webhook in configuration.get("webhooks") or ():
        asked = webhook["clientConfig"].get("service") or {}
        if (asked.get("namespace"), asked.get("name")) == service:
            yield webhook


def _bundle_of(webhook: Manifest) -> bytes:
    try:
        return base64.b64decode(webhook["clientConfig"].get("caBundle") or "")
    except binascii.Error:
        return b""
