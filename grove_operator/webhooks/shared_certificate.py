"""Keeps certificates of our own in a Secret that all replicas share, and changes them without an admission that fails.

Whatever brings new certificates (age, a deleted Secret, a Secret that somebody replaced), the way is one: API servers are told to trust the
new authority beside the old one; once they all do, a replica shows the new certificate; and long after, the old authority goes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from cryptography import x509

from applier.cluster import Cluster, find
from applier.errors import AlreadyExists, ApplierError, NotFound, WriteConflict
from applier.ref import Kind, Manifest
from grove_compiler.record import record
from grove_operator.webhooks import rotation
from grove_operator.webhooks.authority import Material
from grove_operator.webhooks.certificate import NoCertificate, ShownCertificate, Tell
from grove_operator.webhooks.trust import Service, spread

SECRET = Kind("", "v1", "Secret")
MANAGER = "grove-operator"
LABELS = {"app.kubernetes.io/name": "grove-operator", "app.kubernetes.io/component": "webhooks"}
ATTEMPTS = 5
"""How often a Secret is read again that another replica has just written."""
INTERVAL = 10.0
"""Seconds between two looks at the Secret and at the configurations."""
SETTLED = 5.0
"""Seconds after which every API server has seen a bundle that was written; they watch the configurations, as we do."""
OVERLAP = 3600.0
"""Seconds for which an authority is still trusted that signs no more: other replicas look every ten seconds."""


@record
class Place:
    """Which Secret holds the certificates, and which Service leads to the webhooks: both are in the operator's namespace."""

    secret: str
    service: Service


class SharedCertificate:
    """The certificate of a Secret (a `Source`). `clock` gives seconds since the epoch; `note` is given one line about what is news."""

    def __init__(self, cluster: Cluster, place: Place, shown: ShownCertificate, clock: Callable[[], float], note: Tell) -> None:
        self._cluster, self._place, self._clock, self._note = cluster, place, clock, note
        self._certificate = shown
        self._shown: Material | None = None
        self._awaited: Material | None = None
        self._shown_since = self._trusted_since = 0.0
        self._told = ""

    async def first(self) -> None:
        """Shows a certificate, making it where there is none, once API servers trust it. Raises `ClusterError`, `NoCertificate`."""
        self._show(await self._shared(), self._clock())
        try:
            await self._spread([self._shown_authority], only_needed=False)
        except ApplierError as error:
            self._note(f"certificates: {error}")  # who installs us may not have given us that right yet; it is tried again
        await asyncio.sleep(SETTLED)  # also where there was nothing to write: another replica may have written it just now

    async def keep_fresh(self, tell: Tell) -> None:
        """Keeps Secret, bundles and what is shown as they should be, until cancelled. A trouble is told once."""
        while True:
            try:
                pause = await self.look()
                self._told = ""
            except (ApplierError, NoCertificate, ValueError) as error:
                if (text := f"certificates: {error}") != self._told:
                    tell(text)
                self._told, pause = text, INTERVAL
            await asyncio.sleep(pause)

    async def look(self) -> float:
        """Looks once, does what is due, and returns the seconds until it is worth while to look again. Raises `ClusterError`."""
        shared, now = await self._shared(), self._clock()
        if self._shown is None or (shared.authority == self._shown.authority and shared.serving != self._shown.serving):
            self._renew(shared, now)
        if shared == self._shown:
            await self._spread([self._shown_authority], only_needed=now - self._shown_since >= OVERLAP)
            return INTERVAL
        applied = await self._spread([shared.authority.x509, self._shown_authority], only_needed=False)
        now = self._clock()  # a busy server may have taken seconds
        if applied or shared != self._awaited:
            self._awaited, self._trusted_since = shared, now  # others may have written the bundle, a moment ago
        if (wait := self._trusted_since + SETTLED - now) > 0:
            return wait
        self._renew(shared, now)
        return INTERVAL

    async def _shared(self) -> Material:
        """Returns what the Secret holds, once it holds what serves. Raises `ClusterError`."""
        names = self._place.service.names
        for _ in range(ATTEMPTS):
            now = _time(self._clock())
            resource = await self._cluster.resource(SECRET)
            secret = await find(self._cluster, resource, self._place.service.namespace, self._place.secret)
            decision = rotation.decide(secret, now, names)
            if decision.action == "keep" and decision.material is not None:
                return decision.material
            made = rotation.make(decision, secret, now, names)
            try:
                await self._write(secret, made)
            except (AlreadyExists, WriteConflict, NotFound):
                continue  # another replica was first, or somebody deleted it: the next look tells
            except ApplierError as error:
                if decision.material is None:
                    raise
                self._note(f"certificates: {error}")
                return decision.material  # it is to be made anew, but still good
            self._note(f"certificates were made: {decision.reason}")
            return made
        raise NoCertificate(f"the Secret {self._place.service.namespace}/{self._place.secret} changes whenever it is to be written")

    async def _write(self, secret: Manifest | None, material: Material) -> None:
        """Writes the Secret, if nobody was before us. Raises `AlreadyExists`, `WriteConflict`."""
        resource, data = await self._cluster.resource(SECRET), rotation.data_of(material)
        namespace, name = self._place.service.namespace, self._place.secret
        if secret is None:
            metadata = {"name": name, "namespace": namespace, "labels": LABELS}
            made = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "kubernetes.io/tls", "data": data}
            await self._cluster.create(resource, made, manager=MANAGER)
        else:
            version = {"uid": secret["metadata"]["uid"], "resourceVersion": secret["metadata"]["resourceVersion"]}
            await self._cluster.patch(resource, namespace, name, {"metadata": version, "data": data}, manager=MANAGER)

    async def _spread(self, needed: Sequence[x509.Certificate], *, only_needed: bool) -> list[Manifest]:
        return await spread(self._cluster, self._place.service, needed, _time(self._clock()), only_needed=only_needed)

    @property
    def _shown_authority(self) -> x509.Certificate:
        assert self._shown is not None  # there is one from `first` on
        return self._shown.authority.x509

    def _renew(self, material: Material, now: float) -> None:
        self._show(material, now)
        self._note("the certificate was renewed")

    def _show(self, material: Material, now: float) -> None:
        self._certificate.show(material.serving.certificate, material.serving.key)
        if self._shown is None or self._shown.authority != material.authority:
            self._shown_since = now
        self._shown, self._awaited = material, None


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
