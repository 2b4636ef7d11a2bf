"""Puts the webhooks together: a certificate and a server, for as long as a process runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from applier.cluster import Cluster
from grove_compiler.graph.node import Manifest
from grove_compiler.record import record
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.certificate import ShownCertificate, Source, Tell
from grove_operator.webhooks.certificate_files import CertificateFiles
from grove_operator.webhooks.server import WebhookServer


@record
class Serving:
    """Where and with which certificate to serve: that of a `folder`, or without one those that we make ourselves.

    `secret` and `service` are names in the operator's `namespace`.
    """

    address: str
    port: int
    folder: str
    namespace: str
    secret: str
    service: str


def serving_of(config: Manifest, namespace: str, *, folder: str = "", port: int | None = None) -> Serving:
    """Returns what an OperatorConfiguration says, for an operator in a namespace. `folder` and `port` take the place of its own."""
    told = config["server"]["webhooks"]
    if not folder and told["certProvisionMode"] == "manual":
        folder = told["serverCertDir"]
    port = told["port"] if port is None else port
    return Serving(told["bindAddress"], port, folder, namespace, told["secretName"], told["serviceName"])


class Webhooks:
    """The webhooks of a process, from `start` to `stop`. `answers` say what comes of requests; `clock` gives seconds since the epoch.

    `tell` is given one line about whatever goes wrong, `note` about what is news. `beside` are run until `stop`, for what answers began.
    """

    def __init__(
        self,
        cluster: Cluster,
        answers: Answers,
        serving: Serving,
        clock: Callable[[], float],
        tell: Tell,
        note: Tell,
        beside: Sequence[Callable[[], Coroutine[Any, Any, None]]] = (),
    ) -> None:
        shown = ShownCertificate()
        self._serving, self._tell = serving, tell
        self._source: Source = source_of(cluster, serving, shown, clock, note)
        self.server = WebhookServer(answers.by_path(), shown.tls, tell)
        self._beside = beside
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> int:
        """Begins to listen, once there is a certificate, and returns the port. Raises `NoCertificate`, `ClusterError` and `OSError`."""
        await self._source.first()
        port = await self.server.start(self._serving.address, self._serving.port)
        self._tasks = [asyncio.create_task(self._source.keep_fresh(self._tell), name="certificate")]
        self._tasks += [asyncio.create_task(one(), name="beside the webhooks") for one in self._beside]
        return port

    def ready(self) -> None:
        """Takes down that the cluster is known, so that answers can be given."""
        self.server.is_ready = True

    async def stop(self) -> None:
        """Answers what was asked already, and listens no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.server.stop()


def source_of(cluster: Cluster, serving: Serving, shown: ShownCertificate, clock: Callable[[], float], note: Tell) -> Source:
    """Returns what gets certificates and keeps them fresh: files of somebody else's, or a Secret of our own."""
    if serving.folder:
        return CertificateFiles(serving.folder, shown)
    # Makes certificates, for which it needs a library that files do without.
    from grove_operator.webhooks.shared_certificate import Place, SharedCertificate
    from grove_operator.webhooks.trust import Service

    place = Place(serving.secret, Service(serving.namespace, serving.service))
    return SharedCertificate(cluster, place, shown, clock, note)
