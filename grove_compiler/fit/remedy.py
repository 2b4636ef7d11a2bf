"""Finds the one requirement of its pods that keeps a gang from fitting; most often it is a forgotten toleration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from grove_compiler.fit.cluster import Cluster
from grove_compiler.fit.eligibility import Objection, lifted
from grove_compiler.fit.gang import ConstraintScope, GangDemand
from grove_compiler.fit.joint import FITS, Joint
from grove_compiler.fit.problem import Problem
from grove_compiler.fit.search import Steps
from kube_objects.words import counted, listed

STEPS = 20_000
MAX_ATTEMPTS = 3
"""At most this many objections are lifted, those of the most nodes first: each costs a check of every node, and the rest rarely matter."""


def find_remedy(cluster: Cluster, gang: GangDemand, objections: Mapping[str, Counter[Objection]]) -> str:
    """Returns a sentence on the one change that would let the gang fit if it were alone on the nodes; empty when no such change does.

    `objections` are those of each clique, with the number of nodes that they rule out.
    """
    # Of all cliques together: a leader and a worker that lack one toleration both get it.
    worst: Counter[Objection] = Counter()
    for counts in objections.values():
        worst |= counts
    for objection, nodes in worst.most_common(MAX_ATTEMPTS):
        cliques = [name for name, counts in objections.items() if objection in counts]
        changed = replace(gang, scope=_without(gang.scope, objection, cliques))
        problem = Problem(cluster, [changed])
        if Joint(problem, Steps(STEPS)).add(problem.gangs[0]).verdict == FITS:
            return _sentence(objection, nodes, cliques)
    return ""


def _without(scope: ConstraintScope, objection: Objection, cliques: Collection[str]) -> ConstraintScope:
    spec = lifted(scope.pod_spec, objection) if scope.level == "podgroup" and scope.name in cliques else scope.pod_spec
    return replace(scope, scopes=[_without(inner, objection, cliques) for inner in scope.scopes], pod_spec=spec)


def _sentence(objection: Objection, nodes: int, cliques: Collection[str]) -> str:
    where, whose = counted(nodes, "node"), f"the pods of {listed(cliques)}"
    if objection.text == "unschedulable":
        return f"{where} {'is' if nodes == 1 else 'are'} cordoned, which {whose} do not tolerate; uncordoned, the gang would fit"
    if objection.field == "tolerations":
        return f"{whose} do not tolerate the taint {objection.of} of {where}; with a toleration the gang would fit"
    return f"{whose} may not run on {where} {objection}; without that requirement the gang would fit"
