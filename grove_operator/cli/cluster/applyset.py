"""The recorded set that a command line names, and how much of it may be deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grove_compiler.record import record
from grove_operator.cli.cluster.options import GIVEN, InputOptions, adding
from grove_operator.cli.cluster.session import Session

if TYPE_CHECKING:
    from applier.prune import ApplySetOptions


applyset_options = adding(
    (
        click.option("--prune", is_flag=True, help="Delete members of the ApplySet that are no longer among the manifests."),
        click.option(
            "--applyset",
            default="",
            metavar="NAME",
            type=GIVEN,
            help="Record the objects as an ApplySet (KEP-3659) in the Secret NAME, or KIND/NAME.",
        ),
        click.option(
            "--prune-limit",
            default="",
            metavar="N|P%",
            type=GIVEN,
            help="Delete at most this many objects at once; more are held for approval.",
        ),
        click.option("--approve", default="", metavar="HASH", type=GIVEN, help="Approve a held deletion by the hash that was printed."),
    )
)
"""Gives what `take_applyset` takes."""


@record
class ApplySetChoice:
    """What the options of a set say; texts are empty without."""

    applyset: str
    prune: bool
    limit: str
    approval: str

    async def options(self, session: Session) -> ApplySetOptions | None:
        """Returns the set that the objects are kept as. Raises `NoSuchObject` and `ApplierError` for a name or limit that is none."""
        if not self.applyset:
            return None
        from applier.prune import ApplySetOptions, Budget  # only for sets
        from grove_operator.cluster.applysets import named_set

        budget = Budget.read(self.limit) if self.limit else None
        return ApplySetOptions(await named_set(session.cluster, self.applyset, session.namespace), self.prune, budget, self.approval)


def take_applyset(given: dict[str, Any], asked: InputOptions) -> ApplySetChoice:
    """Returns the set among a command's values, which are taken out. Raises `click.UsageError` for options that contradict each other."""
    choice = ApplySetChoice(given.pop("applyset"), given.pop("prune"), given.pop("prune_limit"), given.pop("approve"))
    if choice.prune and not choice.applyset:
        raise click.UsageError("--prune needs --applyset NAME: only objects of a recorded set are ever deleted.")
    if choice.prune and asked.selector:
        # As kubectl has it. What -l leaves out is wanted, and only not looked at now; a prune would take it for what nobody wants.
        raise click.UsageError("--prune and -l exclude each other: objects that -l leaves out would be deleted as no longer wanted.")
    if choice.limit and not choice.prune:
        raise click.UsageError("--prune-limit needs --prune.")
    if choice.approval and not choice.prune:
        raise click.UsageError("--approve needs --prune.")
    return choice
