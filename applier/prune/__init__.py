"""Deletes objects that are no longer desired: ApplySets, ordered deletion, and adoption of objects of other managers."""

from applier.prune.adoption import adopt
from applier.prune.applyset import ApplySet, ApplySetError
from applier.prune.deletion import Deleter
from applier.prune.open_applyset import ApplySetOptions, Budget, OpenApplySet
from applier.prune.removal import delete, delete_set

__all__ = ["ApplySet", "ApplySetError", "ApplySetOptions", "Budget", "Deleter", "OpenApplySet", "adopt", "delete", "delete_set"]
