"""The metrics of a check, in the text that Prometheus scrapes.

A check lives for seconds and no scraper finds it, so it leaves them as its termination message, which the kubelet puts into the pod's
status (at most 4096 bytes); whoever watches pods adds them up.
"""

from __future__ import annotations

from preflight_images.shared.outcome import FAILED, MISCONFIGURED, Outcome

MOST_BYTES = 4096
RESULTS = {0: "passed", FAILED: "failed", MISCONFIGURED: "config_error"}


def exposition(check: str, node: str, outcome: Outcome, duration: float, gang_wait: tuple[str, float] | None = None) -> str:
    """Returns the metrics of one run; `gang_wait` names the gang and says how long it took to form."""
    lines = [_sample("preflight_check_total", 1, check=check, result=RESULTS[outcome.exit_code])]
    lines.append(_sample("preflight_check_duration_seconds", round(duration, 3), check=check))
    if outcome.exit_code == FAILED:
        lines.append(_sample("preflight_check_failures_total", 1, check=check, node=node, error_code=outcome.error_code))
    if outcome.exit_code == MISCONFIGURED:
        lines.append(_sample("preflight_config_errors_total", 1, error=outcome.error_code))
    if gang_wait is not None:
        lines.append(_sample("preflight_gang_wait_seconds", round(gang_wait[1], 3), workload=gang_wait[0]))
    lines += [_sample(f"preflight_{name}", round(value, 3), check=check, node=node) for name, value in outcome.measured.items()]
    kept: list[str] = []
    for line in lines:
        if sum(map(len, kept)) + len(line.encode()) <= MOST_BYTES:
            kept.append(line)
    return "".join(kept)


def _sample(name: str, value: float, **labels: str) -> str:
    pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{pairs}}} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
