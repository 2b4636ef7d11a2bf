"""Translates the `policy` of rules into those of the applier."""

from __future__ import annotations

from applier.desired import DEFAULT_POLICY, Policy
from applier.ref import Manifest


class Policies:
    """Creates policies; equal ones are the same value, since thousands of objects share a few."""

    def __init__(self, force: tuple[str, ...] = ()) -> None:
        self.force = force
        self._known: dict[tuple[bool, bool, bool, bool, tuple[str, ...], tuple[str, ...]], Policy] = {}

    def of(self, declared: Manifest, scaled: str = "") -> Policy:
        """Returns the policy that a rule has `declared`, for an object whose replicas, at the JSON pointer `scaled`, an autoscaler sets."""
        yields = _words(declared.get("yield"))
        if scaled and scaled not in yields:
            yields = (*yields, scaled)
        adopt, recreate = bool(declared.get("adopt", True)), bool(declared.get("recreate"))
        key = declared.get("create") == "only", adopt, recreate, bool(declared.get("part")), yields, _words(declared.get("follow"))
        policy = self._known.get(key)
        if policy is None:
            is_default = key == (False, True, False, False, (), ()) and not self.force
            policy = self._known[key] = DEFAULT_POLICY if is_default else Policy(*key[:5], self.force, key[5])
        return policy


def _words(value: object) -> tuple[str, ...]:
    """Returns a string or a list of strings as a tuple."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()
