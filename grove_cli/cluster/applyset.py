"""Defines the options of ApplySets, the parent object and limits of pruning, and finds the object that they name."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click

from grove_cli.cluster.options import InputOptions, text_option
from grove_cli.cluster.session import Session
from grove_cli.options import adding
from grove_compiler.record import record
from grove_compiler.version import __version__

if TYPE_CHECKING:
    from applier.cluster import Cluster
    from applier.prune import ApplySet, ApplySetOptions
    from applier.ref import Ref

TOOLING = f"kubectl/grove-v{__version__}"
"""The tooling label of new ApplySets. kubectl accepts only those of the tool `kubectl`, with any version after the slash."""

applyset_options = adding(
    click.option("--prune", is_flag=True, help="Delete members of the ApplySet that the manifests no longer contain."),
    text_option("--applyset", metavar="NAME", help="Record the objects as an ApplySet (KEP-3659) in the Secret NAME, or KIND/NAME."),
    text_option("--prune-limit", metavar="N|P%", help="Delete at most this many objects at once; more are held for approval."),
    text_option("--approve", metavar="HASH", help="Approve a held deletion by the hash that was printed."),
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

        budget = Budget.read(self.limit) if self.limit else None
        return ApplySetOptions(await named_set(session.cluster, self.applyset, session.namespace), self.prune, budget, self.approval, led)


async def named_set(cluster: Cluster, text: str, namespace: str) -> ApplySet:
    """Returns the ApplySet of a parent: `NAME` is a Secret, as with kubectl, and `KIND/NAME` an object of another kind.

    Raises `NoSuchObject`, `ClusterError`.
    """
    from applier.prune import ApplySet  # only for sets
    from applier.ref import SECRET
    from grove_cli.queries.tree_query import served_kinds, split_argument

    word, name = split_argument(text)
    if not word:
        return ApplySet(SECRET, namespace, name, TOOLING)
    [resource], _ = await served_kinds(cluster, word)
    return ApplySet(resource.kind, namespace if resource.namespaced else "", name, TOOLING)


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
