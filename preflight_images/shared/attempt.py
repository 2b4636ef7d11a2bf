"""Runs a check, and turns misconfigurations and internal errors into outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from preflight_images.shared.outcome import FAILED, MISCONFIGURED, CheckOutcome, HealthReport, Misconfigured, RecommendedAction
from preflight_images.shared.settings import CheckSettings

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
