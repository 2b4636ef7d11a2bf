"""Deletes what is no longer wanted, and nothing else: ApplySets, deletion in order, and adoption of what others made."""

from applier.prune.adoption import adopt
from applier.prune.applyset import ApplySet, ApplySetError, applyset_id
from applier.prune.budget import Budget
from applier.prune.deleting import delete, delete_set
from applier.prune.pruning import Pruning

__all__ = ["ApplySet", "ApplySetError", "Budget", "Pruning", "adopt", "applyset_id", "delete", "delete_set"]
