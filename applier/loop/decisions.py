"""Remembers what was decided on the objects of a key, so that it is not decided again without need."""

from __future__ import annotations

from typing import NamedTuple

import orjson

from applier.decision import Type
from applier.desired import Desired, Policy
from applier.outcome import WRITTEN, Action, Step
from applier.plan import Intent, step_for
from applier.ref import Manifest, Ref
from kube_objects.digest import digest_of

_AGAIN = WRITTEN | {Action.FAILED, Action.PRUNED}
"""What is decided again each time: it changes the object, or may not fail again. What is left unchanged is remembered."""


class _Decided(NamedTuple):
    """Holds a step and all that it was decided on: the very objects that are shared and never changed, and equals of the others."""

    step: Step
    live: Manifest
    manifest: bytes
    schema: Type | None
    intent: Intent
    owner: tuple[Ref | None, str]
    policy: Policy


class Decisions:
    """Decides the steps of a key's objects, as `step_for` does, and remembers those of its last plan that write nothing.

    Most objects of most reconciles are as they were, in a simulated cluster nine in ten, and to find that takes a tenth of the time of a
    decision. As much is remembered as the key desires, without the manifests: a digest of each is kept. Nothing is remembered of objects
    that are only created, which are many, and mostly not even compared.
    """

    def __init__(self) -> None:
        self._known: dict[Ref, _Decided] = {}
        self._last: dict[Ref, _Decided] = {}

    def begin(self) -> None:
        """Begins a plan. Of objects that it has none of nothing is remembered."""
        self._last, self._known = self._known, {}

    def step_for(
        self, desired: Desired, live: Manifest | None, schema: Type | None, intent: Intent, owner_uid: str, replaced: str = ""
    ) -> Step:
        """Returns the step of an object: see `applier.plan.step_for`."""
        is_compared = live is not None and not replaced and not desired.policy.create_only
        if live is None or not is_compared or (digest := digest_of_manifest(desired.manifest)) is None:
            return step_for(desired, live, schema, intent, owner_uid, replaced)
        owner, known = (desired.owner, owner_uid), self._last.get(desired.ref)
        if (
            known is None
            or known.live is not live
            or known.manifest != digest
            or known.schema is not schema
            or known.intent != intent
            or known.owner != owner
            or known.policy != desired.policy
        ):
            step = step_for(desired, live, schema, intent, owner_uid)
            if step.action in _AGAIN:
                return step
            known = _Decided(_copy(step), live, digest, schema, intent, owner, desired.policy)
        self._known[desired.ref] = known
        return _copy(known.step)


def _copy(step: Step) -> Step:
    """Returns a step of its own for each plan, since its wave and what comes of it are noted in it; the intent only serves writes."""
    return Step(
        step.ref,
        step.action,
        step.reason,
        step.changes,
        step.conflicts,
        step.uid,
        step.resource_version,
        unsure=step.unsure,
        force=step.force,
        patch=step.patch,
        obstacle=step.obstacle,
    )


def digest_of_manifest(manifest: Manifest) -> bytes | None:
    """Returns what tells a manifest from any other, also `1` from `true`, which Python takes for equal; None for one that is no JSON."""
    try:
        return digest_of(orjson.dumps(manifest))
    except TypeError:
        return None
