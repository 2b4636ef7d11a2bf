"""Which cluster a command is about, as whom, and which namespace."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any

import click

from grove_compiler.record import record

REQUESTS = 6
"""The verbosity from which on requests are logged, as in kubectl."""


@record
class ClusterFlags:
    """The cluster, user and namespace; empty values are those of the kubeconfig.

    `request_timeout` is in seconds, for all attempts of a request together; None is the default of the transport.
    """

    namespace: str = ""
    context: str = ""
    kubeconfig: str = ""
    token: str = field(default="", repr=False)
    act_as: str = ""
    groups: tuple[str, ...] = ()
    request_timeout: float | None = None
    verbosity: int = 0

    @property
    def user(self) -> dict[str, Any]:
        """The fields of the kubeconfig's user that options override."""
        given = {"token": self.token, "as": self.act_as, "as-groups": list(self.groups)}
        return {key: value for key, value in given.items() if value}


def take_target(given: dict[str, Any]) -> ClusterFlags:
    """Removes the target options from a command's values and returns them. Raises `click.UsageError` for --as-group without --as."""
    target = ClusterFlags(**{each.name: given.pop(each.name) for each in fields(ClusterFlags)})
    if target.groups and not target.act_as:
        raise click.UsageError("--as-group requires --as, the user to impersonate.")
    return target
