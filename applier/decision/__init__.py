"""Whether an apply would change anything, decided without the server: its rules of merging, owning and storing. No I/O, no clock."""

from applier.decision.decide import Decision, Verdict, decide
from applier.decision.intent import hide_secrets, prepared
from applier.decision.managers import CLIENT_SIDE, LAST_APPLIED, old_versions, owners_at, take_over
from applier.decision.merge_result import merged
from applier.decision.openapi import read_openapi
from applier.decision.schema import Schemas, Type

__all__ = [
    "CLIENT_SIDE",
    "LAST_APPLIED",
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
