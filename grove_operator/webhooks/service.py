"""Runs the webhooks of a process: their server and its certificate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from applier.cluster import Cluster
from grove_compiler.graph.node import Manifest
from grove_compiler.record import record
from grove_operator.webhooks.certificate import CertificateFiles, CertificateSource, Log, ServedCertificate
from grove_operator.webhooks.server import Answer, ReviewServer


@record
class Serving:
    """Address and certificate of the server. The certificate is that of a `folder`; without one the operator creates its own.

    `secret` and `service` are names in the operator's `namespace`. The latter is empty for a folder that an option names: nobody has said
    how API servers call us.
    """

    address: str
    port: int
    folder: str
    namespace: str
    secret: str
    service: str


def serving_of(config: Manifest, namespace: str, *, folder: str = "", port: int | None = None) -> Serving:
    """Returns the options of an OperatorConfiguration, for an operator in a namespace. `folder` and `port` override it."""
    options = config["server"]["webhooks"]
    service = "" if folder else options["serviceName"]
    if not folder and options["certProvisionMode"] == "manual":
        folder = options["serverCertDir"]
    port = options["port"] if port is None else port
    return Serving(options["bindAddress"], port, folder, namespace, options["secretName"], service)


class RunningWebhooks:
    """The webhooks of a process, from `start` to `stop`: `answers` by path. `clock` gives seconds since the epoch.

    `log` takes one line for each error, and `note` for other news. `background` tasks run until `stop`.
    """

    def __init__(
        self,
        cluster: Cluster,
        answers: Mapping[str, Answer],
        serving: Serving,
        clock: Callable[[], float],
        log: Log,
        note: Log,
        background: Sequence[Callable[[], Coroutine[Any, Any, None]]] = (),
    ) -> None:
        shown = ServedCertificate()
        self._serving, self._log = serving, log
        self._source: CertificateSource = source_of(cluster, serving, shown, clock, note)
        self.server = ReviewServer(answers, shown.tls, log)
        self._background = background
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> int:
        """Provides the certificate, begins to listen, and returns the port. Raises `NoCertificate`, `ClusterError` and `OSError`."""
        await self._source.first()
        port = await self.server.start(self._serving.address, self._serving.port)
        self._tasks = [asyncio.create_task(self._source.keep_fresh(self._log), name="certificate")]
        self._tasks += [asyncio.create_task(run(), name="background of the webhooks") for run in self._background]
        return port

    def ready(self) -> None:
        """Marks the server as ready, once the cache is synced."""
        self.server.is_ready = True

    async def stop(self) -> None:
        """Stops listening, and answers the requests in progress."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.server.stop()


def source_of(cluster: Cluster, serving: Serving, shown: ServedCertificate, clock: Callable[[], float], note: Log) -> CertificateSource:
    """Returns the source of certificates: existing files, or a Secret that the operator maintains."""
    if serving.folder:
        return CertificateFiles(serving.folder, shown, serving.service and f"{serving.service}.{serving.namespace}.svc", clock, note)
    # Imported lazily, as only the creation of certificates needs the library `cryptography`.
    from grove_operator.webhooks.shared_certificate import Service, SharedCertificate

    return SharedCertificate(cluster, serving.secret, Service(serving.namespace, serving.service), shown, clock, note)
