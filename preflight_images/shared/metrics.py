"""Formats the metrics of a check for Prometheus.

A check lives for seconds and no scraper finds it, so it leaves them as its termination message, which the kubelet puts into the pod's
status (at most 4096 bytes); the gang controller, which watches pods, adds them up.
"""

from __future__ import annotations

from preflight_images.shared.outcome import FAILED, MISCONFIGURED, CheckOutcome

MAX_BYTES = 4096
MAX_COMMENT_LENGTH = 512
RESULTS = {0: "passed", FAILED: "failed", MISCONFIGURED: "config_error"}


def exposition(check: str, node: str, outcome: CheckOutcome, duration: float) -> str:
    """Returns the metrics of a run, after a comment with its result."""
    lines = [f"# {' '.join(outcome.message.split())[:MAX_COMMENT_LENGTH]}\n"]
    lines += [_sample("preflight_check_total", 1, check=check, result=RESULTS[outcome.exit_code])]
    lines.append(_sample("preflight_check_duration_seconds", round(duration, 3), check=check))
    if outcome.exit_code == FAILED:
        lines.append(_sample("preflight_check_failures_total", 1, check=check, node=node, error_code=outcome.error_code))
    if outcome.exit_code == MISCONFIGURED:
        lines.append(_sample("preflight_config_errors_total", 1, error=outcome.error_code))
    if outcome.gang_wait is not None:
        workload, seconds = outcome.gang_wait
        lines.append(_sample("preflight_gang_wait_seconds", round(seconds, 3), workload=workload))
    lines += [_sample(f"preflight_{name}", round(value, 3), check=check, node=node) for name, value in outcome.measured.items()]
    fitting: list[str] = []
    for line in lines:
        if len("".join((*fitting, line)).encode()) <= MAX_BYTES:
            fitting.append(line)
    return "".join(fitting)


def _sample(name: str, value: float, **labels: str) -> str:
    pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{pairs}}} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
