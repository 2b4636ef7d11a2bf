"""Deletes what is no longer wanted, and nothing else: ApplySets, deletion in order, and adoption of what others made."""

from applier.prune.adoption import adopt
from applier.prune.applyset import ApplySet, ApplySetError, applyset_id
from applier.prune.budget import Budget
from applier.prune.open_applyset import ApplySetOptions, OpenApplySet
from applier.prune.removal import delete, delete_set

__all__ = ["ApplySet", "ApplySetError", "ApplySetOptions", "Budget", "OpenApplySet", "adopt", "applyset_id", "delete", "delete_set"]
