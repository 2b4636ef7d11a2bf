"""How the gangs of a cluster stand: which form, wait, passed or failed, and what each pod's checks measured. From what exists alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.timestamp import time
from grove_compiler.model.inputs.check_run import FAILED, PASSED, PREFIX, CheckRun
from grove_compiler.preflight_gang import GangKey, key_of
from grove_compiler.record import record

WAITING, RUNNING = "waits", "runs"


@record
class CheckState:
    """One check of a pod.

    `bandwidth` is in GB/s, none where it measured none; `seconds` is how long it took, `gang_wait` how long it waited for its gang;
    `since` is when it began while it runs, in seconds since the epoch; `why` is how it ended, empty of one that passed.
    """

    name: str
    state: str
    bandwidth: float | None = None
    exit_code: int | None = None
    seconds: float | None = None
    gang_wait: float | None = None
    since: float = 0.0
    why: str = ""


@record
class PodState:
    """One pod of a gang."""

    name: str
    node: str
    address: str
    checks: list[CheckState]


@record
class GangState:
    """One gang. `expected` is 0 while nobody knows it; `since` is when its first pod was made, in seconds since the epoch."""

    namespace: str
    name: str
    expected: int
    registered: int
    since: float
    pods: list[PodState]

    @property
    def state(self) -> str:
        """`failed` where any check has, `waits` until all pods are there, then `runs` until all have `passed`."""
        states = [check.state for pod in self.pods for check in pod.checks]
        if FAILED in states:
            return FAILED
        if states and all(state == PASSED for state in states):
            return PASSED
        return WAITING if not self.expected or self.registered < self.expected else RUNNING

    @property
    def bandwidths(self) -> list[float]:
        """What its pods measured, in GB/s."""
        return [check.bandwidth for pod in self.pods for check in pod.checks if check.bandwidth is not None]


def gang_states(pods: Iterable[Manifest], config_maps: Iterable[Manifest]) -> list[GangState]:
    """Returns the gangs that pods wait for, by namespace and name."""
    members: dict[GangKey, list[Manifest]] = {}
    for pod in pods:
        key = key_of(pod)
        if key is not None:
            members.setdefault(key, []).append(pod)
    found = {(one["metadata"].get("namespace"), one["metadata"]["name"]): one.get("data") or {} for one in config_maps}
    return [_gang(key, members[key], found.get((key.namespace, key.name), {})) for key in sorted(members)]


def _gang(key: GangKey, pods: Sequence[Manifest], data: Manifest) -> GangState:
    expected = str(data.get("expected_count") or "0")
    since = min((time(pod["metadata"].get("creationTimestamp")) or 0.0 for pod in pods), default=0.0)
    registered = len(str(data.get("peers") or "").split())
    states = sorted(map(_pod, pods), key=lambda pod: pod.name)
    return GangState(key.namespace, key.name, int(expected) if expected.isdecimal() else 0, registered, since, states)


def _pod(pod: Manifest) -> PodState:
    status = pod.get("status") or {}
    reported = {str(one.get("name")): one for one in status.get("initContainerStatuses") or []}
    names = [str(one.get("name")) for one in (pod.get("spec") or {}).get("initContainers") or []]
    checks = [_check(name, reported.get(name) or {}) for name in names if name.startswith(PREFIX)]
    return PodState(pod["metadata"]["name"], str((pod.get("spec") or {}).get("nodeName") or ""), str(status.get("podIP") or ""), checks)


def _check(name: str, status: Manifest) -> CheckState:
    """A check that is restarted after a failure has failed: what it ended with last is what counts until it passes."""
    now, last = status.get("state") or {}, status.get("lastState") or {}
    ended = now.get("terminated") or last.get("terminated")
    short = name.removeprefix(PREFIX)
    if ended is None:
        running = now.get("running")
        return (
            CheckState(short, RUNNING, since=time(running.get("startedAt")) or 0.0) if running is not None else CheckState(short, WAITING)
        )
    run = CheckRun(name, ended)
    state, why = (PASSED, "") if run.exit_code == 0 else (FAILED, run.why)
    return CheckState(short, state, run.bandwidth, run.exit_code, run.seconds, run.gang_wait, run.ended - run.seconds, why)
