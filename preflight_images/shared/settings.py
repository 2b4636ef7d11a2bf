"""Parses the settings of a check from its environment, and runs it with them. Errors name the variable and the expected value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from preflight_images.shared.outcome import FAILED, MISCONFIGURED, CheckOutcome, HealthReport, Misconfigured, RecommendedAction

UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
"""As Go has them: the micro sign as well as the Greek letter."""
PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
STRATEGIES = ("EXECUTE_REMEDIATION", "STORE_ONLY")


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The settings of every check. `node` is the node's name; with the strategy STORE_ONLY no pod is stopped."""

    node: str
    socket: str
    strategy: str
    timeout: float
    token_path: str
    spool: str
    metrics_file: str

    @property
    def stops_pods(self) -> bool:
        """Whether a failed check ends with an error."""
        return self.strategy != "STORE_ONLY"


def read_settings(environment: Mapping[str, str]) -> CheckSettings:
    """Returns the common settings. Raises `Misconfigured`."""
    strategy = environment.get("PROCESSING_STRATEGY") or STRATEGIES[0]
    if strategy not in STRATEGIES:
        raise Misconfigured(f"PROCESSING_STRATEGY is {strategy!r}; expected {' or '.join(STRATEGIES)}")
    socket = environment.get("PLATFORM_CONNECTOR_SOCKET") or "unix:///var/run/nvsentinel.sock"
    if not socket.startswith("unix:///"):
        raise Misconfigured(f"PLATFORM_CONNECTOR_SOCKET is {socket!r}; expected a value such as unix:///var/run/nvsentinel.sock")
    return CheckSettings(
        node=required(environment, "NODE_NAME"),
        socket=socket,
        strategy=strategy,
        timeout=seconds(environment, "CHECK_TIMEOUT", "300s"),
        token_path=environment.get("PLATFORM_CONNECTOR_TOKEN_PATH", ""),
        spool=environment.get("HEALTH_EVENT_SPOOL", "/tmp/preflight-spool"),
        metrics_file=environment.get("METRICS_FILE", "/dev/termination-log"),
    )


def required(environment: Mapping[str, str], name: str) -> str:
    """Returns a required variable. Raises `Misconfigured`."""
    value = environment.get(name, "")
    if not value:
        raise Misconfigured(f"{name} is not set")
    return value


def seconds(environment: Mapping[str, str], name: str, default: str) -> float:
    """Parses a duration such as `300s` or `1h30m`, or a number of seconds; returns seconds. Raises `Misconfigured`, also for zero."""
    text = environment.get(name) or default
    parts = [(float(amount), unit) for amount, unit in PART.findall(text)]
    is_number = re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) is not None
    found = float(text) if is_number else sum(amount * UNITS[unit] for amount, unit in parts)
    if not found or not (is_number or re.fullmatch(rf"\+?(?:{PART.pattern})+", text)):
        raise Misconfigured(f"{name} is {text!r}; expected a duration such as 300s or 10m, greater than 0")
    return found


def number(environment: Mapping[str, str], name: str, default: float) -> float:
    """Parses a non-negative number. Raises `Misconfigured`."""
    text = environment.get(name)
    if not text:
        return default
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,2})?", text):
        raise Misconfigured(f"{name} is {text!r}; expected a number such as 10.0")
    return float(text)


def threshold_of(environment: Mapping[str, str], name: str, default: float) -> float:
    """Returns the threshold of the bandwidth, by the variable of the design or of NVSentinel's images. Raises `Misconfigured`."""
    return number(environment, name if environment.get(name) else "BW_THRESHOLD_GBPS", default)


def whole(environment: Mapping[str, str], name: str, default: int, known: range) -> int:
    """Parses an integer within bounds. Raises `Misconfigured`."""
    text = environment.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or int(text) not in known:
        raise Misconfigured(f"{name} is {text!r}; expected a whole number from {known.start} to {known.stop - 1}")
    return int(text)


Check = Callable[[Mapping[str, str], CheckSettings], CheckOutcome]
"""A check: a function from its environment and settings to its outcome. It raises `Misconfigured`; any other exception is a bug."""


def attempt(name: str, check: Check, environment: Mapping[str, str], settings: CheckSettings) -> CheckOutcome:
    """Returns the outcome of a check without reporting it."""
    try:
        return check(environment, settings)
    except Misconfigured as error:
        report = HealthReport(name, str(error), error_code="CONFIG")
        return CheckOutcome(MISCONFIGURED, str(error), (report,), error_code="CONFIG")
    except Exception as error:  # a bug in a check is a failure, but not a fault of the hardware
        message = f"the check itself failed: {type(error).__name__}: {error}"
        return CheckOutcome(
            FAILED,
            message,
            (HealthReport(name, message, action=RecommendedAction.NONE, error_code="CHECK_ERROR"),),
            error_code="CHECK_ERROR",
        )
