"""Decisions that still hold: remembered until the live object or what is asked of it changes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from applier.decision.decide import Decision, decide
from applier.decision.schema import Type
from applier.ref import Manifest, Ref


class _Case(NamedTuple):
    """All that a decision rests on. The objects are kept, so that no other one can come to have the same identity."""

    manifest: Manifest
    uid: str
    resource_version: str
    schema: Type | None
    yields: tuple[str, ...]
    force: tuple[str, ...]


class Decider:
    """Decides for one manager, and once for each state: asking again about the same objects costs a look-up."""

    def __init__(self, manager: str) -> None:
        self.manager = manager
        self._known: dict[Ref, tuple[_Case, Decision]] = {}

    def decide(
        self,
        ref: Ref,
        manifest: Manifest,
        live: Manifest | None,
        schema: Type | None,
        *,
        yields: Sequence[str] = (),
        force: Collection[str] = (),
    ) -> Decision:
        """As `decide`. A manifest counts as the same while it is the same object: whoever changes one in place gets old answers."""
        if live is None:
            self._known.pop(ref, None)
            return decide(manifest, None, schema, manager=self.manager, yields=yields, force=force)
        metadata = live["metadata"]
        known = self._known.get(ref)
        if known is not None:
            case = known[0]
            if (
                case.manifest is manifest
                and case.resource_version == metadata.get("resourceVersion")
                and case.uid == metadata.get("uid")
                and case.schema is schema
                and case.yields == tuple(yields)
                and case.force == tuple(force)
            ):
                return known[1]
        decision = decide(manifest, live, schema, manager=self.manager, yields=yields, force=force)
        if metadata.get("resourceVersion"):
            case = _Case(manifest, metadata.get("uid", ""), metadata["resourceVersion"], schema, tuple(yields), tuple(force))
            self._known[ref] = (case, decision)
        return decision

    def forget(self, ref: Ref) -> None:
        """Drops what is known of an object that is no longer asked about."""
        self._known.pop(ref, None)
