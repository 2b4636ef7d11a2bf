"""Runs the reconcile loop: work queue, leader election with fencing, and reconciling of one key."""

from applier.loop.lease import Fence, FencedCluster, Lease, LeaseLost, Timing
from applier.loop.lease_thread import LeaseThread
from applier.loop.loop import Loop, Result
from applier.loop.preparation import DeletionOptions
from applier.loop.queue import QueueClosed, WorkQueue
from applier.loop.reconcile import Reconciler
from applier.loop.view import View

__all__ = [
    "DeletionOptions",
    "Fence",
    "FencedCluster",
    "Lease",
    "LeaseLost",
    "LeaseThread",
    "Loop",
    "QueueClosed",
    "Reconciler",
    "Result",
    "Timing",
    "View",
    "WorkQueue",
]
