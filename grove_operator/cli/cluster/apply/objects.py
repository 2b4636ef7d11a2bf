"""The objects of a run as they are after it, for `-o yaml`: what kubectl prints."""

from __future__ import annotations

from collections.abc import Iterable

from applier.decision import hide_secrets
from applier.desired import Graph
from applier.outcome import UNDONE, Action, Outcome
from applier.ref import Kind, Manifest, Ref
from grove_operator.cli import output as outputs
from grove_operator.cli.cluster.session import Session


class Objects:
    """Takes what the server answers to writes (`after_write`), and reads what needed none. Values of Secrets are hidden."""

    def __init__(self) -> None:
        self.by_ref: dict[Ref, Manifest] = {}
        self.graph = Graph([])

    def take(self, manifest: Manifest) -> None:
        """Takes an object as it was written, without the record of who owns its fields, which kubectl leaves out as well."""
        metadata = {key: value for key, value in manifest["metadata"].items() if key != "managedFields"}
        self.by_ref[Ref.of(manifest)] = hide_secrets({**manifest, "metadata": metadata})

    async def complete(self, outcomes: Iterable[Outcome], session: Session, *, is_local: bool) -> None:
        """Adds what was not written. Of a dry run that asks nobody, `is_local`, what would be sent stands for what would be there."""
        from applier.cache.read import read_once
        from applier.cache.snapshot import by_place

        left = [outcome for outcome in outcomes if outcome.step.ref in self.graph.objects and outcome.step.ref not in self.by_ref]
        there = []
        for outcome in left:
            manifest = self.graph.objects[outcome.step.ref].manifest
            if outcome.action in (Action.UNCHANGED, Action.YIELDED):
                there.append((Kind.of(manifest), outcome.step.ref))
            elif is_local and outcome.action not in UNDONE:
                self.take(manifest)
        live = await read_once(session.cluster, by_place(there))
        for _, ref in there:
            if (manifest_now := live.get(ref)) is not None:  # somebody may have deleted it meanwhile
                self.take(manifest_now)

    def as_yaml(self) -> Iterable[bytes]:
        """Returns the objects in the order of the graph, a document each."""
        from grove_compiler.source.yaml_writer import iter_yaml

        return map(outputs.encoded, iter_yaml([self.by_ref[ref] for ref in self.graph.objects if ref in self.by_ref]))
