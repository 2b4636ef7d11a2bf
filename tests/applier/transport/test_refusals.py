"""What servers refuse, and the sentence that people read."""

from __future__ import annotations

import datetime
from email.utils import format_datetime
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from applier.errors import (
    AlreadyExists,
    ApiError,
    ClusterError,
    Expired,
    FieldConflict,
    Forbidden,
    Invalid,
    NotFound,
    ServerFailure,
    TooManyRequests,
    Unauthorized,
    UnknownKind,
    WriteConflict,
)
from applier.ref import Manifest, Ref
from applier.transport.login.credentials import Fixed
from applier.transport.login.target import Target
from applier.transport.refusals import refusal
from applier.transport.retries import ApiRequest
from tests.suite.rows import rows

from .scripted import Answer, config_map, status

REF = Ref("", "ConfigMap", "ns", "a")
TARGET = Target("https://server", Fixed.token("opaque"), label="context 'c' of /kube/config")


class Case(NamedTuple):
    """A refusal, the error that it is, and what that says."""

    id: str
    answer: Answer
    error: type[ClusterError]
    says: str
    sent: Manifest | None = None


def field_conflict(*pairs: tuple[str, str]) -> Answer:
    causes = [{"reason": "FieldManagerConflict", "message": f'conflict with "{who}" using v1', "field": field} for who, field in pairs]
    return status(409, "Conflict", "Apply failed with conflicts:\n- .data", causes)


def rbac(verb: str, where: str = 'in the namespace "ns"', resource: str = "deployments", group: str = "apps") -> Answer:
    message = f'{resource}.{group} "a" is forbidden: User "bob" cannot {verb} resource "{resource}" in API group "{group}" {where}'
    return status(403, "Forbidden", message, kind=resource, group=group, name="a")


CASES = [
    Case("an object that is missing", status(404, "NotFound", 'configmaps "a" not found', name="a"), NotFound, 'configmaps "a" not found'),
    Case(
        "a namespace that is missing",
        status(404, "NotFound", 'namespaces "ns" not found', name="ns", kind="namespaces"),
        NotFound,
        "namespace 'ns' does not exist",
    ),
    Case(
        "a path that no server knows",
        Answer(404, "404 page not found", {"Content-Type": "text/plain"}),
        UnknownKind,
        "the server does not serve configmaps; is its definition installed, in this version?",
    ),
    Case(
        "a kind whose definition is gone",
        status(404, "NotFound", "the server could not find the requested resource"),
        UnknownKind,
        "the server does not serve configmaps; is its definition installed, in this version?",
    ),
    Case("one that exists", status(409, "AlreadyExists", 'configmaps "a" already exists'), AlreadyExists, 'configmaps "a" already exists'),
    Case(
        "one field of another manager", field_conflict(("kubectl", ".data.k")), FieldConflict, "'kubectl' owns .data.k, with other values"
    ),
    Case(
        "fields of two managers",
        field_conflict(("kubectl", ".data.k"), ("bob", ".data.z"), ("kubectl", ".data.l")),
        FieldConflict,
        "'kubectl' owns .data.k, .data.l; 'bob' owns .data.z, with other values",
    ),
    Case(
        "an object that moved on",
        status(409, "Conflict", 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes'),
        WriteConflict,
        "the object was changed by another client since it was read",
    ),
    Case(
        "another object of this name",
        status(
            409,
            "Conflict",
            'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (1) does not match the UID in record',
        ),
        WriteConflict,
        "an object of this name exists, but it is not the one that was read: its UID differs",
    ),
    Case(
        "an object that is not valid",
        status(422, "Invalid", 'ConfigMap "a" is invalid: data[x y]: Invalid value'),
        Invalid,
        'ConfigMap "a" is invalid: data[x y]: Invalid value',
    ),
    Case(
        "a field that the schema lacks, which servers call their own failure",
        status(500, "", "failed to create typed patch object (ns/a; /v1, Kind=ConfigMap): .spec: field not declared in schema"),
        Invalid,
        "failed to create typed patch object (ns/a; /v1, Kind=ConfigMap): .spec: field not declared in schema",
    ),
    Case(
        "a missing right in a namespace",
        rbac("get"),
        Forbidden,
        'user "bob" may not get deployments.apps in namespace "ns"; a Role there with the rule'
        ' {apiGroups: ["apps"], resources: ["deployments"], verbs: ["get"]} allows it',
    ),
    Case(
        "a missing right to apply, which takes two verbs",
        rbac("patch"),
        Forbidden,
        'user "bob" may not patch deployments.apps in namespace "ns"; a Role there with the rule'
        ' {apiGroups: ["apps"], resources: ["deployments"], verbs: ["create", "patch"]} allows it',
        config_map(),
    ),
    Case(
        "a missing right in the whole cluster",
        rbac("list", "at the cluster scope"),
        Forbidden,
        'user "bob" may not list deployments.apps in the whole cluster; a ClusterRole with the rule'
        ' {apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"]} allows it',
    ),
    Case(
        "a missing right to a subresource of the core",
        status(
            403, "Forbidden", 'pods "a" is forbidden: User "bob" cannot update resource "pods/status" in API group "" in the namespace "ns"'
        ),
        Forbidden,
        'user "bob" may not update pods/status in namespace "ns"; a Role there with the rule'
        ' {apiGroups: [""], resources: ["pods/status"], verbs: ["update"]} allows it',
    ),
    Case(
        "a missing right to a path",
        status(403, "Forbidden", 'forbidden: User "bob" cannot get path "/openapi/v3"'),
        Forbidden,
        'user "bob" may not get /openapi/v3; a ClusterRole with the rule {nonResourceURLs: ["/openapi/v3"], verbs: ["get"]} allows it',
    ),
    Case(
        "nobody in particular",
        status(
            403, "Forbidden", 'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope'
        ),
        Forbidden,
        "the request is not authenticated (system:anonymous), and anonymous users may not list pods; log in, or provide credentials",
    ),
    Case(
        "a quota",
        status(403, "Forbidden", 'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'),
        Forbidden,
        "quota q is exceeded: requested pods=1, used pods=2, limit pods=2",
    ),
    Case(
        "a namespace that is being deleted",
        status(
            403,
            "Forbidden",
            'configmaps "a" is forbidden: unable to create new content in namespace ns because it is being terminated',
            [{"reason": "NamespaceTerminating", "message": "namespace ns is being terminated", "field": "metadata.namespace"}],
        ),
        Forbidden,
        "namespace 'ns' is being deleted: nothing can be created in it until it is deleted and recreated",
    ),
    Case(
        "a webhook that says no, with the status that it likes",
        status(409, "Conflict", 'admission webhook "guard.example.com" denied the request: no\nConfigMaps today'),
        Forbidden,
        'admission webhook "guard.example.com" denied the request: no ConfigMaps today',
    ),
    Case(
        "an admission policy that says no",
        status(422, "Invalid", "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too many"),
        Forbidden,
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too many",
    ),
    Case(
        "a webhook that takes too long",
        status(
            500,
            "InternalError",
            'Internal error occurred: failed calling webhook "slow.example.com": failed to call webhook: Post "https://10.0.0.1:443/?timeout=10s":'
            " context deadline exceeded",
        ),
        ServerFailure,
        'webhook "slow.example.com" did not answer in time',
    ),
    Case(
        "a webhook that is not there",
        status(
            500,
            "InternalError",
            'Internal error occurred: failed calling webhook "gone.example.com": failed to call webhook: Post "https://10.0.0.1:443/x":'
            " dial tcp 10.0.0.1:443: connect: connection refused",
        ),
        ServerFailure,
        'webhook "gone.example.com" cannot be called: dial tcp 10.0.0.1:443: connect: connection refused',
    ),
    Case(
        "a request over the server's limit",
        status(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"),
        Invalid,
        "the object is too large for the server: the limit is 3 MiB",
    ),
    Case(
        "a request over etcd's limit",
        status(500, "", "etcdserver: request is too large"),
        Invalid,
        "the object is too large for the server: the limit is about 1.5 MiB, unless etcd is configured otherwise",
    ),
    Case(
        "old history",
        status(410, "Expired", "too old resource version: 1 (9)"),
        Expired,
        "the server no longer keeps this part of its history: too",
    ),
    Case("a server that is busy", status(429, "TooManyRequests", "too many requests"), TooManyRequests, "too many requests"),
    Case(
        "a proxy's page",
        Answer(502, "<html><head><title>502 Bad Gateway</title></head></html>", {"Content-Type": "text/html"}),
        ServerFailure,
        "the server failed (502): 502 Bad Gateway",
    ),
    Case("a status without words", Answer(500, ""), ServerFailure, "the server failed (500): HTTP status 500"),
    Case("a method that is not allowed", status(405, "MethodNotAllowed", "not supported"), Invalid, "not supported"),
    Case(
        "credentials that are not accepted",
        status(401, "Unauthorized", "Unauthorized"),
        Unauthorized,
        "the server does not accept the credentials of context 'c' of /kube/config: log in again, or renew them",
    ),
]


def told(case_answer: Answer, sent: Any = None, target: Target = TARGET, ref: Ref = REF) -> ClusterError:
    import orjson

    body = case_answer.body.encode() if isinstance(case_answer.body, str) else orjson.dumps(case_answer.body)
    return refusal(case_answer.status, case_answer.headers, body, ApiRequest("patch", "configmaps", ref, True, sent), target)


@rows("case", CASES, ids=lambda case: case.id)
def test_a_refusal_has_its_type(case: Case) -> None:
    assert type(told(case.answer, case.sent)) is case.error


@rows("case", CASES, ids=lambda case: case.id)
def test_a_refusal_says_what_to_do(case: Case) -> None:
    assert str(told(case.answer, case.sent)).startswith(case.says)


@rows("case", CASES, ids=lambda case: case.id)
def test_a_refusal_is_one_line(case: Case) -> None:
    assert "\n" not in str(told(case.answer, case.sent))


def test_a_refusal_keeps_the_causes_that_the_server_names() -> None:
    error = told(field_conflict(("kubectl", ".data.k")))
    assert isinstance(error, ApiError)
    assert error.causes == (("FieldManagerConflict", ".data.k", 'conflict with "kubectl" using v1'),)


NOW = datetime.datetime(2026, 11, 21, 12, 0, tzinfo=datetime.UTC)
WAITS: dict[str, tuple[dict[str, str], dict[str, Any], float | None]] = {
    "not said": ({}, {}, None),
    "seconds in a header": ({"Retry-After": "7"}, {}, 7.0),
    "seconds in the status": ({}, {"retryAfterSeconds": 3}, 3.0),
    "a date, by the server's clock": (
        {"Retry-After": format_datetime(NOW + datetime.timedelta(seconds=9), usegmt=True), "Date": format_datetime(NOW, usegmt=True)},
        {},
        9.0,
    ),
    "a date in the past": (
        {"Retry-After": format_datetime(NOW - datetime.timedelta(seconds=9), usegmt=True), "Date": format_datetime(NOW, usegmt=True)},
        {},
        0.0,
    ),
    "nonsense": ({"Retry-After": "soon"}, {}, None),
}


@rows("case", WAITS.values(), ids=WAITS)
def test_the_wait_that_a_server_asks_for_is_read(case: tuple[dict[str, str], dict[str, Any], float | None]) -> None:
    headers, details, expected = case
    answer = status(429, "TooManyRequests", "busy", None, **details)
    error = told(answer._replace(headers=headers))
    assert isinstance(error, ApiError)
    assert error.retry_after == expected


PASSWORD = {"data": {"password": "aHVudGVyMg=="}}
SECRETS: dict[str, tuple[Any, str, str]] = {
    "a value of the wrong type": (
        {"kind": "Secret", "data": {"k": 12}},
        ".data.k: expected string, got &value.valueUnstructured{Value:12}",
        ".data.k: expected string, got a hidden value",
    ),
    "a plain value": ({"stringData": {"password": "hunter2"}}, '"hunter2" is weak', '"(hidden)" is weak'),
    "a value as it was sent": (PASSWORD, "aHVudGVyMg== is weak", "(hidden) is weak"),
    "a value that somebody decoded": (PASSWORD, "hunter2 is weak", "(hidden) is weak"),
    "a value in a JSON patch": (
        [{"op": "add", "path": "/data", "value": {"password": "aHVudGVyMg=="}}],
        "hunter2 is weak",
        "(hidden) is weak",
    ),
    "a value in another": ({"data": {"short": "hunter", "long": "hunter2"}}, "hunter2 and hunter", "(hidden) and (hidden)"),
    "nothing": ({"data": None}, "data is missing", "data is missing"),
}


@rows("case", SECRETS.values(), ids=SECRETS)
def test_values_of_secrets_are_in_no_error(case: tuple[Any, str, str]) -> None:
    sent, message, says = case
    assert str(told(status(400, "", message), sent, ref=Ref("", "Secret", "ns", "a"))) == says


def test_values_of_other_kinds_stay_in_errors() -> None:
    assert str(told(status(400, "", "v1 is weak"), config_map(k="v1"))) == "v1 is weak"


def test_values_of_secrets_are_in_no_cause() -> None:
    answer = status(422, "Invalid", "is invalid", [{"reason": "FieldValueInvalid", "message": "hunter2 is weak", "field": "data"}])
    error = told(answer, PASSWORD, ref=Ref("", "Secret", "ns", "a"))
    assert isinstance(error, ApiError)
    assert "hunter2" not in repr((error.causes, error.details))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=20), lambda inner: st.lists(inner, max_size=3)
)
SHAPES = ANYTHING | st.dictionaries(st.sampled_from(["causes", "name", "kind", "retryAfterSeconds", "uid"]), ANYTHING)


@given(
    st.sampled_from([302, 400, 401, 403, 404, 405, 409, 410, 413, 418, 422, 429, 500, 501, 503]),
    st.fixed_dictionaries(
        {"kind": st.just("Status")}, optional={"message": ANYTHING, "reason": ANYTHING, "details": SHAPES, "code": ANYTHING}
    ),
    SHAPES,
)
def test_whatever_a_server_sends_becomes_an_error_of_one_line(code: int, given_status: dict[str, Any], sent: Any) -> None:
    error = told(Answer(code, given_status), {"data": sent}, ref=Ref("", "Secret", "ns", "a"))
    assert len(str(error).splitlines()) == 1


@given(st.integers(300, 599), st.binary(max_size=200))
def test_whatever_a_proxy_sends_becomes_an_error_of_one_line(code: int, body: bytes) -> None:
    error = refusal(code, {}, body, ApiRequest("get", "configmaps", REF), TARGET)
    assert len(str(error).splitlines()) == 1
