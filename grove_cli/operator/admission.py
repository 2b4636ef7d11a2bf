"""Creates and serves the webhooks of a process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from grove_cli.cluster.session import Failed, Session, needing
from grove_cli.operator.configuration import with_defaults

if TYPE_CHECKING:
    from applier.cache import WatchCache
    from grove_compiler.step import StepContext
    from grove_operator.controller.log import Log
    from grove_operator.webhooks.service import RunningWebhooks

POD_NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

RETRY = 10.0
"""Seconds until an operator without a certificate for its webhooks looks for one again."""

SERVICE_ACCOUNT = "GROVE_OPERATOR_SERVICE_ACCOUNT_NAME"
"""Names the ServiceAccount of the operator's pods, as the upstream chart does."""


def own_namespace(session: Session) -> str:
    """Returns the namespace of this pod; outside of a cluster, that of the kubeconfig."""
    try:
        with open(POD_NAMESPACE, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return session.namespace


class WithoutCertificate(Failed):
    """Ends a command that has no certificate to serve with."""


@asynccontextmanager
async def admission(
    session: Session,
    context: StepContext,
    cache: WatchCache,
    log: Log,
    *,
    cert_dir: str = "",
    port: int | None = None,
) -> AsyncIterator[RunningWebhooks]:
    """Serves the webhooks while entered; they answer 503 until `ready`. The caller starts and stops the `cache`.

    Raises `Failed` when they cannot be served, which is `WithoutCertificate` for want of one.
    """
    from applier.errors import ClusterError
    from grove_operator.webhooks.certificate import NoCertificate

    with needing("webhooks need", "cluster", "webhooks"):
        webhooks = _webhooks(session, context, cache, log, cert_dir, port)
    try:
        try:
            log.line("listening", port=await webhooks.start())
        except (NoCertificate, ClusterError) as error:
            raise WithoutCertificate(str(error)) from None
        except OSError as error:
            raise Failed(f"cannot listen: {error.strerror or error}") from None
        yield webhooks
    finally:
        await webhooks.stop()


def serves_webhooks(context: StepContext) -> bool:
    """Returns whether the configuration enables webhooks in the operator's process."""
    return bool(((context.config.manifest.get("server") or {}).get("webhooks") or {}).get("enabled"))


async def serve_beside(session: Session, context: StepContext, cache: WatchCache, log: Log, wait: Callable[[str], None]) -> None:
    """Serves the webhooks from an operator's watches until cancelled, leader or not: an API server calls any replica.

    Without a certificate it tries again: the operator looks after its sets meanwhile. `wait` takes what is waited for, empty for nothing.
    """
    wait("webhooks do not listen yet")
    told = ""
    while True:
        try:
            async with admission(session, context, cache, log) as webhooks:
                await wait_for_cache(cache, log)
                webhooks.ready()
                wait("")
                log.line("webhooks are ready")
                await asyncio.Event().wait()
        except WithoutCertificate as error:
            text = f"webhooks wait for a certificate: {error}"
        if text != told:
            log.line(text, "error")
        wait(told := text)
        await asyncio.sleep(RETRY)


async def wait_for_cache(cache: WatchCache, log: Log) -> None:
    """Waits until the cache has synced all kinds that can be read; reviews that need others answer 503. Raises `ClusterError`."""
    from applier.errors import Forbidden

    for error in await cache.usable():
        if isinstance(error, Forbidden):
            log.line("missing permission", "error", verb=error.missing[0], resource=error.missing[1], why=error)
        else:
            log.line("cannot be read", "error", why=error)


def _webhooks(session: Session, context: StepContext, cache: WatchCache, log: Log, cert_dir: str, port: int | None) -> RunningWebhooks:
    from applier.loop import View
    from grove_compiler.model.inputs.settings import Settings
    from grove_compiler.step import StepContext
    from grove_operator.controller.domain_adoption import DomainAdoption
    from grove_operator.controller.live_objects import LiveObjects
    from grove_operator.install.webhook_configurations import Installation
    from grove_operator.webhooks.answers import Answers
    from grove_operator.webhooks.domains import DomainWebhooks
    from grove_operator.webhooks.effects import EffectsPreview
    from grove_operator.webhooks.pod_trial import PodTrial, trial_options
    from grove_operator.webhooks.review import Reviewer
    from grove_operator.webhooks.service import RunningWebhooks, serving_of
    from grove_operator.webhooks.share import Share, Traffic

    # Reviews have a context of their own, with the settings of `grove lint`. Only the rules are the operator's, which may be reloaded.
    settings, document = Settings(kube_version=context.settings.kube_version, mnnvl_shape=context.settings.mnnvl_shape), context.document
    current = StepContext(context.program, settings, document)

    def reviewed() -> StepContext:
        if current.program is not context.program:
            current.reload(StepContext(context.program, settings, document))
        return current

    traffic = Traffic()
    config, preview = with_defaults(context).manifest, EffectsPreview(Share(traffic=traffic))
    namespace = own_namespace(session)
    operator = Installation(namespace, service_account=os.environ.get(SERVICE_ACCOUNT) or "grove-operator").user

    def log_error(text: str) -> None:
        log.line(text, "error")

    def reviewer() -> Reviewer:
        view = View(cache)
        return Reviewer(reviewed(), LiveObjects(view), preview, operator, view.frozen)

    answers = Answers(reviewer, PodTrial(session.cluster, trial_options(config), Share(traffic=traffic)), traffic)
    background = []
    if config["admission"]["mnnvlWebhooks"]:
        adoption = DomainAdoption(session.cluster, reviewed, log_error)
        answers.serve_domains(DomainWebhooks(session.cluster, adoption.view))
        background.append(adoption.run)
    serving = serving_of(config, namespace, folder=cert_dir, port=port)
    return RunningWebhooks(session.cluster, answers.by_path(), serving, session.clock, log_error, log.line, background)
