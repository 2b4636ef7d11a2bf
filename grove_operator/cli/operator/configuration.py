"""Tells what of the OperatorConfiguration has an effect, and what counts where none was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grove_compiler.model.inputs.configuration import Configuration
    from grove_compiler.source.document import Document
    from grove_compiler.step import Context
    from grove_operator.controller.log import Log


UNUSED = (
    "runtimeClientConnection.qps",
    "runtimeClientConnection.burst",
    "runtimeClientConnection.contentType",
    "runtimeClientConnection.acceptContentTypes",
    "leaderElection.resourceLock",
    "controllers.podCliqueSet.concurrentSyncs",
    "controllers.podClique.concurrentSyncs",
    "controllers.podCliqueScalingGroup.concurrentSyncs",
    "controllers.podGang.concurrentSyncs",
    "debugging.enableProfiling",
    "debugging.pprofBindHost",
    "debugging.pprofBindPort",
    "scheduler.profiles[].config.gangScheduling",
)
"""Fields of the shipped operator that are checked and have no effect here; `docs/configuration.md` says what there is instead."""


OF_WEBHOOKS = ("authorizer.enabled", "admission.mnnvlWebhooks")
"""Switches of what webhooks do, so that they have no effect where none are served."""


def with_defaults(context: Context) -> Configuration:
    """Returns the configuration; the defaults alone where none was given."""
    from grove_compiler.source.document import Document
    from grove_compiler.step import Context

    if context.config.manifest:
        return context.config
    empty = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    return Context(context.program, context.settings, Document(empty)).config


def tell_unused(document: Document | None, log: Log, *, with_webhooks: bool) -> None:
    """Writes to the log which fields of the file have no effect, in this operator or in this process."""
    value = document.value if document is not None else {}
    given = [path for path in UNUSED if _has(value, path.split("."))]
    if given:
        log.line("passed over", fields=", ".join(given), why="they have no effect in this operator")
    switched_on = [] if with_webhooks else [path for path in OF_WEBHOOKS if _has(value, path.split("."), wanted=True)]
    if switched_on:
        log.line("passed over", fields=", ".join(switched_on), why="this process serves no webhooks (server.webhooks.enabled)")


def _has(value: object, path: list[str], *, wanted: bool | None = None) -> bool:
    """Whether there is something at a path, or what is `wanted`; `profiles[]` stands for each item of a list."""
    if not path:
        return wanted is None or value is wanted
    name, more = path[0].removesuffix("[]"), path[1:]
    if not isinstance(value, dict) or name not in value:
        return False
    items = value[name] if path[0].endswith("[]") else [value[name]]
    return any(_has(item, more, wanted=wanted) for item in items or ())
