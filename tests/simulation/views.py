"""What an operator sees of its cluster: for each kind a moment of the past, but never one before what it has written itself."""

from __future__ import annotations

from collections.abc import Mapping

from applier.ref import Manifest, Ref
from grove_compiler.model.inputs.snapshot import ObjectList
from tests.simulation.world import NAMESPACE, World

GroupKind = tuple[str, str]


class Views:
    """Caches of one process. A cache of a kind is at a version of the world, and only moves forward.

    An operator works on a key only when its cache has seen its own last writes (the freshness gate of the loop): `wrote` says so.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._began = world.version
        self._at: dict[GroupKind, int] = {}

    def wrote(self, kind: GroupKind) -> None:
        """The process has written an object of this kind just now."""
        self._at[kind] = self.world.version

    def look(self, lags: Mapping[str, int]) -> ObjectList:
        """What is seen while the caches of some kinds lag behind by so many changes of the world; the others are up to date."""
        objects = dict(self.world.cluster.store.objects)
        for kind in {ref[:2] for ref in objects} | {*self._at}:
            self._at[kind] = max(self._at.get(kind, self._began), self.world.version - lags.get(kind[1], 0))
        self._rewind(objects)
        return ObjectList(one for ref, one in objects.items() if ref.namespace in ("", NAMESPACE))

    def _rewind(self, objects: dict[Ref, Manifest]) -> None:
        """Undoes, of each kind, what its cache has not heard of."""
        store = self.world.cluster.store
        for change in reversed(store.changes):
            if change.version <= min(self._at.values()):
                return
            if change.version > self._at.get(change.ref[:2], store.version):
                if change.old is None:
                    objects.pop(change.ref, None)
                else:
                    objects[change.ref] = change.old
