"""How checks stand in a cluster: gangs that form, wait, passed or failed, and pods that are in none. From what exists alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.timestamp import time
from grove_compiler.model.inputs.check_run import FAILED, PASSED, PREFIX, CheckRun
from grove_compiler.model.inputs.snapshot import is_finished
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
    """A pod with checks. `since` is when it was made, in seconds since the epoch."""

    namespace: str
    name: str
    node: str
    address: str
    since: float
    checks: list[CheckState]

    @property
    def state(self) -> str:
        """`failed` where any check has, `passed` where all have; else it `waits` until one of them runs."""
        states = {check.state for check in self.checks}
        return next((state for state in (FAILED, RUNNING) if state in states), PASSED if states == {PASSED} else WAITING)


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
        states = {pod.state for pod in self.pods}
        if FAILED in states:
            return FAILED
        if states == {PASSED}:
            return PASSED
        return WAITING if not self.expected or self.registered < self.expected else RUNNING

    @property
    def bandwidths(self) -> list[float]:
        """What its pods measured, in GB/s."""
        return [check.bandwidth for pod in self.pods for check in pod.checks if check.bandwidth is not None]

    @property
    def waits(self) -> list[float]:
        """For how many seconds its pods waited for one another, as far as they have."""
        return [check.gang_wait for pod in self.pods for check in pod.checks if check.gang_wait is not None]


def gang_states(pods: Iterable[Manifest], config_maps: Iterable[Manifest]) -> list[GangState]:
    """Returns the gangs that pods wait for, by namespace and name."""
    members: dict[GangKey, list[Manifest]] = {}
    for pod in pods:
        key = key_of(pod)
        if key is not None:
            members.setdefault(key, []).append(pod)
    found = {(one["metadata"].get("namespace"), one["metadata"]["name"]): one.get("data") or {} for one in config_maps}
    return [_gang(key, members[key], found.get((key.namespace, key.name), {})) for key in sorted(members)]


def pod_states(pods: Iterable[Manifest]) -> list[PodState]:
    """Returns the pods that have checks and wait for no gang, by namespace and name."""
    alone = [_pod(pod) for pod in pods if key_of(pod) is None]
    return sorted((pod for pod in alone if pod.checks), key=lambda pod: (pod.namespace, pod.name))


def _gang(key: GangKey, pods: Sequence[Manifest], data: Manifest) -> GangState:
    text = str(data.get("expected_count") or "0")
    expected = int(text) if text.isdecimal() else 0
    registered = len(str(data.get("peers") or "").split())
    living = [pod for pod in pods if not is_finished(pod)]
    counted = living if living and expected and registered >= expected else pods  # others stand in the place of those that have ended
    states = sorted(map(_pod, counted), key=lambda pod: pod.name)
    return GangState(key.namespace, key.name, expected, registered, min(pod.since for pod in states), states)


def _pod(pod: Manifest) -> PodState:
    status, metadata, spec = pod.get("status") or {}, pod["metadata"], pod.get("spec") or {}
    reported = {str(one.get("name")): one for one in status.get("initContainerStatuses") or []}
    names = [str(one.get("name")) for one in spec.get("initContainers") or []]
    checks = [_check(name, reported.get(name) or {}) for name in names if name.startswith(PREFIX)]
    since = time(metadata.get("creationTimestamp")) or 0.0
    where = str(spec.get("nodeName") or ""), str(status.get("podIP") or "")
    return PodState(str(metadata.get("namespace") or ""), metadata["name"], *where, since, checks)


def _check(name: str, status: Manifest) -> CheckState:
    """A check that is restarted after a failure has failed until it passes; one that passed before its pod's sandbox was lost runs anew."""
    now, last = status.get("state") or {}, status.get("lastState") or {}
    ended = now.get("terminated") or last.get("terminated")
    short = name.removeprefix(PREFIX)
    if ended is None or (not now.get("terminated") and CheckRun(name, ended).exit_code == 0):
        running = now.get("running")
        return (
            CheckState(short, RUNNING, since=time(running.get("startedAt")) or 0.0) if running is not None else CheckState(short, WAITING)
        )
    run = CheckRun(name, ended)
    state, why = (PASSED, "") if run.exit_code == 0 else (FAILED, run.why)
    return CheckState(short, state, run.bandwidth, run.exit_code, run.seconds, run.gang_wait, run.ended - run.seconds, why)
