"""Makes the webhooks of a process, and says in words why it cannot have them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from grove_operator.cli.cluster.session import INSTALL, Failed, Session
from grove_operator.cli.operator.configuration import with_defaults

if TYPE_CHECKING:
    from applier.cache import WatchCache
    from grove_compiler.source.document import Document
    from grove_compiler.step import Context
    from grove_operator.controller.log import Log
    from grove_operator.webhooks.service import Webhooks

POD_NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

SERVICE_ACCOUNT = "GROVE_OPERATOR_SERVICE_ACCOUNT_NAME"
"""Names the ServiceAccount of the operator's pods, as the shipped chart does."""


def own_namespace(session: Session) -> str:
    """Returns the namespace of the pod that we run in; at a desk, that of the kubeconfig."""
    try:
        with open(POD_NAMESPACE, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return session.namespace


@asynccontextmanager
async def admission(
    session: Session,
    context: Context,
    document: Document | None,
    cache: WatchCache,
    log: Log,
    *,
    cert_dir: str = "",
    port: int | None = None,
) -> AsyncIterator[Webhooks]:
    """Serves the webhooks while entered; they answer 503 until `ready`. `cache` is started and stopped by whoever gives it.

    Raises `Failed` where they cannot be served, and `ClusterError`.
    """
    from grove_operator.webhooks.certificate import NoCertificate

    try:
        webhooks = _webhooks(session, context, document, cache, log, cert_dir, port)
    except ModuleNotFoundError as error:
        raise Failed(f"webhooks need {error.name}, which is not installed: {INSTALL.replace('cluster', 'cluster,webhooks')}") from None
    try:
        try:
            log.line("listening", port=await webhooks.start())
        except NoCertificate as error:
            raise Failed(str(error)) from None
        except OSError as error:
            raise Failed(f"cannot listen: {error.strerror or error}") from None
        yield webhooks
    finally:
        await webhooks.stop()


def serves_webhooks(context: Context) -> bool:
    """Tells whether the configuration wants webhooks beside the operator's loop."""
    return bool(((context.config.manifest.get("server") or {}).get("webhooks") or {}).get("enabled"))


async def serve_beside(session: Session, context: Context, document: Document | None, cache: WatchCache, log: Log) -> None:
    """Serves the webhooks from an operator's own watches until cancelled, whether it leads or not: an API server asks any replica."""
    async with admission(session, context, document, cache, log) as webhooks:
        await known(cache, log)
        webhooks.ready()
        log.line("webhooks are ready")
        await asyncio.Event().wait()


async def known(cache: WatchCache, log: Log) -> None:
    """Returns once the cluster is known, as far as we may read it: an answer that needs the rest is none. Raises `ClusterError`."""
    from applier.cache import as_one
    from applier.errors import Forbidden

    errors = await cache.settled()
    denied = [one for one in errors if isinstance(one, Forbidden)]
    if len(denied) < len(errors) or (denied and len(denied) == len(cache.sources())):
        raise as_one(errors)
    for one in denied:
        log.line("a right is missing", "error", verb=one.missing[0], resource=one.missing[1], why=one)


def _webhooks(
    session: Session, context: Context, document: Document | None, cache: WatchCache, log: Log, cert_dir: str, port: int | None
) -> Webhooks:
    from applier.loop import View
    from grove_compiler.model.inputs.settings import Settings
    from grove_compiler.step import Context
    from grove_operator.controller.domain_adoption import Adoption
    from grove_operator.controller.live_objects import LiveObjects
    from grove_operator.install.webhook_configurations import Installation
    from grove_operator.webhooks.answers import Answers
    from grove_operator.webhooks.domains import DomainWebhooks
    from grove_operator.webhooks.effects import Foresight
    from grove_operator.webhooks.pod_trial import PodTrial, trial_options
    from grove_operator.webhooks.review import Judge
    from grove_operator.webhooks.service import Webhooks, serving_of
    from grove_operator.webhooks.share import Share, Traffic

    # A context of their own, with the settings of lint: what the operator's is for is none of theirs, but for its rules, which may change.
    settings = Settings(kube_version=context.settings.kube_version, mnnvl_shape=context.settings.mnnvl_shape)
    current = Context(context.program, settings, document)

    def judged() -> Context:
        if current.program is not context.program:
            current.take_over(Context(context.program, settings, document))
        return current

    traffic = Traffic()
    config, foresight = with_defaults(context).manifest, Foresight(Share(traffic=traffic))
    namespace = own_namespace(session)
    operator = Installation(namespace, service_account=os.environ.get(SERVICE_ACCOUNT) or "grove-operator").user

    def tell(text: str) -> None:
        log.line(text, "error")

    def judge() -> Judge:
        return Judge(judged(), document, LiveObjects(View(cache)), foresight, operator)

    answers = Answers(judge, PodTrial(session.cluster, trial_options(config), Share(traffic=traffic)), traffic)
    beside = []
    if config["admission"]["mnnvlWebhooks"]:
        adoption = Adoption(session.cluster, judged, tell)
        answers.serve_domains(DomainWebhooks(session.cluster), adoption.view)
        beside.append(adoption.run)
    serving = serving_of(config, namespace, folder=cert_dir, port=port)
    return Webhooks(session.cluster, answers, serving, time.time, tell, log.line, beside)
