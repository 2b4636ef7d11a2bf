"""Summarises the checks of a cluster, by gang and for pods without a gang, from existing objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.timestamp import time
from grove_compiler.model.inputs.check_run import CHECK_PREFIX, FAILED, PASSED, CheckRun
from grove_compiler.model.inputs.snapshot import is_finished
from grove_compiler.preflight_gang import GangKey, key_of
from grove_compiler.record import record

WAITING, RUNNING = "waits", "runs"


@record
class CheckState:
    """One check of a pod.

    `bandwidth` is in GB/s, none if it measures none; `seconds` is its duration, of which it waited `gang_wait` for its gang; `since` is its
    start in seconds since the epoch; `why` is its error, empty for a check that passed.
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
    """A pod with checks. `since` is its creation, in seconds since the epoch."""

    namespace: str
    name: str
    node: str
    address: str
    since: float
    checks: list[CheckState]

    @property
    def state(self) -> str:
        """`failed` if any check has, `passed` if all have; else `runs` if any check does, and `waits` if none does."""
        states = {check.state for check in self.checks}
        return next((state for state in (FAILED, RUNNING) if state in states), PASSED if states == {PASSED} else WAITING)


@record
class GangState:
    """One gang. `expected` is 0 until it is known; `since` is the creation of its first pod, in seconds since the epoch.

    `problem` tells why `expected` will not be known as things are; empty if it may be.
    """

    namespace: str
    name: str
    expected: int
    registered: int
    since: float
    pods: list[PodState]
    problem: str = ""

    @property
    def state(self) -> str:
        """`failed` if any check has, `waits` until all pods are registered, then `runs` until all checks have `passed`."""
        states = {pod.state for pod in self.pods}
        if FAILED in states:
            return FAILED
        if states == {PASSED}:
            return PASSED
        return WAITING if not self.expected or self.registered < self.expected else RUNNING

    @property
    def bandwidths(self) -> list[float]:
        """The measurements of its pods, in GB/s."""
        return [check.bandwidth for pod in self.pods for check in pod.checks if check.bandwidth is not None]

    @property
    def waits(self) -> list[float]:
        """The seconds that its pods waited for one another, of pods that have started."""
        return [check.gang_wait for pod in self.pods for check in pod.checks if check.gang_wait is not None]


def gang_states(pods: Iterable[Manifest], config_maps: Iterable[Manifest]) -> list[GangState]:
    """Returns the gangs that pods wait for, by namespace and name."""
    members: dict[GangKey, list[Manifest]] = {}
    for pod in pods:
        key = key_of(pod)
        if key is not None:
            members.setdefault(key, []).append(pod)
    data = {(each["metadata"].get("namespace"), each["metadata"]["name"]): each.get("data") or {} for each in config_maps}
    return [_gang(key, members[key], data.get((key.namespace, key.name), {})) for key in sorted(members)]


def pod_states(pods: Iterable[Manifest]) -> list[PodState]:
    """Returns the pods that have checks and wait for no gang, by namespace and name."""
    alone = [_pod(pod) for pod in pods if key_of(pod) is None]
    return sorted((pod for pod in alone if pod.checks), key=lambda pod: (pod.namespace, pod.name))


def _gang(key: GangKey, pods: Sequence[Manifest], data: Manifest) -> GangState:
    text = str(data.get("expected_count") or "0")
    expected = int(text) if text.isdecimal() else 0
    registered = len(str(data.get("peers") or "").split())
    living = [pod for pod in pods if not is_finished(pod)]
    counted = living if living and expected and registered >= expected else pods  # replacements of the finished pods have registered
    states = sorted(map(_pod, counted), key=lambda pod: pod.name)
    problem = str(data.get("problem") or "")
    return GangState(key.namespace, key.name, expected, registered, min(pod.since for pod in states), states, problem)


def _pod(pod: Manifest) -> PodState:
    status, metadata, spec = pod.get("status") or {}, pod["metadata"], pod.get("spec") or {}
    statuses = {str(each.get("name")): each for each in status.get("initContainerStatuses") or []}
    names = [str(container.get("name")) for container in spec.get("initContainers") or []]
    checks = [_check(name, statuses.get(name) or {}) for name in names if name.startswith(CHECK_PREFIX)]
    since = time(metadata.get("creationTimestamp")) or 0.0
    where = str(spec.get("nodeName") or ""), str(status.get("podIP") or "")
    return PodState(str(metadata.get("namespace") or ""), metadata["name"], *where, since, checks)


def _check(name: str, status: Manifest) -> CheckState:
    """Returns the state of a check. A failed one is `failed` during its restart; one that passed before its sandbox was lost runs again."""
    now, last = status.get("state") or {}, status.get("lastState") or {}
    ended = now.get("terminated") or last.get("terminated")
    short = name.removeprefix(CHECK_PREFIX)
    if ended is None or (not now.get("terminated") and CheckRun(name, ended).exit_code == 0):
        running = now.get("running")
        return (
            CheckState(short, RUNNING, since=time(running.get("startedAt")) or 0.0) if running is not None else CheckState(short, WAITING)
        )
    run = CheckRun(name, ended)
    state, why = (PASSED, "") if run.exit_code == 0 else (FAILED, run.message)
    return CheckState(short, state, run.bandwidth, run.exit_code, run.seconds, run.gang_wait, run.ended - run.seconds, why)
