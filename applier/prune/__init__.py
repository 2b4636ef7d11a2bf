"""Deletes what is no longer wanted, and nothing else: ApplySets, deletion in order, and adoption of what others made."""

from applier.prune.adoption import adopt
from applier.prune.applyset import ApplySet, ApplySetError
from applier.prune.budget import Budget
from applier.prune.deletion import Deletion
from applier.prune.open_applyset import ApplySetOptions, OpenApplySet
from applier.prune.removal import delete, delete_set

__all__ = [
    "ApplySet",
    "ApplySetError",
    "ApplySetOptions",
    "Budget",
    "Deletion",
    "OpenApplySet",
    "adopt",
    "delete",
    "delete_set",
]
