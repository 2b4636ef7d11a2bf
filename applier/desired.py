"""The objects that should exist, and what may be done to get there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from applier.ref import Manifest, Ref


@dataclass(slots=True, eq=False)
class Policy:
    """What the applier may do with one object.

    `create_only`: never changed once it exists. `adopt`: one that somebody else made may be changed, as server-side apply does; without,
    it is held. `recreate`: deleted and made again when a field differs that cannot change. `yields`: JSON pointers of fields that belong
    to whoever else sets them; they are set on creation and left alone afterwards. `force`: managers whose fields may be taken; `*`
    stands for all.
    """

    create_only: bool = False
    adopt: bool = True
    recreate: bool = False
    yields: tuple[str, ...] = ()
    force: tuple[str, ...] = ()


DEFAULT_POLICY = Policy()


@dataclass(slots=True, eq=False)
class Desired:
    """One object that should exist.

    `manifest` is read-only and holds only the fields that we want to own. `owner` is an object of the same graph, or a live one, whose
    UID is filled into the matching entry of `metadata.ownerReferences` as soon as it is known. `after` names objects of the graph that
    have to be there first. `source` says who asks for it, for people: a rule, or a file and line.
    """

    manifest: Manifest
    owner: Ref | None = None
    after: Sequence[Ref] = ()
    policy: Policy = DEFAULT_POLICY
    source: str = ""
    ref: Ref = field(init=False)

    def __post_init__(self) -> None:
        self.ref = Ref.of(self.manifest)


class Cycle(Exception):
    """Objects that wait for each other; `path` holds their names, the first again at the end."""

    def __init__(self, path: list[Ref]) -> None:
        self.path = path
        super().__init__("objects wait for each other: " + " -> ".join(str(ref) for ref in path))


class Twice(Exception):
    """One object is asked for twice, by `first` and by `second`."""

    def __init__(self, first: Desired, second: Desired) -> None:
        self.first, self.second = first, second
        sources = " and ".join(one.source for one in (first, second) if one.source)
        super().__init__(f"{first.ref} is asked for twice" + (f": by {sources}" if sources else ""))


class Graph:
    """Objects by name, with what each waits for. Raises `Twice` when one is asked for twice.

    What `after` and `owner` name outside the graph is not waited for: it is expected to be there.
    """

    def __init__(self, objects: Sequence[Desired]) -> None:
        self.objects: dict[Ref, Desired] = {}
        for desired in objects:
            first = self.objects.setdefault(desired.ref, desired)
            if first is not desired:
                raise Twice(first, desired)

    def before(self, desired: Desired) -> list[Ref]:
        """The objects of the graph that come first, each once: its owner, then what `after` names."""
        named = desired.after if desired.owner is None else (desired.owner, *desired.after)
        return [ref for ref in dict.fromkeys(named) if ref in self.objects]
