"""Predicts the result of a server-side apply without asking the server: merge, field ownership, defaulting. No I/O, no clock."""

from applier.decision.decide import Decision, Verdict, decide
from applier.decision.intent import hide_secrets, prepared
from applier.decision.managers import CLIENT_SIDE, owners_at, rewrite_old_versions, take_over
from applier.decision.merge_result import merged
from applier.decision.openapi import read_openapi
from applier.decision.schema import Schemas, Type

__all__ = [
    "CLIENT_SIDE",
    "Decision",
    "Schemas",
    "Type",
    "Verdict",
    "decide",
    "hide_secrets",
    "merged",
    "owners_at",
    "prepared",
    "read_openapi",
    "rewrite_old_versions",
    "take_over",
]
