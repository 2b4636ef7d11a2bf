"""Reads the results of a pod's preflight checks from the status that the kubelet reports (`tested` in rules)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.timestamp import time
from grove_compiler.model.declared import declared
from grove_compiler.model.lazy import lazy
from grove_compiler.record import record

CHECK_PREFIX = "preflight-"
"""The prefix of the names of check containers."""
PASSED, FAILED, CONFIG_ERROR = "passed", "failed", "config_error"
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? ([0-9.e+-]+)$")
"""A sample in Prometheus' text format: a name, labels, a value."""
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
ERROR_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
"""The syntax of error codes. A pod may write anything into its termination message, and each code becomes a time series."""
MAX_MESSAGE_LENGTH = 512
"""The maximum length of `CheckRun.message`."""


@record(slots=False)
class CheckRun:
    """A completed run of a check; `terminated` is the container's state.

    A check writes its results as samples and comments in Prometheus' text format into its termination message.
    """

    container: str
    terminated: Manifest

    @property
    def check(self) -> str:
        """The name of the check."""
        return self.container.removeprefix(CHECK_PREFIX)

    @property
    def id(self) -> str:
        """Identifies the run among those of its pod."""
        return f"{self.container} {self.terminated.get('containerID') or self.terminated.get('finishedAt') or ''}"

    @property
    def exit_code(self) -> int:
        """Its exit code: 0 for passed, 2 for a configuration error, anything else for failed (ADR-026, Check contract)."""
        code = self.terminated.get("exitCode")
        return code if isinstance(code, int) else 1

    @property
    def result(self) -> str:
        """`passed`, `failed` or `config_error`."""
        return {0: PASSED, 2: CONFIG_ERROR}.get(self.exit_code, FAILED)

    @property
    def ended(self) -> float:
        """When it ended, in seconds since the epoch; 0 when unknown."""
        return _time(self.terminated.get("finishedAt"))

    @lazy
    def seconds(self) -> float:
        """How long it took: as it measured itself, else by the times of the container's state."""
        measured = self._value("preflight_check_duration_seconds")
        started = _time(self.terminated.get("startedAt"))
        return measured if measured is not None else max(0.0, self.ended - started) if started else 0.0

    @lazy
    def error_code(self) -> str:
        """The error code that it reports, from the design's taxonomy; `EXIT_n` without a valid one, and empty if it passed."""
        if self.result == PASSED:
            return ""
        code = self._label("preflight_check_failures_total", "error_code") or self._label("preflight_config_errors_total", "error")
        return code if ERROR_CODE.fullmatch(code) else f"EXIT_{self.exit_code}"

    @lazy
    def bandwidth(self) -> float | None:
        """The measured bus bandwidth in GB/s; none if it measures none."""
        return self._value("preflight_bus_bandwidth_gbps")

    @lazy
    def gang_wait(self) -> float | None:
        """How many seconds it waited for its gang; none if it does not run across a gang."""
        return self._value("preflight_gang_wait_seconds")

    @lazy
    def workload(self) -> str:
        """The id of the gang that it waited for; empty without one."""
        return self._label("preflight_gang_wait_seconds", "workload")

    @lazy
    def message(self) -> str:
        """Why it ended, in one line: the first comment of its termination message, else its exit code."""
        lines = [line.strip() for line in self._termination_message.splitlines()]
        comment = next((line.removeprefix("#").strip() for line in lines if line and not SAMPLE.match(line)), "")
        return comment[:MAX_MESSAGE_LENGTH] or f"it ended with exit code {self.exit_code}"

    @property
    def _termination_message(self) -> str:
        return str(self.terminated.get("message") or "")

    @lazy
    def _samples(self) -> dict[str, tuple[dict[str, str], float]]:
        """The samples of its termination message by name, each with its labels and its value."""
        samples = {}
        for line in self._termination_message.splitlines():
            if (sample := SAMPLE.match(line)) and (value := _number(sample[3])) is not None:
                samples[sample[1]] = ({name: _unescaped(text) for name, text in LABEL.findall(sample[2] or "")}, value)
        return samples

    def _value(self, name: str) -> float | None:
        return self._samples[name][1] if name in self._samples else None

    def _label(self, name: str, label: str) -> str:
        return self._samples[name][0].get(label, "") if name in self._samples else ""


@record(slots=False)
class TestedPod:
    """A live pod with checks."""

    manifest: Manifest

    node_name = declared(str, "spec.nodeName", "Empty until it is scheduled.")

    @property
    def ref(self) -> ObjectRef:
        """The reference to the pod."""
        metadata = self.manifest.get("metadata") or {}
        return ObjectRef("v1", "Pod", metadata.get("namespace") or "", metadata.get("name") or "", metadata.get("uid") or "")

    @lazy
    def runs(self) -> list[CheckRun]:
        """The completed runs of its checks in its status, which has the last run of each check and the one before."""
        return [
            CheckRun(str(status["name"]), state["terminated"])
            for status in self._statuses
            for state in (status.get("lastState") or {}, status.get("state") or {})
            if state.get("terminated")
        ]

    @lazy
    def has_failed(self) -> bool:
        """Whether the last run of any check did not pass."""
        return any(run.exit_code for run in self.last_runs)

    @lazy
    def running_check(self) -> str:
        """The name of the running check; empty while none runs."""
        return next((str(status["name"]).removeprefix(CHECK_PREFIX) for status in self._statuses if _running(status) is not None), "")

    @lazy
    def running_since(self) -> float:
        """When the running check started, in seconds since the epoch; 0 while none runs."""
        return next((_time(running.get("startedAt")) for status in self._statuses if (running := _running(status)) is not None), 0.0)

    @lazy
    def last_runs(self) -> list[CheckRun]:
        """The last completed run of each check."""
        return list({run.container: run for run in self.runs}.values())

    @lazy
    def has_no_check_left(self) -> bool:
        """Whether all of its checks have passed; true without any."""
        return self.has_passed or not self._checks

    @lazy
    def has_passed(self) -> bool:
        """Whether it has checks and all of them have passed."""
        return bool(self._checks) and self._checks <= set(passed_containers(self.manifest, "state"))

    @property
    def _checks(self) -> set[str]:
        containers = (self.manifest.get("spec") or {}).get("initContainers") or []
        return {name for container in containers if (name := str(container.get("name"))).startswith(CHECK_PREFIX)}

    @property
    def _statuses(self) -> list[Manifest]:
        statuses = (self.manifest.get("status") or {}).get("initContainerStatuses") or []
        return [status for status in statuses if str(status.get("name")).startswith(CHECK_PREFIX)]


def passed_containers(pod: Manifest, *states: str) -> Iterator[str]:
    """Yields the names of the init containers of a pod that have succeeded, by the named ones of `state` and `lastState`.

    By its `state` it does not run again. Otherwise it does where the pod has lost its sandbox, as by a restart of its node.
    """
    for status in (pod.get("status") or {}).get("initContainerStatuses") or ():
        runs = ((status.get(key) or {}).get("terminated") for key in states)
        if any(run and run.get("exitCode") == 0 for run in runs):
            yield status["name"]


def _running(status: Manifest) -> Manifest | None:
    running: Manifest | None = (status.get("state") or {}).get("running")
    return running


def _time(text: object) -> float:
    try:
        return time(text) or 0.0  # type: ignore[arg-type]
    except ValueError:
        return 0.0


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda escape: "\n" if escape[1] == "n" else escape[1], text)
