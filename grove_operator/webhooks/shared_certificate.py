"""Maintains certificates in a Secret that all replicas share, and the `caBundle` of each webhook; rotates them without failed admissions.

Each rotation (by age, or after the Secret was deleted or replaced) has the same order: the new authority is added to the trust bundles of
the webhook configurations; once API servers trust it, replicas use the new certificate; an hour later the old authority is removed.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from cryptography import x509

from applier.cluster import Cluster, find
from applier.errors import AlreadyExists, ApplierError, NotFound, WriteConflict
from applier.ref import SECRET, Kind, Manifest
from grove_operator import field_managers
from grove_operator.webhooks import rotation
from grove_operator.webhooks.authority import Material, read_bundle, write_bundle
from grove_operator.webhooks.certificate import Log, NoCertificate, ServedCertificate

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


LABELS = {"app.kubernetes.io/name": "grove-operator", "app.kubernetes.io/component": "webhooks"}
ATTEMPTS = 5
"""Attempts to read or write a Secret that other replicas write concurrently."""
INTERVAL = 10.0
"""Seconds between two checks of the Secret and the webhook configurations."""
PROPAGATION = 5.0
"""Seconds after which every API server, which watches the configurations, uses a bundle that was written."""
OVERLAP = 3600.0
"""Seconds for which a replaced authority is still trusted: other replicas check every ten seconds."""


class SharedCertificate:
    """The certificate of a Secret in the namespace of the Service (a `CertificateSource`).

    `clock` gives seconds since the epoch; `note` takes a line for each change and error.
    """

    def __init__(
        self, cluster: Cluster, secret: str, service: Service, shown: ServedCertificate, clock: Callable[[], float], note: Log
    ) -> None:
        self._cluster, self._secret, self._service, self._clock, self._note = cluster, secret, service, clock, note
        self._certificate = shown
        self._shown: Material | None = None
        self._pending: Material | None = None
        self._shown_since = self._trusted_since = 0.0
        self._last_error = self._last_refusal = ""

    async def first(self) -> None:
        """Provides a certificate, created if there is none, once API servers trust it. Raises `ClusterError`, `NoCertificate`."""
        self._show(await self._shared(), self._clock())
        try:
            await self._distribute([self._shown_authority], only_needed=False)
        except ApplierError as error:
            self._note(f"certificates: {error}")  # the permission may be granted later: `keep_fresh` tries again
        await asyncio.sleep(PROPAGATION)  # even without a write, as another replica may have written it just now

    async def keep_fresh(self, log: Log) -> None:
        """Reconciles Secret, bundles and the certificate in use, until cancelled. Each error is logged once."""
        while True:
            try:
                pause = await self.reconcile()
                self._last_error = ""
            except (ApplierError, NoCertificate, ValueError) as error:
                if (text := f"certificates: {error}") != self._last_error:
                    log(text)
                self._last_error, pause = text, INTERVAL
            await asyncio.sleep(pause)

    async def reconcile(self) -> float:
        """Takes the next step of a rotation, and returns the seconds until the next check. Raises `ClusterError`."""
        shared, now = await self._shared(), self._clock()
        if self._shown is None or (shared.authority == self._shown.authority and shared.serving != self._shown.serving):
            self._renew(shared, now)
        if shared == self._shown:
            await self._distribute([self._shown_authority], only_needed=now - self._shown_since >= OVERLAP)
            return INTERVAL
        applied = await self._distribute([shared.authority.x509, self._shown_authority], only_needed=False)
        now = self._clock()  # a busy server may have taken seconds
        if applied or shared != self._pending:
            self._pending, self._trusted_since = shared, now  # other replicas may have written the bundle a moment ago
        self._trusted_since = min(self._trusted_since, now)  # the clock may have gone back
        if (wait := self._trusted_since + PROPAGATION - now) > 0:
            return wait
        self._renew(shared, now)
        return INTERVAL

    async def _shared(self) -> Material:
        """Returns the certificates of the Secret, created or renewed if needed. Raises `ClusterError`."""
        names = self._service.names
        for _ in range(ATTEMPTS):
            resource = await self._cluster.resource(SECRET)
            secret = await find(self._cluster, resource, self._service.namespace, self._secret)
            now = _time(self._clock())  # only now, since a server's clock is known once it has answered
            decision = rotation.decide(secret, now, names)
            if decision.action == "keep" and decision.material is not None:
                return decision.material
            material = rotation.make(decision, secret, now, names)
            try:
                await self._write(secret, material)
            except (AlreadyExists, WriteConflict, NotFound):
                continue  # another replica wrote it first, or it was deleted: read it again
            except ApplierError as error:
                if decision.material is None:
                    raise
                self._note_refusal(error)
                return decision.material  # it is due for renewal, but still valid
            self._note(f"certificates were created: {decision.reason}")
            self._last_refusal = ""
            return material
        raise NoCertificate(f"the Secret {self._service.namespace}/{self._secret} changes on every attempt to write it")

    def _note_refusal(self, error: ApplierError) -> None:
        """Notes why the Secret cannot be renewed, once: a check every ten seconds, for weeks, finds the same error."""
        if (text := f"certificates: {error}") != self._last_refusal:
            self._note(text)
        self._last_refusal = text

    async def _write(self, secret: Manifest | None, material: Material) -> None:
        """Writes the Secret, unless it has changed meanwhile. Raises `AlreadyExists`, `WriteConflict`."""
        resource, data = await self._cluster.resource(SECRET), rotation.data_of(material)
        namespace, name = self._service.namespace, self._secret
        if secret is None:
            metadata = {"name": name, "namespace": namespace, "labels": LABELS}
            made = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "kubernetes.io/tls", "data": data}
            await self._cluster.create(resource, made, manager=field_managers.OPERATOR)
        else:
            version = {"uid": secret["metadata"]["uid"], "resourceVersion": secret["metadata"]["resourceVersion"]}
            await self._cluster.patch(resource, namespace, name, {"metadata": version, "data": data}, manager=field_managers.OPERATOR)

    async def _distribute(self, needed: Sequence[x509.Certificate], *, only_needed: bool) -> list[Manifest]:
        return await distribute(self._cluster, self._service, needed, _time(self._clock()), only_needed=only_needed)

    @property
    def _shown_authority(self) -> x509.Certificate:
        assert self._shown is not None  # `first` sets it
        return self._shown.authority.x509

    def _renew(self, material: Material, now: float) -> None:
        self._show(material, now)
        self._note("the certificate was renewed")

    def _show(self, material: Material, now: float) -> None:
        self._certificate.show(material.serving.certificate, material.serving.key)
        if self._shown is None or self._shown.authority != material.authority:
            self._shown_since = now
        self._shown, self._pending = material, None


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
