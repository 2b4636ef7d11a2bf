"""A webhook of somebody else's, which a real server asks about each pod that is created in a namespace."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.applier.transport.certificates import authority, signed

from .world import LiveCluster

TIMEOUT = 1
"""Seconds that the server waits for an answer, after which it refuses the pod."""


class Webhook:
    """Lets every pod pass, after `takes` seconds: at first too late."""

    def __init__(self) -> None:
        self.takes = 3.0 * TIMEOUT

    async def answer(self, request: web.Request) -> web.Response:
        """Answers a review."""
        review = await request.json()
        await asyncio.sleep(self.takes)
        response = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})


@asynccontextmanager
async def webhook(world: LiveCluster, folder: Path) -> AsyncIterator[Webhook]:
    """Serves such a webhook, and has the server ask it about the pods of the world's namespace."""
    ca = authority(folder)
    pair = signed(ca, "webhook")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(pair.certificate, pair.key)
    served, app = Webhook(), web.Application()
    app.router.add_post("/pods", served.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        port = runner.addresses[0][1]
        await world.kubectl("apply", "-f", "-", input=configuration(world.namespace, port, ca.certificate))
        await world.until_a_pod(says="pods.example.com")
        yield served
    finally:
        await world.kubectl("delete", "validatingwebhookconfiguration", world.namespace, "--ignore-not-found")
        await runner.cleanup()


def configuration(namespace: str, port: int, bundle: Path) -> Any:
    hook = {
        "name": "pods.example.com",
        "clientConfig": {"url": f"https://127.0.0.1:{port}/pods", "caBundle": base64.b64encode(bundle.read_bytes()).decode()},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": TIMEOUT,
    }
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    return {**kind, "metadata": {"name": namespace}, "webhooks": [hook]}
