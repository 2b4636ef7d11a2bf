"""Applies defaults to the OperatorConfiguration, and reports the fields that have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grove_compiler.model.inputs.configuration import Configuration
    from grove_compiler.source.document import Document
    from grove_compiler.step import StepContext
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
"""Fields of the upstream operator that are validated and have no effect here; see `docs/configuration.md` for alternatives."""


OF_WEBHOOKS = ("authorizer.enabled", "admission.mnnvlWebhooks")
"""Switches that have an effect only in a process that serves webhooks."""


def with_defaults(context: StepContext) -> Configuration:
    """Returns the configuration with its defaults; only the defaults when none was given."""
    from grove_compiler.source.document import Document
    from grove_compiler.step import StepContext

    if context.config.manifest:
        return context.config
    empty = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
    return StepContext(context.program, context.settings, Document(empty)).config


def log_unused(document: Document | None, log: Log, *, with_webhooks: bool) -> None:
    """Logs the fields of the file that have no effect in this operator or this process."""
    value = document.value if document is not None else {}
    given = [path for path in UNUSED if _has(value, path.split("."))]
    if given:
        log.line("skipped", fields=", ".join(given), why="they have no effect in this operator")
    switched_on = [] if with_webhooks else [path for path in OF_WEBHOOKS if _has(value, path.split("."), expected=True)]
    if switched_on:
        log.line("skipped", fields=", ".join(switched_on), why="this process serves no webhooks (server.webhooks.enabled)")


def _has(value: object, path: list[str], *, expected: bool | None = None) -> bool:
    """Returns whether a path exists, or has the `expected` value; `profiles[]` stands for each item of a list."""
    if not path:
        return expected is None or value is expected
    name, more = path[0].removesuffix("[]"), path[1:]
    if not isinstance(value, dict) or name not in value:
        return False
    items = value[name] if path[0].endswith("[]") else [value[name]]
    return any(_has(item, more, expected=expected) for item in items or ())
