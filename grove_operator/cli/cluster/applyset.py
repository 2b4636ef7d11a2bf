"""The recorded set that a command line names, and how much of it may be deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from grove_operator.cli.cluster.options import adding
from grove_operator.cli.cluster.session import Session

if TYPE_CHECKING:
    from applier.prune import ApplySetOptions


def _not_empty(context: click.Context, option: click.Parameter, value: str) -> str:
    """The name of a set. An empty one is what is left of a variable that nobody set: nothing would be recorded."""
    if not value and context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE:
        raise click.BadParameter("the name is empty.", context, option)
    return value


applyset_options = adding(
    (
        click.option("--prune", is_flag=True, help="Delete members of the set of --applyset that are no longer among the manifests."),
        click.option(
            "--applyset",
            default="",
            metavar="NAME",
            callback=_not_empty,
            help="Keep the objects as a set (KEP-3659) with its record in the Secret NAME, or KIND/NAME.",
        ),
        click.option(
            "--prune-limit", default="", metavar="N|P%", help="Delete at most so many objects at once; more are held for approval."
        ),
        click.option("--approve", default="", metavar="HASH", help="Delete what was held: the hash that was told then."),
    )
)
"""Gives what `take_applyset` takes."""


@dataclass(slots=True, eq=False)
class ApplySetChoice:
    """What the options of a set say; texts are empty without."""

    applyset: str
    prune: bool
    limit: str
    approval: str

    async def options(self, session: Session) -> ApplySetOptions | None:
        """The set that the objects are kept as. Raises `NoSuchObject` and `ApplierError` for a name or limit that is none."""
        if not self.applyset:
            return None
        from applier.prune import ApplySetOptions, Budget  # only for sets
        from grove_operator.cluster.applysets import named_set

        budget = Budget.read(self.limit) if self.limit else None
        return ApplySetOptions(await named_set(session.cluster, self.applyset, session.namespace), self.prune, budget, self.approval)


def take_applyset(given: dict[str, Any]) -> ApplySetChoice:
    """The set among a command's values, which are taken out. Raises `click.UsageError` for options that contradict each other."""
    choice = ApplySetChoice(given.pop("applyset"), given.pop("prune"), given.pop("prune_limit"), given.pop("approve"))
    if choice.prune and not choice.applyset:
        raise click.UsageError("--prune needs --applyset NAME: only objects of a recorded set are ever deleted.")
    if choice.limit and not choice.prune:
        raise click.UsageError("--prune-limit is about --prune.")
    if choice.approval and not choice.prune:
        raise click.UsageError("--approve is about --prune.")
    return choice
