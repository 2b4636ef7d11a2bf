"""Tells which keys take so long that they are evaluated in a thread."""

from __future__ import annotations

from typing import Any

from applier.desired import Gone, Graph, Hold
from applier.errors import NotSynced
from applier.loop import View
from applier.ref import Manifest, Ref
from grove_compiler.decoder import SET_KIND
from grove_compiler.step import GROUP, Key

MANY_VALUES = 2_000
"""Values in a set's spec from which on its first step takes some 30 ms: 40 kB of JSON. A thread would gain nothing for smaller ones."""
MANY_OBJECTS = 500
"""Objects of a key from which on its steps take as long, however short the spec is that they come from."""


class LargeSets:
    """Remembers of each set, by its generation, whether its spec is large, and of each key whether its last graph was."""

    def __init__(self) -> None:
        self._specs: dict[Key, tuple[object, bool]] = {}
        self._graphs: set[Key] = set()

    def is_large(self, view: View, key: Key) -> bool:
        """Reports whether a key may take long."""
        return key in self._graphs or (key.kind == SET_KIND and self._has_large_spec(view, key))

    def note(self, key: Key, desired: Graph | Gone | Hold) -> None:
        """Records the result of a key."""
        if isinstance(desired, Graph) and len(desired.objects) >= MANY_OBJECTS:
            self._graphs.add(key)
        elif not isinstance(desired, Hold):
            self._graphs.discard(key)
        if isinstance(desired, Gone) and key.replica is None:
            self._specs.pop(key, None)

    def _has_large_spec(self, view: View, key: Key) -> bool:
        try:
            live = view.peek(Ref(GROUP, SET_KIND, key.namespace, key.name))
        except NotSynced:
            return False
        if live is None:
            return False
        metadata = live["metadata"]
        generation, of = (metadata.get("uid"), metadata.get("generation")), key.whole
        known = self._specs.get(of)
        if known is None or known[0] != generation:
            known = self._specs[of] = generation, _has_many_values(live)
        return known[1]


def _has_many_values(manifest: Manifest) -> bool:
    """Reports whether there are `MANY_VALUES` in a spec; looks at no more."""
    waiting: list[Any] = [manifest.get("spec")]
    for seen, one in enumerate(waiting):  # which grows meanwhile
        if seen >= MANY_VALUES:
            return True
        if isinstance(one, dict | list):
            waiting += one.values() if isinstance(one, dict) else one
    return False
