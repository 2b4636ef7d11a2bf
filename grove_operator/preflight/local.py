"""Runs checks on this machine, with the settings that the injector would give them in a pod."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.inputs.check_run import CHECK_PREFIX
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.preflight import inject
from grove_compiler.record import record
from preflight_images.shared.outcome import MISCONFIGURED, CheckOutcome, Misconfigured
from preflight_images.shared.settings import Check, attempt, read_settings

POD = "this-machine"
HOSTENGINE = "DCGM_HOSTENGINE_ADDR"


@record
class LocalRun:
    """The result of a check on this machine; `seconds` is its duration."""

    check: str
    outcome: CheckOutcome
    seconds: float


def known_checks() -> dict[str, Check]:
    """Returns the built-in checks. Other checks are images, which only a kubelet can run."""
    from preflight_images.dcgm_diag import check as dcgm_diag
    from preflight_images.nccl_allreduce import check as nccl_allreduce
    from preflight_images.nccl_loopback import check as nccl_loopback

    return {module.NAME: module.check for module in (dcgm_diag, nccl_loopback, nccl_allreduce)}


def environments(preflight: Preflight, program: Program) -> dict[str, dict[str, str]]:
    """Returns the environment of each check that the injector gives to a pod of a gang with a GPU and a network device."""
    values = {**preflight.manifest, "gangDiscovery": {"method": "labels", "labels": {"gangIdLabel": "gang", "gangSizeLabel": "size"}}}
    values |= {"namespaces": ["default"], "excludeNamespaces": [], "namespaceSelector": None, "podSelection": False}
    resources = dict.fromkeys([*preflight.gpu_resources[:1], *preflight.network_resources[:1]], 1)
    spec = {"containers": [{"name": POD, "resources": {"limits": resources}}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD, "labels": {"gang": POD, "size": "2"}}, "spec": spec}
    injected = inject(pod, ObjectList(), Preflight(values), program).injected["spec"].get("initContainers") or []
    return {
        container["name"].removeprefix(CHECK_PREFIX): {each["name"]: each["value"] for each in container["env"] if "value" in each}
        for container in injected
    }


def run_here(name: str, check: Check, settings: Mapping[str, str], inherited: Mapping[str, str], node: str, hostengine: str) -> LocalRun:
    """Runs a check. Its `settings` take precedence over the `inherited` environment. The result is not reported to the platform."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as gang, contextlib.redirect_stdout(sys.stderr):
        environment = {**inherited, **settings, "NODE_NAME": node, "MY_POD_NAME": POD, "POD_IP": "127.0.0.1", "GANG_CONFIG_DIR": gang}
        if hostengine:
            environment[HOSTENGINE] = hostengine
        for file, text in {"expected_count": "1", "master_addr": "127.0.0.1", "peers": f"{POD}:127.0.0.1\n"}.items():
            (Path(gang) / file).write_text(text)
        try:
            outcome = attempt(name, check, environment, read_settings(environment))
        except Misconfigured as error:
            outcome = CheckOutcome(MISCONFIGURED, str(error), error_code="CONFIG")
    return LocalRun(name, outcome, time.monotonic() - began)


RESULTS = {0: "passed", 1: "failed", MISCONFIGURED: "is misconfigured"}


def as_text(run: LocalRun) -> Iterator[str]:
    """Yields the result of a check, and its reports about single GPUs."""
    code = f" ({run.outcome.error_code})" if run.outcome.error_code else ""
    yield f"{run.check} {RESULTS[run.outcome.exit_code]}{code} after {run.seconds:.0f} s: {run.outcome.message}"
    for report in run.outcome.reports:
        if not report.is_healthy:
            of = f" of {', '.join(report.entities)}" if report.entities else ""
            blame = "; the hardware is faulty" if report.is_fatal else ""
            yield f"  {report.check_name}{of}: {report.message}{blame}; recommended: {report.action.name}"


def as_json(run: LocalRun) -> str:
    """Returns the result and the reports of a check as JSON."""
    reports = [
        {
            "name": report.check_name,
            "healthy": report.is_healthy,
            "fatal": report.is_fatal,
            "action": report.action.name,
            "errorCode": report.error_code,
            "message": report.message,
            "gpus": list(report.entities),
        }
        for report in run.outcome.reports
    ]
    head = {"check": run.check, "exitCode": run.outcome.exit_code, "errorCode": run.outcome.error_code, "message": run.outcome.message}
    return json.dumps({**head, "seconds": round(run.seconds, 3), "measured": run.outcome.measured, "reports": reports})
