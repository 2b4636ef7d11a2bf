"""A server that does everything a bad day brings, and what may be believed of those who worked with it."""

from __future__ import annotations

from typing import Any

from applier.outcome import Action, Outcome
from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from applier.testing.faults import Script

TOLD_DONE = {Action.CREATED, Action.CONFIGURED, Action.UNCHANGED, Action.RECREATED}
PLURALS = {
    "ConfigMap": ("/api/v1", "configmaps"),
    "Secret": ("/api/v1", "secrets"),
    "Service": ("/api/v1", "services"),
    "ServiceAccount": ("/api/v1", "serviceaccounts"),
    "Role": ("/apis/rbac.authorization.k8s.io/v1", "roles"),
    "Deployment": ("/apis/apps/v1", "deployments"),
}


def hostile(seed: int, *, times: float = 1.0, stall_seconds: float = 5.0) -> Script:
    """1 % 409, 1 % 429, 0.5 % resets, 410 every 500 events, stalls of 5 s; `times` that often, for those who have less time."""
    return Script(
        seed=seed,
        conflict=0.01 * times,
        too_many_requests=0.01 * times,
        internal_error=0.002 * times,
        unavailable=0.002 * times,
        reset=0.005 * times,
        stall=0.001 * times,
        stall_seconds=stall_seconds,
        gone_every=int(500 / times),
    )


def live_objects(plane: ControlPlane, namespace: str) -> dict[tuple[str, str], Manifest]:
    """What the server itself says is there, by kind and name."""
    found = {}
    for kind, (api, plural) in PLURALS.items():
        for item in plane.request("GET", f"{api}/namespaces/{namespace}/{plural}")["items"]:
            found[kind, item["metadata"]["name"]] = {"apiVersion": api.removeprefix("/apis/").removeprefix("/api/"), "kind": kind, **item}
    return found


def false_claims(outcomes: list[Outcome], wanted: list[Manifest], live: dict[tuple[str, str], Manifest]) -> list[str]:
    """Objects that were said to be as they are wanted, and are not."""
    by_name = {(one["kind"], one["metadata"]["name"]): one for one in wanted}
    told = [(outcome, (outcome.step.ref.kind, outcome.step.ref.name)) for outcome in outcomes if outcome.action in TOLD_DONE]
    return [f"{outcome.action} {key}" for outcome, key in told if not contains(live.get(key), by_name[key])]


def contains(live: Any, wanted: Any) -> bool:
    """Whether a live value has everything that is wanted of it; it may have more fields, but no other list items."""
    if isinstance(wanted, dict):
        return isinstance(live, dict) and all(contains(live.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(live, list) and len(live) == len(wanted) and all(map(contains, live, wanted))
    return bool(live == wanted)
