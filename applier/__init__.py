"""A generic server-side-apply applier: any graph of objects in, the cluster made equal to it, and an honest account of what happened.

What most programs need is here, and loaded when it is asked for:

- `Desired`, `Graph`, `Policy`: what should exist; `Kind` and `Ref` name kinds and objects.
- `connect`: a cluster. `apply`: makes it equal to a graph, as `ApplyOptions` say, and gives a `Report` of `Outcome`s; `diff`: what that
  would change. `WaitFor` and `ApplySetOptions` are what `apply` does besides. `delete` and `adopt`: what their names say.
- `ApplierError`: all that any of these raises on purpose, each one line that a person can act on.

The rest is in the rooms: `applier.loop` and `applier.cache` keep a cluster as a function says, `applier.plan` keeps plans for later,
`applier.prune` has the sets, `applier.readiness` rules of readiness, `applier.events` what a `sink` is told, `applier.observability`
journal, metrics and traces, and `applier.testing` clusters to test with. See docs/applier.md, and docs/applier-architecture.md for
the inside.
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
    from applier.run.options import ApplyOptions, WaitFor
    from applier.run.pipeline import apply
    from applier.run.report import Report
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
        "run.options": ("ApplyOptions", "WaitFor"),
        "run.pipeline": ("apply",),
        "run.report": ("Report",),
        "transport": ("connect",),
    },
)
