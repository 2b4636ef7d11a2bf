"""Runs the gang controller and, where there is a certificate, the webhook beside it, from one cache."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from applier.cache import Wanted
from applier.loop import View
from applier.ref import Kind
from applier.stop import Stop
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Manifest
from grove_compiler.model.preflight.values import Preflight
from grove_operator.controller.live_objects import LiveObjects
from grove_operator.preflight.gangs import GangController
from grove_operator.preflight.injector import MUTATE_PODS, NVSENTINEL_PATH, Injector
from grove_operator.webhooks.certificate import NoCertificate, ShownCertificate
from grove_operator.webhooks.certificate_files import CertificateFiles
from grove_operator.webhooks.server import WebhookServer

Tell = Callable[[str], None]

ADMISSION = (
    Wanted(Kind("resource.k8s.io", "v1", "ResourceClaim"), managed=False, optional=True),
    Wanted(Kind("resource.k8s.io", "v1", "ResourceClaimTemplate"), managed=False, optional=True),
    Wanted(Kind("resource.k8s.io", "v1", "DeviceClass"), managed=False, optional=True),
    Wanted(Kind("", "v1", "Namespace"), managed=False),
    Wanted(Kind("", "v1", "Node"), managed=False, metadata_only=True),
)
"""What the webhook looks up beside gangs; the newest versions are asked for."""


async def serve(
    controller: GangController, preflight: Preflight, program: Program, cert_dir: str, port: int, stop: Stop, tell: Tell
) -> None:
    """Runs until `stop`. The webhook answers 503 until the cluster is known. Raises `OSError` where it cannot listen."""
    running = asyncio.create_task(controller.run(), name="gangs")
    async with AsyncExitStack() as open:
        server = None
        if cert_dir:
            server = await _listening(open, controller, preflight, program, cert_dir, port, tell)
        known = asyncio.create_task(controller.cache.synced(), name="first lists")
        stopped = asyncio.create_task(stop.wait(), name="stop")
        await asyncio.wait({running, known, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if known.done() and server is not None:
            server.is_ready = True
            tell("ready")
        await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
        for task in (known, stopped):
            task.cancel()
        controller.stop()
        await running


async def _listening(
    open: AsyncExitStack, controller: GangController, preflight: Preflight, program: Program, cert_dir: str, port: int, tell: Tell
) -> WebhookServer:
    shown = ShownCertificate()
    files = CertificateFiles(cert_dir, shown)
    try:
        await files.first()
    except NoCertificate as error:
        raise OSError(str(error)) from None

    def review(asked: Any) -> Manifest:
        return Injector(preflight, program, LiveObjects(View(controller.cache))).review(asked)

    server = WebhookServer({MUTATE_PODS: review, NVSENTINEL_PATH: review}, shown.tls, tell)
    tell(f"listening on port {await server.start('', port)}")
    open.push_async_callback(server.stop)
    renewal = asyncio.create_task(files.keep_fresh(tell), name="certificate")
    open.callback(renewal.cancel)
    return server
