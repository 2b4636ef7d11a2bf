"""What a server's refusal means for a step."""

from __future__ import annotations

import pytest

from applier.errors import Cause, FieldConflict, Forbidden, Invalid, NotFound, UnknownKind
from applier.execute.refusals import conflicts_of, is_immutable, is_other_object, is_passing
from applier.outcome import Conflict, Owner
from tests.suite.rows import rows

IMMUTABLE = [
    "Invalid value: field is immutable",
    "field is immutable when `immutable` is set",
    "may not change once set",
    "cannot change roleRef",
    "may not be changed in an update.",
    "updates to parameters are forbidden.",
    "updates to provisioner are forbidden.",
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template' are forbidden",
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
    "pod updates may not change fields other than `spec.containers[*].image`",
    "Value is immutable",
]


def invalid(*messages: str, status: int = 422) -> Invalid:
    return Invalid(status, "Invalid", "; ".join(messages), tuple(Cause("FieldValueInvalid", "spec", message) for message in messages))


@rows("message", IMMUTABLE)
def test_a_field_that_cannot_be_changed_is_recognised(message: str) -> None:
    assert is_immutable(invalid(message))


@pytest.mark.parametrize("message", ["must be greater than 0", "Required value", 'unknown field "spec.foo"', "must not be empty"])
def test_another_fault_is_not_taken_for_it(message: str) -> None:
    assert not is_immutable(invalid(message))


def test_a_refusal_without_causes_is_judged_by_its_message() -> None:
    assert is_immutable(Invalid(422, "Invalid", "spec.a: field is immutable"))
    assert not is_immutable(Invalid(422, "Invalid", "spec.a: must be greater than 0"))


def test_a_second_fault_means_that_it_could_not_be_made_again_either() -> None:
    assert not is_immutable(invalid("field is immutable", "must be greater than 0"))


def test_only_what_validation_refuses_counts() -> None:
    assert not is_immutable(invalid("field is immutable", status=400))
    assert not is_immutable(Forbidden(403, "Forbidden", "field is immutable"))
    assert not is_immutable(Forbidden(422, "Forbidden", "field is immutable"))


UID, SPEC = (Cause("FieldValueInvalid", field, "field is immutable") for field in ("metadata.uid", "spec.x"))


@pytest.mark.parametrize(
    ("error", "other"),
    [
        (Invalid(422, "Invalid", "", (UID,)), True),
        (Invalid(422, "Invalid", "", (SPEC, UID)), True),
        (Invalid(422, "Invalid", "", (SPEC,)), False),
        (Invalid(422, "Invalid", "", ()), False),
        (FieldConflict(409, "Conflict", "", (UID,)), False),
    ],
    ids=["uid", "uid and more", "another field", "nothing", "another error"],
)
def test_another_object_is_known_by_the_uid_that_cannot_change(error: Exception, other: bool) -> None:
    assert is_other_object(error) is other


PASSING = [
    'pods "a" is forbidden: error looking up service account shop/default: serviceaccount "default" not found',
    'pods "a" is forbidden: status unknown for quota: q, resources: pods',
]


@pytest.mark.parametrize("message", PASSING)
def test_what_controllers_are_about_to_put_right_passes(message: str) -> None:
    assert is_passing(Forbidden(403, "Forbidden", message), defined=False)


@pytest.mark.parametrize("error", [Forbidden(403, "Forbidden", "exceeded quota"), NotFound(404, "NotFound", "no"), UnknownKind("no")])
def test_other_refusals_do_not_pass(error: Exception) -> None:
    assert not is_passing(error, defined=False)


@pytest.mark.parametrize("error", [Forbidden(403, "Forbidden", "exceeded quota"), NotFound(404, "NotFound", "no"), invalid("no")])
def test_a_definition_of_this_run_excuses_no_other_refusal(error: Exception) -> None:
    assert not is_passing(error, defined=True)


def test_a_kind_that_was_just_defined_is_served_in_a_moment() -> None:
    assert is_passing(UnknownKind("no"), defined=True)


CONFLICTS = [
    ('conflict with "helm"', Owner("helm", "Apply", "t1")),
    ('conflict with "kubectl" using apps/v1', Owner("kubectl", "Update", "t2")),
    ('conflict with "kubectl" using apps/v1 at 2026-01-01T00:00:00Z', Owner("kubectl", "Update", "2026-01-01T00:00:00Z")),
    ('conflict with "hpa" with subresource "scale" using apps/v1', Owner("hpa", "Update", "", "scale")),
    ("something new", Owner("something new", "", "")),
]
LIVE = {
    "metadata": {
        "managedFields": [
            {"manager": "helm", "operation": "Apply", "time": "t1"},
            {"manager": "kubectl", "operation": "Update", "time": "t2"},
            {"manager": "hpa", "operation": "Update", "subresource": "scale"},
        ]
    }
}


@pytest.mark.parametrize(("message", "owner"), CONFLICTS)
def test_who_is_in_the_way_is_read_from_the_servers_words(message: str, owner: Owner) -> None:
    error = FieldConflict(409, "Conflict", "", (Cause("FieldManagerConflict", ".spec.replicas", message),))
    assert conflicts_of(error, LIVE) == [Conflict(("spec.replicas",), owner)]
