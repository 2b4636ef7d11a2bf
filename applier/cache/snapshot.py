"""What was read of a cluster at one time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from applier.errors import NotSynced
from applier.ref import Kind, Manifest, Ref


class Wanted(NamedTuple):
    """What is to be read or watched: a kind, in one namespace or in all; with `names`, only these objects.

    `managed` keeps managedFields, which only who decides about these objects needs; they are about half of what an object weighs. An
    `optional` kind that the server does not serve is known to have no objects; of any other that says nothing, for a server that has just
    started may not know its own definitions yet. `labels` is a selector: what it does not pick is, as far as a watch goes, not there.
    `metadata_only` watches nothing else of the objects.
    """

    kind: Kind
    namespace: str = ""
    names: tuple[str, ...] = ()
    managed: bool = True
    optional: bool = False
    labels: str = ""
    metadata_only: bool = False


def by_place(objects: Iterable[tuple[Kind, Ref]]) -> list[Wanted]:
    """Returns what has to be read to know these objects: their names by kind and namespace, each once."""
    names: dict[tuple[Kind, str], dict[str, None]] = {}
    for kind, ref in objects:
        names.setdefault((kind, ref.namespace), {})[ref.name] = None
    return [Wanted(kind, namespace, tuple(found)) for (kind, namespace), found in names.items()]


class Snapshot:
    """Objects as they were read (a `Live`). What is asked for and was not read is a KeyError, never "there is none"."""

    def __init__(self) -> None:
        self.objects: dict[Ref, Manifest] = {}
        self.unserved: set[Kind] = set()  # kinds that the server does not serve, so that no object of them exists
        self._whole: set[tuple[str, str, str]] = set()
        self._asked: set[Ref] = set()
        self._unread: dict[tuple[str, str, str], str] = {}

    def get(self, ref: Ref) -> Manifest | None:
        """Returns the live object, or None when there was none.

        Raises KeyError when nobody looked, `NotSynced` when it may not be looked at.
        """
        found = self.objects.get(ref)
        if found is None and not self.covers(ref):
            if why := self._unread.get(ref[:3]):
                raise NotSynced(why)
            raise KeyError(f"{ref} was not read")
        return found

    def covers(self, ref: Ref) -> bool:
        """Tells whether it is known if there is such an object."""
        group, kind, namespace, _ = ref
        return ref in self._asked or (group, kind, "") in self._whole or (group, kind, namespace) in self._whole

    def of(self, group: str, kind: str, namespace: str = "") -> Iterator[Manifest]:
        """Yields the objects of a kind that were read, of one namespace or of all."""
        for ref, manifest in self.objects.items():
            if ref[:2] == (group, kind) and namespace in ("", ref.namespace):
                yield manifest

    def add_all(self, kind: Kind, namespace: str, manifests: list[Manifest], *, whole: bool = True) -> None:
        """Takes a list over. `whole` says that nothing else of the kind is there."""
        if whole:
            self._whole.add((kind.group, kind.kind, namespace))
        for manifest in manifests:
            self.objects[Ref.of(manifest)] = manifest

    def note_unread(self, wanted: Wanted, why: str) -> None:
        """Takes over that objects could not be read."""
        self._unread[wanted.kind.group, wanted.kind.kind, wanted.namespace] = why

    def add_one(self, ref: Ref, manifest: Manifest | None) -> None:
        """Takes the answer to a question for one object over."""
        self._asked.add(ref)
        if manifest is not None:
            self.objects[ref] = manifest
