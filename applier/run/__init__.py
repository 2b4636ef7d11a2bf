"""A whole run: what is there is read, a plan made and carried out, and an account given."""

from applier.run.applying import KeepSet, OutOfDate, WaitFor, apply, apply_saved
from applier.run.differing import Difference, diff
from applier.run.reading import Survey, survey, wanted
from applier.run.report import Report

__all__ = ["Difference", "KeepSet", "OutOfDate", "Report", "Survey", "WaitFor", "apply", "apply_saved", "diff", "survey", "wanted"]
