"""A whole run: what is there is read, a plan made and carried out, and an account given.

The parts are imported when they are asked for: who only compares need not load what prunes and waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from applier.lazy import lazily

if TYPE_CHECKING:
    from applier.run.difference import Difference, diff
    from applier.run.live_state import Survey, read, survey, wanted
    from applier.run.options import ApplyOptions, WaitFor
    from applier.run.pipeline import OutOfDate, apply, apply_saved
    from applier.run.report import Report

__all__ = [
    "ApplyOptions",
    "Difference",
    "OutOfDate",
    "Report",
    "Survey",
    "WaitFor",
    "apply",
    "apply_saved",
    "diff",
    "read",
    "survey",
    "wanted",
]

__getattr__ = lazily(
    __name__,
    {
        "difference": ("Difference", "diff"),
        "live_state": ("Survey", "read", "survey", "wanted"),
        "options": ("ApplyOptions", "WaitFor"),
        "pipeline": ("OutOfDate", "apply", "apply_saved"),
        "report": ("Report",),
    },
)
