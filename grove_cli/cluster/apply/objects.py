"""Collects the objects of a run after it for `-o yaml`, as kubectl prints them."""

from __future__ import annotations

from collections.abc import Iterable

from applier.decision import hide_secrets
from applier.desired import Graph
from applier.outcome import UNDONE, Action, Outcome
from applier.ref import Kind, Manifest, Ref
from grove_cli import output as outputs
from grove_cli.cluster.session import Session


class WrittenObjects:
    """Collects the server's responses to writes (`after_write`), and reads unchanged objects. Values of Secrets are hidden."""

    def __init__(self) -> None:
        self.by_ref: dict[Ref, Manifest] = {}
        self.graph = Graph([])

    def add(self, manifest: Manifest) -> None:
        """Adds a written object without its `managedFields`, which kubectl omits as well."""
        metadata = {key: value for key, value in manifest["metadata"].items() if key != "managedFields"}
        self.by_ref[Ref.of(manifest)] = hide_secrets({**manifest, "metadata": metadata})

    async def complete(self, outcomes: Iterable[Outcome], session: Session, *, is_local: bool) -> None:
        """Adds the objects that were not written: live ones, or for a client-side dry run (`is_local`) the manifests to be sent."""
        from applier.cache.read import read_once
        from applier.cache.snapshot import by_place

        missing = [outcome for outcome in outcomes if outcome.step.ref in self.graph.objects and outcome.step.ref not in self.by_ref]
        unchanged = []
        for outcome in missing:
            manifest = self.graph.objects[outcome.step.ref].manifest
            if outcome.action in (Action.UNCHANGED, Action.YIELDED):
                unchanged.append((Kind.of(manifest), outcome.step.ref))
            elif is_local and outcome.action not in UNDONE:
                self.add(manifest)
        live = await read_once(session.cluster, by_place(unchanged))
        for _, ref in unchanged:
            if (current := live.get(ref)) is not None:  # it may have been deleted meanwhile
                self.add(current)

    def as_yaml(self) -> Iterable[bytes]:
        """Returns the objects as YAML documents, in the order of the graph."""
        from grove_compiler.source.yaml_writer import iter_yaml

        return map(outputs.encoded, iter_yaml([self.by_ref[ref] for ref in self.graph.objects if ref in self.by_ref]))
