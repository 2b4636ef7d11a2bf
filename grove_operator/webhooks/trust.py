"""Maintains the `caBundle` of each webhook that calls our Service, and no other field."""

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
from grove_operator import field_managers
from grove_operator.webhooks.authority import read_bundle, write_bundle

CONFIGURATIONS = tuple(
    Kind("admissionregistration.k8s.io", "v1", kind) for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
)


class Service(NamedTuple):
    """The Service by which API servers call the webhooks."""

    namespace: str
    name: str

    @property
    def names(self) -> list[str]:
        """The DNS names of the Service; the first is the one that API servers use."""
        short = f"{self.name}.{self.namespace}"
        return [f"{short}.svc", f"{short}.svc.cluster.local", short, self.name]


async def distribute(
    cluster: Cluster, service: Service, needed: Sequence[x509.Certificate], now: datetime, *, only_needed: bool
) -> list[Manifest]:
    """Adds the `needed` authorities to the bundle of every webhook of the Service. Raises `ClusterError`.

    Other trusted authorities stay unless `only_needed`, as another replica may still use a certificate that they signed. Returns the
    applied configurations. A concurrent change of one raises `WriteConflict`; one that was deleted is skipped.
    """
    applied = []
    for kind in CONFIGURATIONS:
        resource = await cluster.resource(kind)
        for configuration in (await cluster.list(resource)).items:
            patch = bundle_patch(configuration, service, needed, now, only_needed=only_needed)
            if patch is None:
                continue
            try:
                applied.append(await cluster.apply(resource, patch, manager=field_managers.CA_BUNDLE, force=True))
            except NotFound:
                continue
    return applied


def bundle_patch(
    configuration: Manifest, service: Service, needed: Sequence[x509.Certificate], now: datetime, *, only_needed: bool
) -> Manifest | None:
    """Returns the patch of a webhook configuration; none if its bundles are up to date, or it does not call our Service."""
    webhooks, differs = [], False
    for webhook in _of_service(configuration, service):
        present = _bundle_of(webhook)
        bundle = merged_bundle(read_bundle(present), needed, now, only_needed=only_needed)
        differs |= bundle != present
        # All are included, as server-side apply removes the fields of a manager that it omits.
        webhooks.append({"name": webhook["name"], "clientConfig": {"caBundle": base64.b64encode(bundle).decode()}})
    if not differs:
        return None
    metadata = {key: configuration["metadata"][key] for key in ("name", "resourceVersion")}
    return {"apiVersion": configuration["apiVersion"], "kind": configuration["kind"], "metadata": metadata, "webhooks": webhooks}


def merged_bundle(present: Sequence[x509.Certificate], needed: Sequence[x509.Certificate], now: datetime, *, only_needed: bool) -> bytes:
    """Returns a bundle of the needed certificates and, unless `only_needed`, of the unexpired ones among those present."""
    # The present order is preserved, so that replicas with the same certificates do not overwrite each other.
    retained = [each for each in present if each in needed or (not only_needed and now < each.not_valid_after_utc)]
    return write_bundle([*retained, *(each for each in needed if each not in retained)])


def _of_service(configuration: Manifest, service: Service) -> Iterator[Manifest]:
    for webhook in configuration.get("webhooks") or ():
        reference = webhook["clientConfig"].get("service") or {}
        if (reference.get("namespace"), reference.get("name")) == service:
            yield webhook


def _bundle_of(webhook: Manifest) -> bytes:
    try:
        return base64.b64decode(webhook["clientConfig"].get("caBundle") or "")
    except binascii.Error:
        return b""
