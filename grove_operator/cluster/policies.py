"""A rule's `policy` in the applier's words."""

from __future__ import annotations

from applier.desired import DEFAULT_POLICY, Policy
from applier.ref import Manifest


class Policies:
    """Policies by what rules say; equal ones are one value, since thousands of objects share a few."""

    def __init__(self, force: tuple[str, ...] = ()) -> None:
        self.force = force
        self._known: dict[tuple[bool, bool, bool, tuple[str, ...], tuple[str, ...]], Policy] = {}

    def of(self, said: Manifest, scaled: str = "") -> Policy:
        """Returns the policy of an object whose rule says `said` and whose replicas, at the JSON pointer `scaled`, an autoscaler drives."""
        yields = _words(said.get("yield"))
        if scaled and scaled not in yields:
            yields = (*yields, scaled)
        key = said.get("create") == "only", bool(said.get("adopt", True)), bool(said.get("recreate")), yields, _words(said.get("follow"))
        found = self._known.get(key)
        if found is None:
            is_default = key == (False, True, False, (), ()) and not self.force
            found = self._known[key] = DEFAULT_POLICY if is_default else Policy(*key[:4], self.force, key[4])
        return found


def _words(value: object) -> tuple[str, ...]:
    """Returns a word, or a list of words, as rules write them."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()
