"""What is known of an object during a run, and deciding on it again once something else has been found there."""

from __future__ import annotations

from dataclasses import dataclass

from applier.decision import hide_secrets
from applier.desired import Desired
from applier.errors import ApplierError
from applier.execute.state import Run
from applier.outcome import Step
from applier.plan.owners import names, refers_to, with_owner
from applier.plan.steps import step_for
from applier.ref import Kind, Manifest, Ref, uid_of
from applier.terminating import is_being_deleted


class NoOwner(ApplierError):
    """The owner of an object is not there, so that the object cannot be made."""


@dataclass(slots=True, eq=False)
class KnownNow:
    """What deciding needs (`applier.plan.steps.Known`), from the object just read and the UIDs of this run."""

    live: Manifest | None
    uids: dict[Ref, str]

    def found(self, desired: Desired) -> Manifest | None:  # noqa: ARG002 - there is only this one
        return self.live

    def uid(self, owner: Ref) -> str:
        return self.uids.get(owner, "")

    def replaced(self, ref: Ref) -> str:  # noqa: ARG002 - what was just read is what stays
        return ""


async def decide_again(run: Run, desired: Desired, live: Manifest | None) -> Step:
    """What is to be done with an object, given what was just read. `live` is as the server gave it, values of Secrets included."""
    schema = await run.schema(Kind.of(desired.manifest)) if live is not None else None
    return step_for(desired, KnownNow(hide_secrets(live) if live else None, run.uids), schema, run.plan.intent)


async def owned(run: Run, desired: Desired) -> Manifest:
    """The manifest with the UID of its owner. Raises `NoOwner` when the owner is not there."""
    owner, manifest = desired.owner, desired.manifest
    if owner is None or not refers_to(manifest, owner):
        return manifest
    if owner not in run.uids:
        run.uids[owner] = await _uid_of_owner(run, manifest, owner)
    return with_owner(manifest, owner, run.uids[owner])


async def _uid_of_owner(run: Run, manifest: Manifest, owner: Ref) -> str:
    """Reads an owner that is no part of the graph. One without a namespace is in the object's own, or in none."""
    entry = next(entry for entry in manifest["metadata"]["ownerReferences"] if names(entry, owner))
    live = await run.read(owner, Kind.read(str(entry["apiVersion"]), owner.kind))
    if live is None or is_being_deleted(live):
        raise NoOwner(f"its owner {owner} {'does not exist' if live is None else 'is being deleted'}")
    return uid_of(live)
