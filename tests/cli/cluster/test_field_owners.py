"""Which tools own the fields of a change, as the server writes managedFields, and put them back."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from applier.ref import Manifest
from grove_cli.queries.rollout import edits
from grove_cli.queries.rollout.field_owners import later_replacers, owners_of_changes

IMAGE: Manifest = {"f:podSpec": {"f:containers": {'k:{"name":"main"}': {".": {}, "f:name": {}, "f:image": {}}}}}


def fields(**clique: Any) -> Manifest:
    """The fields of a manager that declares the clique `front`, and these fields of it."""
    front = {".": {}, "f:name": {}, **{f"f:{name}": value for name, value in clique.items()}}
    return {"f:spec": {"f:template": {"f:cliques": {'k:{"name":"front"}': front}}}}


def owned(manager: str, operation: str, owned: Manifest, **entry: str) -> Manifest:
    """A set whose fields the manager owns."""
    managed = {"manager": manager, "operation": operation, "apiVersion": "grove.io/v1alpha1", "fieldsType": "FieldsV1", "fieldsV1": owned}
    container = {"name": "main", "image": "app:2", "env": [{"name": "A", "value": "1"}]}
    clique = {"name": "front", "spec": {"podSpec": {"containers": [container]}}}
    metadata = {"name": "chat", "namespace": "shop", "managedFields": [managed | entry]}
    return {"kind": "PodCliqueSet", "metadata": metadata, "spec": {"template": {"cliques": [clique]}}}


def with_image(set: Manifest, image: str) -> Manifest:
    wanted = copy.deepcopy(set)
    wanted["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = image
    return wanted


def restarted(set: Manifest) -> Manifest:
    return edits.restart(set, 1_800_000_000).applied_to(set)


FLUX = owned("kustomize-controller", "Apply", fields(spec=IMAGE))
FIELD = "spec.template.cliques[name=front].spec.podSpec.containers[name=main].image"


def test_an_owned_field_that_changes_is_named() -> None:
    [owner] = owners_of_changes(FLUX, with_image(FLUX, "app:1"))
    assert (owner.tool.name, owner.fields) == ("Flux", FIELD)


def test_an_owned_field_that_stays_is_of_no_concern() -> None:
    wanted = copy.deepcopy(FLUX)
    wanted["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["env"] = []
    assert owners_of_changes(FLUX, wanted) == []


def test_several_fields_are_counted() -> None:
    both: Manifest = {"f:podSpec": {"f:containers": {'k:{"name":"main"}': {"f:image": {}, "f:env": {'k:{"name":"A"}': {"f:value": {}}}}}}}
    live = owned("kustomize-controller", "Apply", fields(spec=both))
    wanted = with_image(live, "app:1")
    wanted["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["env"] = []
    [owner] = owners_of_changes(live, wanted)
    assert owner.fields == f"{FIELD} and 1 more field"


def test_an_atomic_field_around_the_change_counts() -> None:
    live = owned("kustomize-controller", "Apply", {"f:spec": {"f:template": {}}})
    [owner] = owners_of_changes(live, with_image(live, "app:1"))
    assert owner.fields == "spec.template"


def test_whoever_applies_is_called_by_its_name_unless_it_is_known() -> None:
    live = owned("pulumi", "Apply", fields(spec=IMAGE))
    assert [owner.tool.name for owner in owners_of_changes(live, with_image(live, "app:1"))] == ["pulumi"]


@pytest.mark.parametrize(
    ("manager", "operation", "entry"),
    [
        ("kubectl-edit", "Update", {}),
        ("grove-rollout", "Update", {}),
        ("grove-rollout", "Apply", {}),
        ("kustomize-controller", "Apply", {"subresource": "scale"}),
    ],
    ids=["a-person", "ours", "ours-applied", "a-subresource"],
)
def test_whoever_does_not_put_fields_back_is_no_owner(manager: str, operation: str, entry: dict[str, str]) -> None:
    live = owned(manager, operation, fields(spec=IMAGE), **entry)
    assert owners_of_changes(live, with_image(live, "app:1")) == []


def test_a_restart_beside_server_side_apply_is_left_alone() -> None:
    assert (owners_of_changes(FLUX, restarted(FLUX)), later_replacers(FLUX, restarted(FLUX))) == ([], [])


@pytest.mark.parametrize("manager", ["kubectl-client-side-apply", "helm"])
def test_a_tool_that_replaces_lists_takes_a_restart_back_when_somebody_runs_it(manager: str) -> None:
    live = owned(manager, "Update", fields(spec=IMAGE))
    assert owners_of_changes(live, restarted(live)) == []
    assert len(later_replacers(live, restarted(live))) == 1


def test_one_that_does_so_all_the_time_owns_the_list() -> None:
    live = owned("argocd-controller", "Update", fields(spec=IMAGE))
    assert [(owner.tool.name, owner.fields) for owner in owners_of_changes(live, restarted(live))] == [("Argo CD", "spec.template.cliques")]
    assert owners_of_changes(live, edits.pause(live).applied_to(live)) == []


def test_managed_fields_that_cannot_be_read_own_nothing() -> None:
    live = owned("helm", "Update", fields(spec=IMAGE), fieldsType="FieldsV9")
    assert owners_of_changes(live, with_image(live, "app:1")) == []
