"""Applies graphs of objects to a cluster by server-side apply, and reports the outcome of each object. It depends on no particular kinds.

This package exports what most programs need, and loads it on first access:

- `Desired`, `Graph` and `Policy` describe the desired state; `Kind` and `Ref` identify kinds and objects.
- `connect` connects to a cluster. `apply` makes it equal to a graph and returns a `Report` of `Outcome`s; `diff` returns what that would
  change. `ApplyOptions`, `WaitFor` and `ApplySetOptions` configure it. `delete` deletes a graph's objects, `adopt` takes over their fields.
- `ApplierError` is the base of all errors, each with a message of one line.

Other packages: `applier.loop` and `applier.cache` continuously reconcile a cluster, `applier.plan` saves plans, `applier.prune` manages
ApplySets, `applier.readiness` has the rules of readiness, `applier.events` the events that a `sink` receives, `applier.observability`
journal, metrics and traces, and `applier.testing` clusters for tests. See docs/applier.md, and docs/applier-architecture.md for the
design.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from applier.lazy import lazily

if TYPE_CHECKING:
    from applier.cluster import Cluster
    from applier.desired import Desired, Graph, Policy
    from applier.errors import ApplierError, ClusterError
    from applier.outcome import Action, Outcome
    from applier.prune import ApplySetOptions, adopt, delete
    from applier.ref import Kind, Ref
    from applier.run.difference import Difference, diff
    from applier.run.options import ApplyOptions, Report, WaitFor
    from applier.run.pipeline import apply
    from applier.transport import connect

__all__ = [
    "Action",
    "ApplierError",
    "ApplyOptions",
    "ApplySetOptions",
    "Cluster",
    "ClusterError",
    "Desired",
    "Difference",
    "Graph",
    "Kind",
    "Outcome",
    "Policy",
    "Ref",
    "Report",
    "WaitFor",
    "adopt",
    "apply",
    "connect",
    "delete",
    "diff",
]

__getattr__ = lazily(
    __name__,
    {
        "cluster": ("Cluster",),
        "desired": ("Desired", "Graph", "Policy"),
        "errors": ("ApplierError", "ClusterError"),
        "outcome": ("Action", "Outcome"),
        "prune": ("ApplySetOptions", "adopt", "delete"),
        "ref": ("Kind", "Ref"),
        "run.difference": ("Difference", "diff"),
        "run.options": ("ApplyOptions", "Report", "WaitFor"),
        "run.pipeline": ("apply",),
        "transport": ("connect",),
    },
)
