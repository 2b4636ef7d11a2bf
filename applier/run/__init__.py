"""A whole run: what is there is read, a plan made and carried out, and an account given.

The parts are imported when they are asked for: who only compares need not load what prunes and waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from applier.lazy import lazily

if TYPE_CHECKING:
    from applier.run.applying import OutOfDate, WaitFor, apply, apply_saved
    from applier.run.differing import Difference, diff
    from applier.run.keeping import KeepSet
    from applier.run.reading import Survey, survey, wanted
    from applier.run.report import Report

__all__ = ["Difference", "KeepSet", "OutOfDate", "Report", "Survey", "WaitFor", "apply", "apply_saved", "diff", "survey", "wanted"]

__getattr__ = lazily(
    __name__,
    {
        "applying": ("OutOfDate", "WaitFor", "apply", "apply_saved"),
        "differing": ("Difference", "diff"),
        "keeping": ("KeepSet",),
        "reading": ("Survey", "survey", "wanted"),
        "report": ("Report",),
    },
)
