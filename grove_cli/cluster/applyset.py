"""The options of ApplySets: the parent object, and limits of pruning."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click

from grove_cli.cluster.options import InputOptions, adding, text_option
from grove_cli.cluster.session import Session
from grove_compiler.record import record

if TYPE_CHECKING:
    from applier.prune import ApplySetOptions
    from applier.ref import Ref


applyset_options = adding(
    (
        click.option("--prune", is_flag=True, help="Delete members of the ApplySet that the manifests no longer contain."),
        text_option("--applyset", metavar="NAME", help="Record the objects as an ApplySet (KEP-3659) in the Secret NAME, or KIND/NAME."),
        text_option("--prune-limit", metavar="N|P%", help="Delete at most this many objects at once; more are held for approval."),
        text_option("--approve", metavar="HASH", help="Approve a held deletion by the hash that was printed."),
    )
)
"""The options that `take_applyset` reads."""


@record
class ApplySetChoice:
    """The values of the ApplySet options; empty when not given."""

    applyset: str
    prune: bool
    limit: str
    approval: str

    async def options(self, session: Session, led: Collection[Ref] = ()) -> ApplySetOptions | None:
        """Returns the options of the applier; `led` are the objects whose dependents an operator writes.

        Raises `NoSuchObject` and `ApplierError` for an invalid name or limit."""
        if not self.applyset:
            return None
        from applier.prune import ApplySetOptions, Budget  # only for sets
        from grove_cli.queries.applysets import named_set

        budget = Budget.read(self.limit) if self.limit else None
        return ApplySetOptions(await named_set(session.cluster, self.applyset, session.namespace), self.prune, budget, self.approval, led)


def take_applyset(given: dict[str, Any], inputs: InputOptions) -> ApplySetChoice:
    """Removes the ApplySet options from a command's values and returns them. Raises `click.UsageError` for contradictions."""
    choice = ApplySetChoice(given.pop("applyset"), given.pop("prune"), given.pop("prune_limit"), given.pop("approve"))
    if choice.prune and not choice.applyset:
        raise click.UsageError("--prune requires --applyset NAME: only members of a recorded ApplySet are deleted.")
    if choice.prune and inputs.selector:
        # As in kubectl: a prune would delete the desired objects that -l filters out.
        raise click.UsageError("--prune and -l are mutually exclusive: objects that -l excludes would be deleted.")
    if choice.limit and not choice.prune:
        raise click.UsageError("--prune-limit requires --prune.")
    if choice.approval and not choice.prune:
        raise click.UsageError("--approve requires --prune.")
    return choice
