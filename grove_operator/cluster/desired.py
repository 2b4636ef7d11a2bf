"""Combines compiled nodes, with their policies, and plain manifests into one graph of desired objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from applier.desired import DEFAULT_POLICY, AwaitedGroup, Desired, Graph, Policy
from applier.ref import GroupKind, Manifest, Ref
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import Node, ObjectRef
from grove_operator.cluster.classify import Item
from kube_objects.manifest import group_of

NOT_ADOPTED: Manifest = {"adopt": False}
Select = Callable[[Manifest], bool]
REPLICAS = "/spec/replicas"
DEFAULT_TARGETS = {("autoscaling", "HorizontalPodAutoscaler"): ("", ""), ("keda.sh", "ScaledObject"): ("apps/v1", "Deployment")}
"""Autoscalers by group and kind, with the default apiVersion and kind of their targets (for KEDA, see `scaleTargetRef`)."""


class Sources(NamedTuple):
    """The sources of a graph: the compiled graph, and plain `items` with their namespaces.

    The items include the sets themselves if the server serves their kind, as the owners of the compiled objects.
    """

    compiled: CompiledGraph
    items: Sequence[Item]


RULE = "rule "
"""The prefix of the source of a compiled object."""


def is_compiled(desired: Desired) -> bool:
    """Reports whether an object of a graph was compiled, so that no file has it."""
    return desired.source.startswith(RULE)


def desired_graph(sources: Sources, *, selects: Select | None = None, force: tuple[str, ...] = (), is_operator: bool = False) -> Graph:
    """Returns the desired objects. Raises `applier.desired.DuplicateObject` for an object with two sources.

    `selects` filters objects, with their dependency edges. `force` are the managers whose fields may be taken over. Objects whose policy
    reserves them for the operator are included only with `is_operator`.
    """
    objects = _Builder(sources, force, is_operator).objects()
    return Graph(objects if selects is None else [desired for desired in objects if selects(desired.manifest)])


class _Builder:
    """Builds desired objects; policies, scaled fields and owners are computed once."""

    def __init__(self, sources: Sources, force: tuple[str, ...], is_operator: bool) -> None:
        self.compiled, self.items = sources
        self.is_operator = is_operator
        manifests = [item.manifest for item in self.items]
        self.policies = Policies(force)
        self.scaled = scaled_fields([*manifests, *(node.object for node in self.compiled.nodes)])
        self.refs = {id(node): Ref.of(node.object) for node in self.compiled.nodes}
        self.present = {*map(Ref.of, manifests), *self.refs.values()}
        self._owners: dict[int, Ref | None] = {}

    def objects(self) -> list[Desired]:
        # Applied by our manager, a partial object of the operator would remove the other fields of the user's object.
        compiled = (self._node(node, alone, groups) for node, alone, groups in self._with_edges() if self._is_ours(node))
        return [*map(self._plain, self.items), *compiled]

    def _with_edges(self) -> Iterator[tuple[Node, list[Ref], list[AwaitedGroup]]]:
        """Yields each node with its dependencies, in apply order: alone its owner and what is the only one of its group."""
        nodes, known = self.compiled.nodes, dict[int, AwaitedGroup]()
        for node, owner, groups in self.compiled.with_groups():
            alone = [] if owner is None else [self.refs[id(owner)]]
            together = []
            for group in groups:
                if len(group) == 1:
                    alone.append(self.refs[id(nodes[group[0]])])
                    continue
                if id(group) not in known:
                    known[id(group)] = AwaitedGroup([self.refs[id(nodes[position])] for position in group])
                together.append(known[id(group)])
            yield node, alone, together

    def _is_ours(self, node: Node) -> bool:
        return self.is_operator or not node.policy.get("operator")

    def _plain(self, item: Item) -> Desired:
        manifest = item.manifest
        policy = self.policies.of({}, self.scaled.get(Ref.of(manifest), "") if self.scaled else "")
        return Desired(manifest, owner_without_uid(manifest), (), policy, item.source)

    def _node(self, node: Node, alone: list[Ref], groups: list[AwaitedGroup]) -> Desired:
        owner = self._owner(node.owner)
        manifest = node.object
        if owner is None and node.owner is not None and not node.owner.uid:
            manifest = without_owner(manifest, node.owner)
        policy = self.policies.of(self._declared(node), self.scaled.get(Ref.of(manifest), "") if self.scaled else "")
        return Desired(manifest, owner, alone, policy, f"{RULE}{node.rule}", groups)

    def _declared(self, node: Node) -> Manifest:
        """Returns the policy of a node. The operator leaves what it has not made, since that would be deleted with the set.

        A part of a user's object, such as a finalizer, is added to it whoever has made it.
        """
        if not self.is_operator or node.policy.get("part"):
            return node.policy
        return {**NOT_ADOPTED, **node.policy} if node.policy else NOT_ADOPTED

    def _owner(self, owner: ObjectRef | None) -> Ref | None:
        """Returns the owner whose UID the applier fills in; none if it is not in the graph. Cached by identity: nodes share references."""
        key = id(owner)
        if key not in self._owners:
            ref = None if owner is None else Ref(group_of(owner.api_version), owner.kind, owner.namespace, owner.name)
            self._owners[key] = ref if ref in self.present else None
        return self._owners[key]


def without_owner(manifest: Manifest, owner: ObjectRef) -> Manifest:
    """Returns the manifest without its reference to an owner that will not exist, as a server rejects references without a UID."""
    metadata = dict(manifest["metadata"])
    references = [
        reference
        for reference in metadata.pop("ownerReferences", [])
        if (reference.get("apiVersion"), reference.get("kind"), reference.get("name")) != (owner.api_version, owner.kind, owner.name)
    ]
    if references:
        metadata["ownerReferences"] = references
    return {**manifest, "metadata": metadata}


def owner_without_uid(manifest: Manifest) -> Ref | None:
    """Returns the first owner that a manifest names without its UID, as compiled manifests do."""
    metadata = manifest["metadata"]
    for reference in metadata.get("ownerReferences") or ():
        if isinstance(reference, dict) and not reference.get("uid"):
            group = group_of(str(reference.get("apiVersion", "")))
            return Ref(group, str(reference.get("kind", "")), str(metadata.get("namespace") or ""), str(reference.get("name", "")))
    return None


class Policies:
    """Creates policies; equal ones are the same value, since thousands of objects share a few."""

    def __init__(self, force: tuple[str, ...] = ()) -> None:
        self.force = force
        self._known: dict[tuple[tuple[bool, bool, bool, bool], *tuple[tuple[str, ...], ...]], Policy] = {}

    def of(self, declared: Manifest, scaled: str = "") -> Policy:
        """Returns the policy that a rule has `declared`, for an object whose replicas, at the JSON pointer `scaled`, an autoscaler sets."""
        yields = _words(declared.get("yield"))
        if scaled and scaled not in yields:
            yields = (*yields, scaled)
        adopt, recreate = bool(declared.get("adopt", True)), bool(declared.get("recreate"))
        flags = declared.get("create") == "only", adopt, recreate, bool(declared.get("part"))
        key = flags, yields, _words(declared.get("follow")), _words(declared.get("optional"))
        policy = self._known.get(key)
        if policy is None:
            made = Policy(*flags, yields, self.force, *key[2:])
            policy = self._known[key] = DEFAULT_POLICY if made == DEFAULT_POLICY else made
        return policy


def _words(value: object) -> tuple[str, ...]:
    """Returns a string or a list of strings as a tuple."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def scaled_fields(manifests: Iterable[Manifest]) -> dict[Ref, str]:
    """Returns the JSON pointer of the replicas of each object that an autoscaler among the manifests scales.

    It is `/spec/replicas`, or the `subresources.scale.specReplicasPath` of a definition among the manifests.
    """
    targets: list[Ref] = []
    places: dict[GroupKind, str] = {}
    for manifest in manifests:
        kind = manifest.get("kind")
        if kind == "CustomResourceDefinition":
            places |= _scale_paths(manifest)
        elif kind in ("HorizontalPodAutoscaler", "ScaledObject"):
            targets += _targets(manifest)
    return {target: places.get((target.group, target.kind), REPLICAS) for target in targets}


def _targets(autoscaler: Manifest) -> list[Ref]:
    """Returns the target of an autoscaler; none for a kind of another group, or without a target."""
    own = Ref.of(autoscaler)
    defaults = DEFAULT_TARGETS.get((own.group, own.kind))
    spec = autoscaler.get("spec")
    target = spec.get("scaleTargetRef") if isinstance(spec, dict) else None
    if defaults is None or not isinstance(target, dict) or not target.get("name"):
        return []
    api_version = str(target.get("apiVersion") or defaults[0])
    return [Ref(group_of(api_version), str(target.get("kind") or defaults[1]), own.namespace, str(target["name"]))]


def _scale_paths(definition: Manifest) -> dict[GroupKind, str]:
    spec = definition.get("spec")
    if not isinstance(spec, dict):
        return {}
    kind = str((spec.get("names") or {}).get("kind"))
    found = {}
    for version in spec.get("versions") or []:
        scale = (version.get("subresources") or {}).get("scale") or {}
        path = str(scale.get("specReplicasPath") or "")
        if path:
            found[str(spec.get("group")), kind] = path.replace(".", "/")
    return found
