"""Random PodCliqueSets that are valid: every one of them must compile."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Manifest = dict[str, Any]

ANY_ORDER, IN_ORDER, EXPLICIT = "CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"

# Words that no two entries of one set share, some with dashes and digits; short enough for the longest name made of them.
NAMES = st.from_regex(r"[a-z]([a-z0-9]{0,3}|-?[a-z][a-z0-9]?)", fullmatch=True)
LABELS = st.dictionaries(st.sampled_from(["app", "tier", "example.com/team", "x.y/z"]), st.sampled_from(["", "a", "A.b_c-1"]), max_size=2)
SCOPES = st.sampled_from(["AllReplicas", "PerReplica"])
IMAGES = st.sampled_from(["busybox", "busybox:1.36", "vllm/vllm-openai:v0.11.0"])
VARIABLES = st.lists(st.sampled_from(["MODEL", "RANK", "GROVE_PCS_NAME", "GROVE_PCSG_INDEX", "PATH"]), max_size=3, unique=True)
METRIC = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}}


@st.composite
def pod_cliques_sets(draw: st.DrawFn) -> Manifest:
    """A set of one to five cliques of which some are in scaling groups, with everything else that a set may have."""
    words = draw(st.lists(NAMES, min_size=12, max_size=12, unique=True))
    clique_names = words[: draw(st.integers(1, 5))]
    members = draw(_partition(clique_names, words[5:8]))
    claims = words[8 : 8 + draw(st.integers(0, 3))]
    startup = draw(st.sampled_from([None, ANY_ORDER, IN_ORDER, EXPLICIT]))
    order = draw(st.permutations(clique_names))
    cliques = [draw(_clique(name, startup, order, any(name in names for names in members.values()), claims)) for name in clique_names]
    groups = [draw(_group(name, names, claims)) for name, names in members.items()]
    template: Manifest = {"cliques": cliques}
    _maybe(template, "cliqueStartupType", startup)
    _maybe(template, "podCliqueScalingGroups", groups)
    _maybe(template, "priorityClassName", draw(st.sampled_from([None, "high"])))
    _maybe(template, "terminationDelay", draw(st.sampled_from([None, "30s", "1h30m"])))
    _maybe(template, "headlessServiceConfig", draw(st.sampled_from([None, {"publishNotReadyAddresses": False}])))
    _maybe(template, "resourceClaimTemplates", [_claim_template(name) for name in claims])
    _maybe(template, "resourceSharing", draw(_sharing(claims, {"childCliqueNames": clique_names, "childScalingGroupNames": list(members)})))
    metadata = {"name": words[11], "labels": draw(LABELS), "annotations": draw(LABELS)}
    _maybe(metadata, "namespace", draw(st.sampled_from([None, "team"])))
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": metadata,
        "spec": {"replicas": draw(st.sampled_from([1, 2, 1, 3, 0])), "template": template},
    }


@st.composite
def _partition(draw: st.DrawFn, cliques: list[str], groups: list[str]) -> dict[str, list[str]]:
    """Which cliques each scaling group has; the rest have none."""
    places = draw(st.lists(st.integers(-1, len(groups) - 1), min_size=len(cliques), max_size=len(cliques)))
    found = {group: [name for name, place in zip(cliques, places, strict=True) if place == index] for index, group in enumerate(groups)}
    return {group: draw(st.permutations(names)) for group, names in found.items() if names}


@st.composite
def _clique(draw: st.DrawFn, name: str, startup: str | None, order: list[str], is_member: bool, claims: list[str]) -> Manifest:
    replicas = draw(st.integers(1, 4))
    spec: Manifest = {"roleName": name, "replicas": replicas, "podSpec": draw(_pod_spec())}
    least = draw(st.none() | st.integers(1, replicas))
    _maybe(spec, "minAvailable", least)
    earlier = order[: order.index(name)]
    if startup == EXPLICIT and earlier:
        _maybe(spec, "startsAfter", draw(st.lists(st.sampled_from(earlier), unique=True)))
    if not is_member and draw(st.booleans()):
        spec["autoScalingConfig"] = draw(_scaling(replicas, least or replicas))
    clique: Manifest = {"name": name, "spec": spec}
    _maybe(clique, "labels", draw(LABELS))
    _maybe(clique, "annotations", draw(LABELS))
    _maybe(clique, "resourceSharing", draw(_sharing(claims, {})))
    return clique


@st.composite
def _group(draw: st.DrawFn, name: str, members: list[str], claims: list[str]) -> Manifest:
    replicas = draw(st.none() | st.integers(1, 4))
    least = draw(st.none() | st.integers(1, replicas or 1))
    group: Manifest = {"name": name, "cliqueNames": members}
    _maybe(group, "replicas", replicas)
    _maybe(group, "minAvailable", least)
    _maybe(group, "annotations", draw(LABELS))
    if draw(st.booleans()):
        group["scaleConfig"] = draw(_scaling(replicas or 1, least or 1))
    _maybe(group, "resourceSharing", draw(_sharing(claims, {"childCliqueNames": members})))
    return group


@st.composite
def _scaling(draw: st.DrawFn, replicas: int, least: int) -> Manifest:
    lowest = draw(st.none() | st.integers(least, replicas))
    scaling: Manifest = {"maxReplicas": draw(st.integers(replicas, replicas + 5))}
    _maybe(scaling, "minReplicas", lowest)
    _maybe(scaling, "metrics", draw(st.sampled_from([None, [METRIC]])))
    return scaling


@st.composite
def _sharing(draw: st.DrawFn, claims: list[str], children: dict[str, list[str]]) -> list[Manifest]:
    """References to some of the claim templates; `children` are the filters' keys and what they may name."""
    references = []
    for name in draw(st.lists(st.sampled_from(claims), unique=True)) if claims else []:
        reference: Manifest = {"name": name, "scope": draw(SCOPES)}
        named = {key: draw(st.lists(st.sampled_from(names), unique=True)) for key, names in children.items() if names}
        if any(named.values()):
            reference["filter"] = {key: names for key, names in named.items() if names}
        references.append(reference)
    return references


@st.composite
def _pod_spec(draw: st.DrawFn) -> Manifest:
    spec: Manifest = {"containers": [_container(f"c{index}", draw(IMAGES), draw(VARIABLES)) for index in range(draw(st.integers(1, 2)))]}
    if draw(st.booleans()):
        spec["initContainers"] = [_container("prepare", draw(IMAGES), draw(VARIABLES))]
    return spec


def _container(name: str, image: str, variables: list[str]) -> Manifest:
    return {"name": name, "image": image, "env": [{"name": variable, "value": "x"} for variable in variables]}


def _claim_template(name: str) -> Manifest:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    return {"name": name, "templateSpec": {"spec": {"devices": {"requests": [request]}}}}


def _maybe(target: Manifest, key: str, value: object) -> None:
    """Sets a field unless there is nothing to set."""
    if value not in (None, [], {}):
        target[key] = value
