"""Lists a set's requirements of the cluster: topology, NVLink domains, autoscaling, start-up order, training."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from grove_compiler.gangs.claims import DOMAIN_KIND
from grove_compiler.gangs.clique import CLIQUE_KIND, read_clique
from grove_compiler.gangs.gang import LevelName
from grove_compiler.gangs.replicas import SetObjects
from grove_compiler.graph.node import Manifest
from kube_objects.manifest import section
from kube_objects.words import counted

AUTOSCALER_KIND = "HorizontalPodAutoscaler"
HOLDERS: dict[LevelName, str] = {"gang": "gang", "group": "scaling group replica", "podgroup": "clique"}


class Fact(NamedTuple):
    """A line below the counts, such as the generation hash or a condition."""

    name: str
    text: str


def traits(objects: SetObjects, declared: Manifest) -> Iterator[Fact]:
    """Yields a line for each requirement. `declared` is the manifest of the set, empty if it is unknown."""
    lines = (
        ("topology", _topology(objects)),
        ("MNNVL", _domains(objects)),
        ("autoscaling", _autoscaling(objects)),
        ("start order", _start_order(objects)),
        ("training", _training(declared)),
    )
    return (Fact(name, text) for name, text in lines if text)


def _topology(objects: SetObjects) -> str:
    """Returns `topology.kubernetes.io/rack required for 2 gangs`, from outside to inside."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for gang in objects.gangs:
        for level in gang.levels:
            for word, key in (("required", level.required), ("preferred", level.preferred)):
                counts[key, word, HOLDERS[level.level]] += bool(key)
    return ", ".join(f"{key} {word} for {counted(count, holder)}" for (key, word, holder), count in counts.items() if key)


def _domains(objects: SetObjects) -> str:
    """Returns `2 domains of 8 pods`; the pods of a domain are those that use its claims."""
    if not objects.kinds.get(DOMAIN_KIND):
        return ""
    from grove_cli.render.domains import find_domains  # lazily: few sets have domains

    pods = {node.id: read_clique(node.object).pods for node in objects.nodes if node.object["kind"] == CLIQUE_KIND}
    domains = (domain for domain in find_domains(objects.nodes) if domain.type == "mnnvl")
    sizes = Counter(sum(pods.get(member, 0) for member in domain.members) for domain in domains)
    return ", ".join(f"{counted(count, 'domain')} of {counted(size, 'pod')}" for size, count in sizes.items())


def _autoscaling(objects: SetObjects) -> str:
    """Returns `model 1 to 6 replicas`: one range for the equally named cliques and scaling groups of all replicas."""
    replica_prefix = re.compile(rf"{re.escape(objects.owner.rpartition('/')[2])}-\d+-")
    ranges: dict[str, None] = {}
    for node in objects.nodes:
        if node.object["kind"] == AUTOSCALER_KIND:
            spec = section(node.object, "spec")
            target = replica_prefix.sub("", str(section(spec, "scaleTargetRef").get("name")), count=1)
            ranges[f"{target} {spec.get('minReplicas', 1)} to {spec.get('maxReplicas')} replicas"] = None
    return ", ".join(ranges)


def _start_order(objects: SetObjects) -> str:
    """Returns `etcd -> prefill, decode -> frontend`: the names of clique templates, grouped by start-up step."""
    templates = {clique.name: clique.template_name for clique in objects.cliques}
    after: dict[str, dict[str, None]] = {name: {} for name in templates.values()}
    for node in objects.nodes:
        names = section(node.object, "spec").get("startsAfter") if node.object["kind"] == CLIQUE_KIND else None
        for other in names if isinstance(names, list) else ():
            if other in templates:
                after[read_clique(node.object).template_name][templates[other]] = None
    if not any(after.values()):
        return ""
    from graphlib import CycleError, TopologicalSorter  # lazily: few sets have an order

    sorter = TopologicalSorter(after)
    try:
        sorter.prepare()
    except CycleError as circle:  # validation rejects it in input, but a user's rule may patch one in
        return f"none, since there is a cycle: {' -> '.join(reversed(circle.args[1]))}"
    waves = []
    while ready := sorter.get_ready():
        waves.append(", ".join(sorted(ready, key=list(after).index)))
        sorter.done(*ready)
    return " -> ".join(waves)


def _training(declared: Manifest) -> str:
    spec = section(declared, "spec")
    if spec.get("workloadType") != "Training":
        return ""
    limits = section(spec, "trainingSpec")
    restarts = limits.get("maxRestarts")
    longest = f"for {limits['maxRuntime']} at most" if limits.get("maxRuntime") else "without a time limit"
    return f"runs to its end, {longest}" + (f", {counted(restarts, 'restart')} at most" if isinstance(restarts, int) else "")
