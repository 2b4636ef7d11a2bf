"""Certificates of our own before a real API server, which asks two replicas with every request: none may fail, whatever happens.

The Service is of the type ExternalName, which an API server follows to this machine; each replica has configurations of its own.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from applier.cluster import Cluster
from applier.errors import ApplierError
from applier.ref import Kind, Manifest, uid_of
from applier.testing.control_plane import ControlPlane
from applier.transport import connect
from grove_operator.install.webhook_configurations import VALIDATE_SETS, Installation, webhook_configuration
from grove_operator.webhooks import authority, rotation, shared_certificate
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.authority import read_bundle
from grove_operator.webhooks.review import Reviewer
from grove_operator.webhooks.service import RunningWebhooks, Serving
from grove_operator.webhooks.shared_certificate import CONFIGURATIONS, Service

pytestmark = pytest.mark.cluster

SECRET, SETS, SERVICES = Kind("", "v1", "Secret"), Kind("grove.io", "v1alpha1", "PodCliqueSet"), Kind("", "v1", "Service")
PATIENCE = 90.0
ASKED = 20
"""Admissions that have to go well after each change."""
PAUSE = 0.02
"""Seconds between two admissions: less than any time in which a certificate could be wrong, and not all that the machine can do."""


class WebhookReplicas:
    """Two replicas behind an API server. `failures` are the admissions that were not answered, `admitted` counts the others."""

    def __init__(self, plane: ControlPlane, cluster: Cluster, namespace: str, judge: Reviewer, set: Manifest) -> None:
        self.plane, self.cluster, self.namespace, self.set = plane, cluster, namespace, set
        self.noted: list[str] = []
        self.replicas = [self._replica(judge) for _ in range(2)]
        self.ports: list[int] = []
        self.failures: list[str] = []
        self.admitted = 0

    def _replica(self, judge: Reviewer) -> RunningWebhooks:
        serving = Serving("127.0.0.1", 0, "", self.namespace, "certificates", "admission")
        return RunningWebhooks(self.cluster, Answers(lambda: judge).by_path(), serving, time.time, self.noted.append, self.noted.append)

    async def start(self) -> None:
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "admission", "namespace": self.namespace}}
        named = {**service, "spec": {"type": "ExternalName", "externalName": "localhost"}}
        await self.cluster.create(await self.cluster.resource(SERVICES), named, manager="tests")
        self.ports = list(await asyncio.gather(*(one.start() for one in self.replicas)))
        for one in self.replicas:
            one.ready()
        await self.install()
        await self.until(self.is_trusted)

    async def stop(self) -> None:
        for one in self.replicas:
            await one.stop()
        for manifest in self.manifests():
            await self.kubectl("delete", manifest["kind"], manifest["metadata"]["name"], "--ignore-not-found")

    def manifests(self) -> list[Manifest]:
        """The configurations, for each replica under names of its own, and for this namespace alone."""
        mine = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}}
        made = []
        for port in self.ports:
            manifest = webhook_configuration(VALIDATE_SETS, Installation(self.namespace, "admission", port))
            manifest["metadata"]["name"] = f"{self.namespace}-{port}"
            made.append({**manifest, "webhooks": [{**webhook, **mine} for webhook in manifest["webhooks"]]})
        return made

    async def install(self, *options: str) -> None:
        """What Helm does with an installation or an upgrade."""
        await self.kubectl("apply", *options, "-f", "-", input="\n".join(map(json.dumps, self.manifests())))

    async def kubectl(self, *arguments: str, input: str | None = None) -> None:
        await asyncio.to_thread(self.plane.kubectl, *arguments, input=input)

    async def bundles(self) -> list[bytes]:
        resource = await self.cluster.resource(CONFIGURATIONS[1])
        names = {one["metadata"]["name"] for one in self.manifests()}
        items = [one for one in (await self.cluster.list(resource)).items if one["metadata"]["name"] in names]
        return [base64.b64decode(one["webhooks"][0]["clientConfig"].get("caBundle") or "") for one in items]

    async def is_trusted(self) -> bool:
        """Whether a set can be admitted at all."""
        return await self.admit() == ""

    async def admit(self) -> str:
        """Has a set tried, and gives what was wrong with that."""
        try:
            await self.cluster.create(await self.cluster.resource(SETS), self.set, manager="tests", dry_run=True)
        except ApplierError as error:
            return str(error)
        return ""

    async def ask(self) -> None:
        while True:
            if trouble := await self.admit():
                self.failures.append(trouble)
            else:
                self.admitted += 1
            await asyncio.sleep(PAUSE)

    async def shown(self) -> set[bytes]:
        """The certificates that new connections to the replicas are shown."""
        import ssl

        return {(await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", port))).encode() for port in self.ports}

    async def until(self, look: Callable[[], Awaitable[bool]]) -> None:
        """Returns once a look finds it so; else fails with what may be why: what the replicas have noted, and what is trusted."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not await look():
                    await asyncio.sleep(0.1)
        except TimeoutError:
            held, bundles = await self.material(), await self.bundles()
            trusted = held is not None and [held.authority.x509 in read_bundle(each) for each in bundles]
            running = [str(task) for one in self.replicas for task in one._tasks]
            raise AssertionError(f"{look.__name__}: {self.noted}; trusted: {trusted}; {running}; {await self.admit()}") from None

    async def secret(self) -> Manifest:
        return await self.cluster.get(await self.cluster.resource(SECRET), self.namespace, "certificates")

    async def material(self) -> authority.Material | None:
        try:
            return rotation.read(await self.secret())
        except ApplierError:
            return None


@pytest.fixture
async def world(
    control_plane: ControlPlane, crds: None, namespace: str, judge: Reviewer, there: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[WebhookReplicas]:
    monkeypatch.setattr(shared_certificate, "INTERVAL", 0.5)
    monkeypatch.setattr(shared_certificate, "PROPAGATION", 0.0)  # so far nobody asks; what follows begins once all are trusted
    async with connect(kubeconfig=str(control_plane.kubeconfig), user_agent="grove-webhooks-tests") as cluster:
        one = WebhookReplicas(control_plane, cluster, namespace, judge, there)
        try:
            await one.start()
            monkeypatch.setattr(shared_certificate, "PROPAGATION", 8.0)  # for a busy machine
            yield one
        finally:
            await one.stop()


async def delete(world: WebhookReplicas) -> None:
    secret = await world.secret()
    await world.cluster.delete(await world.cluster.resource(SECRET), world.namespace, "certificates", uid=uid_of(secret))


async def replace(world: WebhookReplicas) -> None:
    """Somebody else's authority."""
    names = Service(world.namespace, "admission").names
    data = rotation.data_of(rotation.make(rotation.Rotation("replace"), None, datetime.now(UTC), names))
    await world.cluster.patch(await world.cluster.resource(SECRET), world.namespace, "certificates", {"data": data})


async def sign_again(world: WebhookReplicas) -> None:
    """Another certificate of the same authority, as when the old one is about to end."""
    held = await world.material()
    assert held is not None
    serving = authority.sign(held.authority, Service(world.namespace, "admission").names, datetime.now(UTC))
    data = rotation.data_of(authority.Material(held.authority, serving))
    await world.cluster.patch(await world.cluster.resource(SECRET), world.namespace, "certificates", {"data": data})


@pytest.mark.parametrize("change", [delete, replace, sign_again], ids=["Secret deleted", "another authority", "another certificate"])
async def test_no_admission_fails_while_certificates_change(
    world: WebhookReplicas, change: Callable[[WebhookReplicas], Awaitable[None]]
) -> None:
    before = await world.shown()
    asking = asyncio.create_task(world.ask())
    try:
        await change(world)

        async def is_new_everywhere() -> bool:
            held, shown = await world.material(), await world.shown()
            return held is not None and shown == {held.serving.certificate} and not shown & before

        await world.until(is_new_everywhere)
        enough = world.admitted + ASKED

        async def is_asked_enough() -> bool:
            return world.admitted >= enough or bool(world.failures)

        await world.until(is_asked_enough)
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    assert world.failures == []


async def test_both_replicas_show_one_certificate(world: WebhookReplicas) -> None:
    held = await world.material()
    assert held is not None
    assert await world.shown() == {held.serving.certificate}


@pytest.mark.parametrize("options", [(), ("--server-side", "--field-manager=helm")], ids=["Helm 3", "Helm 4"])
async def test_an_upgrade_leaves_the_bundles_as_they_are(world: WebhookReplicas, options: tuple[str, ...]) -> None:
    before = await world.bundles()
    asking = asyncio.create_task(world.ask())
    await world.install(*options, *(("--force-conflicts",) if options else ()))
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert (await world.bundles(), world.failures) == (before, [])


async def test_bundles_that_somebody_wiped_come_back(world: WebhookReplicas) -> None:
    for manifest in world.manifests():
        await world.kubectl("delete", manifest["kind"], manifest["metadata"]["name"])
    await world.install()
    await world.until(world.is_trusted)
