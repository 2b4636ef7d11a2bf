"""A whole run: what is there is read, a plan made and carried out, and an account given."""

from applier.run.applying import OutOfDate, apply, apply_saved
from applier.run.differing import Difference, diff
from applier.run.reading import Survey, survey, wanted
from applier.run.report import Report

__all__ = ["Difference", "OutOfDate", "Report", "Survey", "apply", "apply_saved", "diff", "survey", "wanted"]
