"""The webhooks of the annotation design: its examples, the rows of its tables, the steps of its flows, and where they would go wrong."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values
from grove_operator.install.webhook_configurations import MNNVL, Installation, webhook_configuration
from tests.suite.rows import rows

from .compiling import Objects, objects_of
from .pages import Manifest, read_page
from .sets import mnnvl
from .test_annotation_examples import EXAMPLES, input_of, printed
from .through_webhooks import DRIVER, admitted, gang_admitted, joined, owner, patched, podclique, podgang, stored, words

PAGE = "mnnvl-annotations-webhooks.md"
REPLICA = {"grove.io/pcs-name": "demo", "grove.io/pcs-replica-index": "0"}
MEMBER = {**REPLICA, "grove.io/pcsg-name": "pool", "grove.io/pcsg-replica-index": "2"}
SHIPPED = {
    "app.kubernetes.io/part-of": "demo",
    "grove.io/podcliqueset-replica-index": "0",
    "grove.io/podcliquescalinggroup": "demo-0-pool",
    "grove.io/podcliquescalinggroup-replica-index": "2",
}


# -- the examples --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> dict[str, Objects]:
    return {example: objects_of(set_of(example)) for example in EXAMPLES}


def set_of(example: str) -> Manifest:
    manifest = copy.deepcopy(input_of(example))
    manifest["metadata"] |= {"namespace": "default", "uid": "of-the-set"}
    return manifest


def bare(clique: Manifest) -> Manifest:
    """A PodClique as a controller asks for it that knows nothing of domains."""
    asked = copy.deepcopy(clique)
    asked["spec"]["podSpec"].pop("resourceClaims", None)
    for container in asked["spec"]["podSpec"]["containers"]:
        (container.get("resources") or {}).pop("claims", None)
    return asked


CLIQUES = [
    pytest.param(example, shown["metadata"]["name"], id=shown["metadata"]["name"])
    for example in EXAMPLES
    for shown in printed(example)
    if shown["kind"] == "PodClique"
]


@rows(("example", "name"), CLIQUES)
def test_a_podclique_comes_out_as_the_compiler_makes_it(example: str, name: str, made: dict[str, Objects]) -> None:
    ours = made[example]["PodClique", name]
    asked = bare(ours)
    assert patched(asked, admitted(asked, set_of(example))) == ours


@rows(("example", "name"), CLIQUES)
def test_annotations_that_its_controller_did_not_hand_on_reach_a_podclique(example: str, name: str, made: dict[str, Objects]) -> None:
    ours = made[example]["PodClique", name]
    asked = bare(ours)
    asked["metadata"].pop("annotations", None)
    assert patched(asked, admitted(asked, set_of(example))) == ours


@pytest.mark.parametrize("example", EXAMPLES)
def test_all_domains_and_claims_of_an_example_are_made_and_no_others(example: str, made: dict[str, Objects]) -> None:
    cliques = [one for (kind, _), one in made[example].items() if kind == "PodClique"]
    found = {(one["kind"], one["metadata"]["name"]): one for clique in cliques for one in admitted(bare(clique), set_of(example)).objects}
    ours = {key: one for key, one in made[example].items() if key[0] in ("ComputeDomain", "ResourceClaim")}
    assert {key: one["spec"] for key, one in found.items()} == {key: one["spec"] for key, one in ours.items()}


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_domain_ends_up_with_the_gang_that_the_design_prints(example: str, made: dict[str, Objects]) -> None:
    cliques = [one for (kind, _), one in made[example].items() if kind == "PodClique"]
    found = {one["metadata"]["name"]: stored(one) for clique in cliques for one in admitted(bare(clique), set_of(example)).objects}
    gangs = [one for (kind, _), one in made[example].items() if kind == "PodGang"]
    owners = {}
    for gang in gangs:
        live = {**gang, "metadata": {**gang["metadata"], "uid": f"uid-{gang['metadata']['name']}"}}
        for one in gang_admitted(live, *found.values()).merged:
            owners[one["metadata"]["name"]] = one["metadata"]["ownerReferences"][0]["name"]
    ours = {name: one["metadata"]["ownerReferences"][0]["name"] for (_, name), one in made[example].items() if name in found}
    assert owners == ours


# -- the tables ----------------------------------------------------------------------------------------------------------------

NAMES: dict[str, tuple[Manifest, str, str]] = {
    "`replica`": (podclique("demo-0-worker", mnnvl("replica")), "demo-0", "demo-0"),
    "`clique`": (podclique("demo-0-worker", mnnvl("clique")), "demo-0-worker", "demo-0"),
    "`scalingGroupReplica`": (podclique("demo-0-pool-2-w", mnnvl("scalingGroupReplica"), MEMBER), "demo-0-pool-2", "demo-0-pool-2"),
}


@pytest.mark.parametrize("scope", NAMES)
def test_a_scope_names_domain_and_claim_as_the_table_says(scope: str) -> None:
    manifest, name, gang = NAMES[scope]
    assert joined(manifest) == (f"{name}-cd", f"{name}-mnnvl-claim", gang)


def test_every_row_of_the_table_of_names_is_tested() -> None:
    rows = [section.rows for section in read_page(PAGE) if section.title == "1. PodClique Mutating Webhook"]
    assert [cells[0] for cells in rows[0]] == list(NAMES)


def test_labels_of_the_shipped_operator_name_the_same_domain() -> None:
    assert joined(podclique("demo-0-pool-2-w", mnnvl("scalingGroupReplica"), SHIPPED))[0] == "demo-0-pool-2-cd"


def test_a_podclique_of_a_scaling_group_has_its_own_domain_under_the_scope_clique() -> None:
    assert joined(podclique("demo-0-pool-2-w", mnnvl("clique"), MEMBER))[0] == "demo-0-pool-2-w-cd"


def test_a_domain_goes_with_the_gang_that_its_podclique_names() -> None:
    """The first replicas of a scaling group are in the base gang where another controller forms gangs."""
    labels = {**MEMBER, "grove.io/podgang": "demo-0"}
    assert joined(podclique("demo-0-pool-2-w", mnnvl("scalingGroupReplica"), labels))[2] == "demo-0"


def test_the_domain_of_a_replica_goes_with_its_base_gang_whoever_makes_it() -> None:
    labels = {**MEMBER, "grove.io/podgang": "demo-0-pool-1"}
    assert joined(podclique("demo-0-pool-2-w", mnnvl("replica"), labels))[2] == "demo-0"


ENABLED = {"true": "demo-0-cd", "false": "", "none": ""}


@pytest.mark.parametrize("told", ENABLED)
def test_only_a_podclique_that_enables_it_joins_a_domain(told: str) -> None:
    manifest = podclique(annotations=None if told == "none" else mnnvl(enabled=told))
    assert joined(manifest)[0] == ENABLED[told]


def test_an_empty_scope_is_the_replicas() -> None:
    assert joined(podclique(annotations={**mnnvl(), "grove.io/mnnvl-scope": ""}))[0] == "demo-0-cd"


@pytest.mark.parametrize(("told", "asked"), [("", "compute-domain.nvidia.com"), ("fabric.example.com", "fabric.example.com")])
def test_the_claim_asks_for_the_device_class(told: str, asked: str) -> None:
    _, claim = admitted(podclique(annotations=mnnvl("replica", told))).objects
    assert claim["spec"]["devices"]["requests"][0]["deviceClassName"] == asked


def test_a_podclique_without_gpus_is_left_alone() -> None:
    assert joined(podclique(annotations=mnnvl(), gpus=0)) == ("", "", "")


def test_in_the_drivers_form_the_driver_makes_the_claims() -> None:
    manifest = podclique(annotations=mnnvl())
    admission = admitted(manifest, owner(), settings=DRIVER)
    [domain] = admission.objects
    assert domain["apiVersion"] == "resource.nvidia.com/v1beta1"
    assert domain["spec"]["channel"]["resourceClaimTemplate"]["name"] == "demo-0-mnnvl-claim"
    assert patched(manifest, admission)["spec"]["podSpec"]["resourceClaims"] == [
        {"name": "mnnvl", "resourceClaimTemplateName": "demo-0-mnnvl-claim"}
    ]


# -- the webhooks' responsibilities, and the flows -----------------------------------------------------------------------------


def test_until_its_gang_is_there_a_domain_belongs_to_the_set() -> None:
    owners = [one["metadata"]["ownerReferences"][0] for one in admitted(podclique(annotations=mnnvl())).objects]
    assert [(one["kind"], one["name"], one["uid"]) for one in owners] == [("PodCliqueSet", "demo", "of-the-set")] * 2


def test_an_update_that_takes_the_claim_away_gets_it_again() -> None:
    manifest = podclique(annotations=mnnvl())
    stays = patched(manifest, admitted(manifest))
    assert admitted(stays).patch == []
    assert patched(manifest, admitted(manifest)) == stays


def domains_of(name: str, **labels: str) -> list[Manifest]:
    told = {**REPLICA, **{f"grove.io/{key}": value for key, value in labels.items()}}
    metadata = {"name": name, "namespace": "default", "labels": told, "resourceVersion": "7"}
    owners = [{"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "demo", "uid": "of-the-set", "controller": True}]
    return [{"apiVersion": "resource.nvidia.com/v1alpha1", "kind": "ComputeDomain", "metadata": {**metadata, "ownerReferences": owners}}]


def adopted(gang: Manifest, *existing: Manifest) -> list[str]:
    return [one["metadata"]["name"] for one in gang_admitted(gang, *existing).merged if one["kind"] != "PodGang"]


OF_OTHERS = [*domains_of("of-the-replica"), *domains_of("of-the-member", **{"pcsg-name": "pool", "pcsg-replica-index": "2"})]
"""Made by another webhook of the design, which puts no name of a gang on them."""


@pytest.mark.parametrize(
    ("gang", "taken"),
    [
        (podgang("demo-0", "u"), ["of-the-replica"]),
        (podgang("demo-0-pool-2", "u", **{"pcsg-name": "pool", "pcsg-replica-index": "2"}), ["of-the-member"]),
        (podgang("demo-0-pool-1", "u", **{"pcsg-name": "pool", "pcsg-replica-index": "1"}), []),
    ],
    ids=["base", "member", "another"],
)
def test_a_gang_takes_over_what_bears_its_labels_and_no_others(gang: Manifest, taken: list[str]) -> None:
    assert adopted(gang, *OF_OTHERS) == taken


def test_a_gang_that_is_only_asked_for_can_own_nothing_yet_and_says_that_it_will() -> None:
    admission = gang_admitted(podgang("demo-0"), *OF_OTHERS)
    assert admission.merged == []
    assert patched(podgang("demo-0"), admission)["metadata"]["annotations"] == {"grove.io/mnnvl-resources-adopted": "true"}


def test_a_gang_without_domains_is_left_alone() -> None:
    assert gang_admitted(podgang("demo-1", **{"pcs-replica-index": "1"}), *OF_OTHERS).patch == []


def test_the_new_owner_takes_the_place_of_the_set_and_no_version_in_between_is_written_over() -> None:
    [one, _] = gang_admitted(podgang("demo-0", "of-the-gang"), *OF_OTHERS).merged
    [reference] = one["metadata"]["ownerReferences"]
    assert (reference["kind"], reference["uid"], reference["controller"]) == ("PodGang", "of-the-gang", True)
    assert one["metadata"]["resourceVersion"] == "7"


def test_what_was_taken_over_is_left_alone() -> None:
    [one, gang] = gang_admitted(podgang("demo-0", "of-the-gang"), *OF_OTHERS).merged
    live = copy.deepcopy(OF_OTHERS[0])
    live["metadata"]["ownerReferences"] = one["metadata"]["ownerReferences"]
    told = podgang("demo-0", "of-the-gang")
    told["metadata"]["annotations"] = gang["metadata"]["annotations"]
    assert gang_admitted(told, live).merged == []


# -- what is refused -----------------------------------------------------------------------------------------------------------

ENABLED_AT, SCOPE_AT = "metadata.annotations[grove.io/mnnvl-enabled]", "metadata.annotations[grove.io/mnnvl-scope]"


def with_claim(manifest: Manifest, name: str) -> Manifest:
    manifest["spec"]["podSpec"]["resourceClaims"] = [{"name": "mnnvl", "resourceClaimName": name}]
    return manifest


def leaving() -> Manifest:
    [one] = domains_of("demo-0-cd")
    one["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return one


def foreign() -> Manifest:
    [one] = domains_of("demo-0-cd")
    one["metadata"]["labels"]["grove.io/pcs-name"] = "other"
    return one


REFUSED: dict[str, tuple[Manifest, list[Manifest], tuple[str, str]]] = {
    "neither true nor false": (podclique(annotations=mnnvl(enabled="yes")), [], ("validate/podclique-mnnvl-enabled", ENABLED_AT)),
    "an unknown scope": (podclique(annotations=mnnvl("rack")), [], ("validate/podclique-mnnvl-scope", SCOPE_AT)),
    "a class that is no name": (
        podclique(annotations=mnnvl("replica", "A B")),
        [],
        ("validate/podclique-mnnvl-device-class", "metadata.annotations[grove.io/mnnvl-device-class]"),
    ),
    "no labels": (podclique(annotations=mnnvl(), labels={}), [], ("validate/podclique-mnnvl-labels", "metadata.labels")),
    "no group": (podclique(annotations=mnnvl("scalingGroupReplica")), [], ("validate/podclique-mnnvl-group-labels", "metadata.labels")),
    "no set": (
        podclique(annotations=mnnvl()),
        [podgang("any")],
        ("validate/podclique-mnnvl-set", "metadata.labels[grove.io/pcs-name]"),
    ),
    "another claim of that name": (
        with_claim(podclique(annotations=mnnvl()), "mine"),
        [],
        ("validate/podclique-mnnvl-foreign-claim", "spec.podSpec.resourceClaims"),
    ),
    "a domain of another set": (
        podclique(annotations=mnnvl()),
        [owner(), foreign()],
        ("validate/podclique-mnnvl-foreign-domain", ENABLED_AT),
    ),
    "a domain that is being deleted": (
        podclique(annotations=mnnvl()),
        [owner(), leaving()],
        ("validate/podclique-mnnvl-terminating", ENABLED_AT),
    ),
}


@rows("what", REFUSED)
def test_a_podclique_is_refused_with(what: str) -> None:
    manifest, existing, finding = REFUSED[what]
    admission = admitted(manifest, *existing)
    assert (words(admission.findings), admission.patch, admission.objects) == ([finding], [], [])


@pytest.mark.parametrize("new", [mnnvl(enabled="false"), mnnvl("clique"), mnnvl("replica", "other.example.com"), {}])
def test_an_update_of_the_annotations_is_refused(new: dict[str, str]) -> None:
    old, manifest = podclique(annotations=mnnvl("replica", "x.example.com")), podclique(annotations=new)
    assert {code for code, _ in words(admitted(manifest, old=old).findings)} == {"validate/podclique-mnnvl-changed"}


def test_an_update_of_anything_else_is_taken() -> None:
    old = podclique(annotations=mnnvl())
    assert admitted({**old, "spec": {**old["spec"], "replicas": 2}}, old=old).findings == []


# -- what an installation has for them -----------------------------------------------------------------------------------------


def installed(*settings: str) -> list[Manifest]:
    return manifests(load_values([], settings), "grove-system")


def hooks_in(objects: list[Manifest]) -> list[str]:
    return [hook["clientConfig"]["service"]["path"] for one in objects for hook in one.get("webhooks") or ()]


def test_they_are_registered_only_where_the_configuration_asks_for_them() -> None:
    paths = {hook.path for hook in MNNVL}
    assert not paths & set(hooks_in(installed()))
    assert paths <= set(hooks_in(installed("config.admission.mnnvlWebhooks=true")))


def test_a_trial_makes_nothing_and_api_servers_know_it() -> None:
    effects = {hook.path: webhook_configuration(hook, Installation("n"))["webhooks"][0]["sideEffects"] for hook in MNNVL}
    assert effects == {
        "/webhooks/mnnvl-podclique": "NoneOnDryRun",
        "/webhooks/validate-mnnvl-podclique": "None",
        "/webhooks/mnnvl-podgang": "None",
    }


def rights(rules: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {
        (group, resource, verb) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]
    }


def test_the_rights_are_those_of_the_design_but_for_update_which_patches_need_not() -> None:
    [role] = [one for section in read_page(PAGE) if section.title == "RBAC Requirements" for one in section.manifests]
    [ours] = [one for one in installed() if one["kind"] == "ClusterRole" and one["metadata"]["name"] == "grove-operator"]
    assert rights(role["rules"]) - rights(ours["rules"]) == {
        ("resource.nvidia.com", "computedomains", "update"),
        ("resource.k8s.io", "resourceclaims", "update"),
    }
