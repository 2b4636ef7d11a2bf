"""Whether an apply would change anything, decided without the server: its rules of merging, owning and storing. No I/O, no clock."""

from applier.decision.decide import Decision, Verdict, decide
from applier.decision.managers import owners_at
from applier.decision.merged import merged
from applier.decision.openapi import read_openapi
from applier.decision.preparing import prepared
from applier.decision.repairing import old_versions, take_over
from applier.decision.schema import Schemas, Type
from applier.decision.secret_values import hide_secrets

__all__ = [
    "Decision",
    "Schemas",
    "Type",
    "Verdict",
    "decide",
    "hide_secrets",
    "merged",
    "old_versions",
    "owners_at",
    "prepared",
    "read_openapi",
    "take_over",
]
