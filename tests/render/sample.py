"""Graphs for pictures, made by hand: no rule, template or example can change them."""

from __future__ import annotations

import json
from typing import Any

from grove_cli.render.packer import Part
from grove_cli.render.picture import Picture, draw, simplify
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import Manifest, Node, ObjectRef

SET = ObjectRef("grove.io/v1alpha1", "PodCliqueSet", "ml", "demo")
RACK, HOST = "topology.kubernetes.io/rack", "kubernetes.io/hostname"

AFTER = {
    "podclique/member": [("podclique/scaling-group", 2)],
    "podgang/base": [("podclique/standalone", 2), ("podclique/member", 2)],
    "podgang/scaled": [("podclique/standalone", 2), ("podclique/member", 2), ("podgang/base", 2)],
    "mnnvl/domain": [("podgang/base", 2)],
    "pod/clique": [("podclique/standalone", 2), ("podclique/member", 2), ("podgang/base", 2), ("podgang/scaled", 2)],
}


def ref(kind: str, name: str) -> ObjectRef:
    return ObjectRef("grove.io/v1alpha1", kind, "ml", name)


def node(kind: str, name: str, rule: str = "some/rule", owner: ObjectRef | None = SET, loop: tuple[int, ...] = (0,), **parts: Any) -> Node:
    metadata = {"name": name, "namespace": "ml", **parts.pop("metadata", {})}
    manifest: Manifest = {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": metadata, **parts}
    return Node(f"{kind}/ml/{name}", manifest, rule, loop, owner, {})


def pack(**keys: str) -> Manifest:
    return {"topologyConstraint": {"packConstraint": keys}}


def clique(name: str, rule: str, owner: ObjectRef, loop: tuple[int, ...], pods: int, claim: str = "", after: str = "") -> Node:
    container = {"name": "main", "image": "nginx", "resources": {"limits": {"nvidia.com/gpu": "4"}}}
    claims = [{"name": "mnnvl", "resourceClaimName": claim}] if claim else []
    pod_spec = {"containers": [container], "resourceClaims": claims} if claims else {"containers": [container]}
    spec = {"roleName": name.rpartition("-")[2], "replicas": pods, "minAvailable": pods, "podSpec": pod_spec}
    spec |= {"startsAfter": [after]} if after else {}
    return node("PodClique", name, rule, owner, loop, spec=spec)


def pods(of: Node, gang: str, loop: tuple[int, ...]) -> list[Node]:
    name, spec = of.object["metadata"]["name"], of.object["spec"]
    labels = {"labels": {"grove.io/podgang": gang}}
    return [
        node("Pod", f"{name}-{number:05x}", "pod/clique", ref("PodClique", name), (*loop, number), metadata=labels, spec=spec["podSpec"])
        for number in range(spec["replicas"])
    ]


def gang(name: str, rule: str, loop: tuple[int, ...], cliques: list[str], config: Manifest, **keys: str) -> Node:
    groups: list[Manifest] = [{"name": clique, "minReplicas": 1, "podReferences": []} for clique in cliques]
    groups[-1] |= pack(required=HOST) if keys else {}
    return node("PodGang", name, rule, SET, loop, spec={"podgroups": groups, **(pack(**keys) if keys else {}), **config})


def domain(name: str, owner: str) -> list[Node]:
    """A ComputeDomain and its claim, in the form of the design with annotations."""
    expression = f'device.attributes["compute-domain.nvidia.com"].name == "{name}-cd"'
    spec = {"devices": {"requests": [{"name": "mnnvl", "selectors": [{"cel": {"expression": expression}}]}]}}
    return [
        node("ComputeDomain", f"{name}-cd", "mnnvl/domain", ref("PodGang", owner), spec={"numNodes": 0}),
        node("ResourceClaim", f"{name}-mnnvl-claim", "mnnvl/claim", ref("PodGang", owner), spec=spec),
    ]


def workload(replicas: int = 1, members: int = 2, worker_pods: int = 2, domains: bool = True) -> CompiledGraph:
    """A set with a router and a scaling group of leader and workers, of which the first member is in the base gang.

    Workers start after their leader. With `domains`, gangs are packed by rack, workers by host, and every gang has a ComputeDomain.
    """
    nodes = [node("ServiceAccount", "demo", "access/service-account")]
    waves: list[list[Node]] = [[], [], [], [], []]
    for replica in range(replicas):
        for wave, found in zip(waves, _replica(replica, members, worker_pods, domains), strict=True):
            wave += found
    return CompiledGraph([*nodes, *(found for wave in waves for found in wave)], AFTER)


def _replica(replica: int, members: int, worker_pods: int, domains: bool) -> list[list[Node]]:
    name = f"demo-{replica}"
    group = node("PodCliqueScalingGroup", f"{name}-model", "podclique/scaling-group", SET, (0, replica))
    router = clique(f"{name}-router", "podclique/standalone", SET, (0, replica, 0), 2)
    cliques, gangs, claims, all_pods = [], [], [], pods(router, name, (0, replica, 0))
    for member in range(members):
        gang_name = name if member == 0 else f"{name}-model-{member - 1}"
        claim = f"{gang_name}-mnnvl-claim" if domains else ""
        owner = ref("PodCliqueScalingGroup", f"{name}-model")
        made = [
            clique(f"{name}-model-{member}-{role}", "podclique/member", owner, (0, replica, 0, member, number), count, claim, after)
            for number, (role, count, after) in enumerate((("leader", 1, ""), ("worker", worker_pods, f"{name}-model-{member}-leader")))
        ]
        names = [each.object["metadata"]["name"] for each in made]
        rule, loop = ("podgang/base", (0, replica)) if member == 0 else ("podgang/scaled", (0, replica, member - 1))
        config = {"topologyConstraintGroupConfigs": [{"name": f"{name}-model-0", "podGroupNames": names, **pack(required=RACK)}]}
        keys = {"required": RACK, "preferred": HOST} if domains else {}
        held = [router.object["metadata"]["name"], *names] if member == 0 else names
        gangs.append(gang(gang_name, rule, loop, held, config if domains and member == 0 else {}, **keys))
        claims += domain(gang_name, gang_name) if domains else []
        cliques += made
        for number, each in enumerate(made, 1):
            all_pods += pods(each, gang_name, (0, replica, number, member))
    return [[router, group], cliques, gangs, claims, all_pods]


def of_sets(*names: str) -> Picture:
    """A picture of sets that are alike but for their names."""
    nodes = []
    for name in names:
        for each in workload(members=3).nodes:
            text = json.dumps([each.id, each.object]).replace("demo", name)
            owner = each.owner and each.owner._replace(name=each.owner.name.replace("demo", name))
            object_id, manifest = json.loads(text)
            nodes.append(Node(object_id, manifest, each.rule, each.loop, owner, {}))
    declared = {f"PodCliqueSet/ml/{name}": json.loads(json.dumps(DECLARED[SET.id]).replace("demo", name)) for name in names}
    return simplify(draw(CompiledGraph(nodes, AFTER), declared))


DECLARED = {SET.id: {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "demo", "namespace": "ml"}}}


def picture(graph: CompiledGraph | None = None) -> Picture:
    return draw(graph if graph is not None else workload(), DECLARED)


def for_people(graph: CompiledGraph | None = None) -> Picture:
    return simplify(picture(graph))


def unpack(parts: list[Part], number: int) -> str:
    """The text that `Packer.pack` gave this number, as the page puts it together."""
    part = parts[number]
    return part if isinstance(part, str) else "".join(unpack(parts, one) for one in part)
