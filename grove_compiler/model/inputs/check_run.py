"""What the checks of a pod came to, as the kubelet reports it: rules call the pod `tested`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.timestamp import time
from grove_compiler.model.lazy import lazy
from grove_compiler.record import record

PREFIX = "preflight-"
"""What the names of checks' containers begin with."""
PASSED, FAILED, CONFIG_ERROR = "passed", "failed", "config_error"
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? ([0-9.e+-]+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
ERROR_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
"""What counts as an error code: a pod may write anything into its termination message, and each code is a series of a metric."""
LONGEST_WHY = 512


@record(slots=False)
class CheckRun:
    """One run of a check that has ended: `terminated` is what the kubelet says of it."""

    container: str
    terminated: Manifest

    @property
    def check(self) -> str:
        """The name of the check."""
        return self.container.removeprefix(PREFIX)

    @property
    def id(self) -> str:
        """Tells it from other runs of the same pod."""
        return f"{self.container} {self.terminated.get('containerID') or self.terminated.get('finishedAt') or ''}"

    @property
    def exit_code(self) -> int:
        """How it ended: 0 passed, 2 is set up wrongly, anything else failed (ADR-026, Check contract)."""
        code = self.terminated.get("exitCode")
        return code if isinstance(code, int) else 1

    @property
    def result(self) -> str:
        """`passed`, `failed` or `config_error`."""
        return {0: PASSED, 2: CONFIG_ERROR}.get(self.exit_code, FAILED)

    @property
    def ended(self) -> float:
        """When it ended, in seconds since the epoch; 0 where nobody says it."""
        return _time(self.terminated.get("finishedAt"))

    @lazy
    def seconds(self) -> float:
        """How long it took, by its own clock where it says so."""
        told = self._value("preflight_check_duration_seconds")
        began = _time(self.terminated.get("startedAt"))
        return told if told is not None else max(0.0, self.ended - began) if began else 0.0

    @lazy
    def error_code(self) -> str:
        """Why it did not pass, in a word of the design's taxonomy; `EXIT_n` of a check that says none."""
        if self.result == PASSED:
            return ""
        told = self._label("preflight_check_failures_total", "error_code") or self._label("preflight_config_errors_total", "error")
        return told if ERROR_CODE.fullmatch(told) else f"EXIT_{self.exit_code}"

    @lazy
    def bandwidth(self) -> float | None:
        """The bus bandwidth that it measured, in GB/s; none where it measured none."""
        return self._value("preflight_bus_bandwidth_gbps")

    @lazy
    def gang_wait(self) -> float | None:
        """For how many seconds it waited for its gang; none where it is for no gang."""
        return self._value("preflight_gang_wait_seconds")

    @lazy
    def workload(self) -> str:
        """The gang that it waited for."""
        return self._label("preflight_gang_wait_seconds", "workload")

    @lazy
    def why(self) -> str:
        """How it ended, in one line for people: what it says itself, else its exit code."""
        lines = [line.strip() for line in self._message.splitlines()]
        said = next((line.removeprefix("#").strip() for line in lines if line and not SAMPLE.match(line)), "")
        return said[:LONGEST_WHY] or f"it ended with exit code {self.exit_code}"

    @property
    def _message(self) -> str:
        return str(self.terminated.get("message") or "")

    @lazy
    def _samples(self) -> dict[str, tuple[dict[str, str], float]]:
        found = {}
        for line in self._message.splitlines():
            if (sample := SAMPLE.match(line)) and (value := _number(sample[3])) is not None:
                found[sample[1]] = ({name: _unescaped(text) for name, text in LABEL.findall(sample[2] or "")}, value)
        return found

    def _value(self, name: str) -> float | None:
        return self._samples[name][1] if name in self._samples else None

    def _label(self, name: str, label: str) -> str:
        return self._samples[name][0].get(label, "") if name in self._samples else ""


@record(slots=False)
class TestedPod:
    """A pod with checks that exists."""

    manifest: Manifest

    @property
    def ref(self) -> ObjectRef:
        """The pod."""
        metadata = self.manifest.get("metadata") or {}
        return ObjectRef("v1", "Pod", metadata.get("namespace") or "", metadata.get("name") or "", metadata.get("uid") or "")

    @property
    def node_name(self) -> str:
        """Where it is; empty until it is scheduled."""
        return str((self.manifest.get("spec") or {}).get("nodeName") or "")

    @lazy
    def runs(self) -> list[CheckRun]:
        """The runs of its checks that have ended, as far as the kubelet still tells of them: of each check the last, and the one before."""
        return [
            CheckRun(str(one["name"]), state["terminated"])
            for one in self._statuses
            for state in (one.get("lastState") or {}, one.get("state") or {})
            if state.get("terminated")
        ]

    @lazy
    def has_failed(self) -> bool:
        """Whether any of its checks did not pass the last time that it ran."""
        return any(run.exit_code for run in self.last_runs)

    @lazy
    def running_check(self) -> str:
        """The check that runs now; empty where none does."""
        return next((str(one["name"]).removeprefix(PREFIX) for one in self._statuses if _running(one) is not None), "")

    @lazy
    def running_since(self) -> float:
        """Since when it runs, in seconds since the epoch; 0 where none does."""
        return next((_time(running.get("startedAt")) for one in self._statuses if (running := _running(one)) is not None), 0.0)

    @lazy
    def last_runs(self) -> list[CheckRun]:
        """The last run of each check that has ended once."""
        return list({run.container: run for run in self.runs}.values())

    @lazy
    def has_no_check_left(self) -> bool:
        """Whether all of its checks have passed, if it has any."""
        return self.has_passed or not self._checks

    @lazy
    def has_passed(self) -> bool:
        """Whether all of its checks have passed."""
        return bool(self._checks) and self._checks <= set(passed_containers(self.manifest))

    @property
    def _checks(self) -> set[str]:
        containers = (self.manifest.get("spec") or {}).get("initContainers") or []
        return {name for one in containers if (name := str(one.get("name"))).startswith(PREFIX)}

    @property
    def _statuses(self) -> list[Manifest]:
        found = (self.manifest.get("status") or {}).get("initContainerStatuses") or []
        return [one for one in found if str(one.get("name")).startswith(PREFIX)]


def passed_containers(pod: Manifest) -> Iterator[str]:
    """Yields the init containers of a pod that have ended well, and do not run again."""
    for one in (pod.get("status") or {}).get("initContainerStatuses") or ():
        ended = (one.get("state") or {}).get("terminated")
        if ended and ended.get("exitCode") == 0:
            yield one["name"]


def _running(status: Manifest) -> Manifest | None:
    found: Manifest | None = (status.get("state") or {}).get("running")
    return found


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
    return re.sub(r"\\(.)", lambda pair: "\n" if pair[1] == "n" else pair[1], text)
