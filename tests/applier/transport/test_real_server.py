"""The transport against a real API server: whether it says what the other tests make it say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from applier.cluster import Resource
from applier.errors import (
    AlreadyExists,
    ClusterError,
    FieldConflict,
    Forbidden,
    Invalid,
    NotFound,
    ServerFailure,
    Unauthorized,
    WriteConflict,
)
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.testing.faults import Script
from applier.testing.proxy import Faults
from applier.transport import ApiCluster, connect
from tests.connecting import connect_to

from .scripted import HASTY, raised

pytestmark = pytest.mark.cluster

CONFIG_MAP = Kind("", "v1", "ConfigMap")
DEFINITION = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
OURS = "of=tests"
WEBHOOKS = Kind("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration")


@pytest_asyncio.fixture
async def cluster(control_plane: ControlPlane) -> AsyncIterator[ApiCluster]:
    async with connect(kubeconfig=str(control_plane.kubeconfig), user_agent="transport-tests") as connected:
        yield connected


@pytest_asyncio.fixture
async def maps(cluster: ApiCluster) -> Resource:
    return await cluster.resource(CONFIG_MAP)


def config_map(namespace: str, name: str = "a", **data: Any) -> Manifest:
    metadata = {"name": name, "namespace": namespace, "labels": {"of": "tests"}}  # unlike what the control plane puts there
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data or {"k": "v"}}


async def test_an_object_goes_through_its_whole_life(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    made = await cluster.create(maps, config_map(namespace), manager="m")
    applied = await cluster.apply(maps, config_map(namespace, k="w"), manager="m", force=True)
    patched = await cluster.patch(maps, namespace, "a", {"data": {"z": "1"}}, manager="m")
    changed = await cluster.patch(maps, namespace, "a", [{"op": "remove", "path": "/data/z"}], manager="m")
    await cluster.delete(maps, namespace, "a", uid=made["metadata"]["uid"])
    assert [one["data"] for one in (made, applied, patched, changed)] == [{"k": "v"}, {"k": "w"}, {"k": "w", "z": "1"}, {"k": "w"}]
    assert isinstance(await raised(lambda: cluster.get(maps, namespace, "a")), NotFound)


async def test_dry_runs_change_nothing(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    await cluster.create(maps, config_map(namespace), manager="m", dry_run=True)
    await cluster.apply(maps, config_map(namespace, "b"), manager="m", dry_run=True)
    assert (await cluster.list(maps, namespace, labels=OURS)).items == []


async def test_a_list_is_read_in_pages(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    from applier.transport.reads import list_all

    for number in range(7):
        await cluster.apply(maps, config_map(namespace, f"a{number}"), manager="m")
    path = maps.path(namespace)
    listing = await list_all(cluster.wire, maps, path, namespace, labels=OURS, fields="", page=3)
    assert [item["metadata"]["name"] for item in listing.items] == [f"a{number}" for number in range(7)]
    assert cluster.requests["list", "configmaps"] == 3


class Refusal(NamedTuple):
    """A request that the server refuses, with which error, and what that says."""

    id: str
    call: Callable[[ApiCluster, Resource, str], Awaitable[Any]]
    error: type[ClusterError]
    says: str


REFUSALS = [
    Refusal("missing", lambda c, r, ns: c.get(r, ns, "b"), NotFound, 'configmaps "b" not found'),
    Refusal(
        "a missing namespace",
        lambda c, r, ns: c.apply(r, config_map("no-such-place"), manager="m"),
        NotFound,
        "namespace 'no-such-place' does not exist",
    ),
    Refusal("there already", lambda c, r, ns: c.create(r, config_map(ns), manager="m"), AlreadyExists, 'configmaps "a" already exists'),
    Refusal(
        "another's fields",
        lambda c, r, ns: c.apply(r, config_map(ns, k="other"), manager="n"),
        FieldConflict,
        "'m' owns .data.k, with other values",
    ),
    Refusal(
        "another's UID",
        lambda c, r, ns: c.delete(r, ns, "a", uid="1"),
        WriteConflict,
        "an object of this name exists, but it is not the one",
    ),
    Refusal(
        "an old version",
        lambda c, r, ns: c.patch(r, ns, "a", {"metadata": {"resourceVersion": "1"}, "data": {"k": "x"}}),
        WriteConflict,
        "the object was changed by another client since it was read",
    ),
    Refusal(
        "a name that is none",
        lambda c, r, ns: c.create(r, config_map(ns, "No_Name"), manager="m"),
        Invalid,
        'ConfigMap "No_Name" is invalid: metadata.name',
    ),
    Refusal(
        "a field that is none",
        lambda c, r, ns: c.apply(r, config_map(ns) | {"spec": {}}, manager="m"),
        Invalid,
        "failed to create typed patch object",
    ),
    Refusal(
        "a request that is too large",
        lambda c, r, ns: c.apply(r, config_map(ns, k="x" * 3_500_000), manager="m"),
        Invalid,
        "the object is too large for the server: the limit is 3 MiB",
    ),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.id)
async def test_the_server_refuses_as_we_expect(case: Refusal, cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    await cluster.apply(maps, config_map(namespace), manager="m")
    error = await raised(lambda: case.call(cluster, maps, namespace))
    assert isinstance(error, case.error), repr(error)
    assert str(error).startswith(case.says)


async def test_a_missing_right_is_granted_by_the_rule_that_we_say(control_plane: ControlPlane, maps: Resource, namespace: str) -> None:
    ca = Path(control_plane.certificate_authority).read_text()
    async with connect_to(control_plane.url, token=control_plane.users["nobody"].token, ca=ca) as nobody:
        error = await raised(lambda: nobody.apply(maps, config_map(namespace), manager="m"))
        assert isinstance(error, Forbidden)
        rule = '{apiGroups: [""], resources: ["configmaps"], verbs: ["create", "patch"]}'
        expected = f'user "nobody" may not patch configmaps in namespace "{namespace}"; a Role there with the rule {rule} allows it'
        assert str(error) == expected
        control_plane.grant("nobody", ["create", "patch"], ["configmaps"], group="", namespace=namespace)
        await nobody.apply(maps, config_map(namespace), manager="m")


async def test_a_wrong_token_is_said(control_plane: ControlPlane, maps: Resource) -> None:
    ca = Path(control_plane.certificate_authority).read_text()
    async with connect_to(control_plane.url, token="wrong", ca=ca) as stranger:
        assert isinstance(await raised(lambda: stranger.list(maps)), Unauthorized)


async def test_a_used_up_quota_is_said(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    quotas = await cluster.resource(Kind("", "v1", "ResourceQuota"))
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": namespace}}
    await cluster.create(quotas, quota | {"spec": {"hard": {"count/configmaps": "0"}}}, manager="m")
    await cluster.patch(
        quotas, namespace, "q", {"status": {"hard": {"count/configmaps": "0"}, "used": {"count/configmaps": "0"}}}, subresource="status"
    )
    with pytest.raises(Forbidden) as error:
        async with asyncio.timeout(30):
            while True:  # admission hears of quotas by a watch of its own, a moment after they are written
                await cluster.create(maps, config_map(namespace), manager="m", dry_run=True)
    assert str(error.value).startswith("quota q is exceeded: requested count/configmaps=1")


async def test_a_namespace_that_is_being_deleted_takes_nothing_new(
    cluster: ApiCluster, maps: Resource, control_plane: ControlPlane
) -> None:
    namespace = control_plane.create_namespace()
    held = config_map(namespace)
    held["metadata"]["finalizers"] = ["example.com/held"]
    await cluster.create(maps, held, manager="m")
    namespaces = await cluster.resource(Kind("", "v1", "Namespace"))
    uid = (await cluster.get(namespaces, "", namespace))["metadata"]["uid"]
    await cluster.delete(namespaces, "", namespace, uid=uid)
    error = await raised(lambda: cluster.create(maps, config_map(namespace, "b"), manager="m"))
    assert isinstance(error, Forbidden)
    assert str(error) == f"namespace '{namespace}' is being deleted: nothing can be created in it until it is deleted and recreated"
    await cluster.delete(namespaces, "", namespace, uid=uid)  # once more is no error
    await cluster.patch(maps, namespace, "a", {"metadata": {"finalizers": None}})


async def test_the_server_warns_of_fields_that_it_does_not_know(control_plane: ControlPlane, maps: Resource, namespace: str) -> None:
    warned: list[str] = []
    kubeconfig = str(control_plane.kubeconfig)
    async with connect(kubeconfig=kubeconfig, validation="Warn", warn=lambda _, text: warned.append(text)) as cluster:
        await cluster.create(maps, config_map(namespace) | {"spec": {}}, manager="m")
    assert warned == ['unknown field "spec"']


def webhook(namespace: str, url: str, *, seconds: int = 1) -> Manifest:
    """A webhook for the ConfigMaps of one namespace."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"], "scope": "Namespaced"}
    hook = {
        "name": "guard.example.com",
        "clientConfig": {"url": url},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": seconds,
    }
    return {"apiVersion": WEBHOOKS.api_version, "kind": WEBHOOKS.kind, "metadata": {"name": f"hook-{namespace}"}, "webhooks": [hook]}


async def test_a_webhook_that_is_away_is_named(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    hooks = await cluster.resource(WEBHOOKS)
    made = await cluster.create(hooks, webhook(namespace, "https://127.0.0.1:1/"), manager="m")
    try:
        error = await until_refused(cluster, maps, namespace)
    finally:
        await cluster.delete(hooks, "", made["metadata"]["name"], uid=made["metadata"]["uid"])
    assert isinstance(error, ServerFailure)
    assert str(error).startswith('webhook "guard.example.com" cannot be called: dial tcp 127.0.0.1:1: connect: connection refused')


async def test_a_webhook_that_does_not_answer_is_named(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    hooks = await cluster.resource(WEBHOOKS)
    callers: list[asyncio.StreamWriter] = []  # kept, since Python closes the connection of a writer that nobody holds
    silent = await asyncio.start_server(lambda reader, writer: callers.append(writer), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    made = await cluster.create(hooks, webhook(namespace, f"https://127.0.0.1:{port}/"), manager="m")
    try:
        error = await until_refused(cluster, maps, namespace)
    finally:
        await cluster.delete(hooks, "", made["metadata"]["name"], uid=made["metadata"]["uid"])
        silent.close()
    assert isinstance(error, ServerFailure)
    assert str(error) == 'webhook "guard.example.com" did not answer in time'


async def until_refused(cluster: ApiCluster, maps: Resource, namespace: str) -> ClusterError:
    """Makes objects until the server has heard of a new webhook."""
    for number in range(200):
        try:
            await cluster.create(maps, config_map(namespace, f"a{number}"), manager="m")
        except ClusterError as error:
            return error
        await asyncio.sleep(0.02)
    raise AssertionError("the webhook was never asked")


async def test_a_watch_starts_with_the_state_and_goes_on_with_changes(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    await cluster.apply(maps, config_map(namespace), manager="m")
    seen = []
    async with aclosing(cluster.watch(maps, namespace, labels=OURS, initial=True)) as events:
        async for event in events:
            if event.type != "BOOKMARK" or event.initial_end:  # others come whenever a minute is over
                seen.append(event.type)
            if event.initial_end:
                await cluster.apply(maps, config_map(namespace, k="w"), manager="m")
            if event.type == "MODIFIED":
                await cluster.delete(maps, namespace, "a", uid=event.object["metadata"]["uid"])
            if event.type == "DELETED":
                break
    assert seen == ["OPENED", "ADDED", "BOOKMARK", "MODIFIED", "DELETED"]


async def test_a_watch_goes_on_where_a_list_ended(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    await cluster.apply(maps, config_map(namespace), manager="m")
    version = (await cluster.list(maps, namespace)).resource_version
    await cluster.apply(maps, config_map(namespace, "b"), manager="m")
    async with aclosing(cluster.watch(maps, namespace, labels=OURS, resource_version=version)) as events:
        assert (await anext(events)).type == "OPENED"
        assert (await anext(events)).object["metadata"]["name"] == "b"


def definition(group: str, **names: str) -> Manifest:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec: Any = {"group": group, "scope": "Namespaced", "versions": [version], "names": {"plural": "widgets", "kind": "Widget"} | names}
    return {
        "apiVersion": DEFINITION.api_version,
        "kind": DEFINITION.kind,
        "metadata": {"name": f"{spec['names']['plural']}.{group}"},
        "spec": spec,
    }


async def test_a_new_kind_can_be_used_once_it_is_established(cluster: ApiCluster, namespace: str) -> None:
    widget = Kind(f"{namespace}.example.com", "v1", "Widget")
    definitions = await cluster.resource(DEFINITION)
    waiting = asyncio.create_task(cluster.await_established([widget, CONFIG_MAP]))
    made = await cluster.apply(definitions, definition(widget.group), manager="m")
    try:
        await waiting
        widgets = await cluster.resource(widget)
        manifest = {"apiVersion": widget.api_version, "kind": "Widget", "metadata": {"name": "a", "namespace": namespace}}
        assert (await cluster.apply(widgets, manifest, manager="m"))["kind"] == "Widget"
    finally:
        await cluster.delete(definitions, "", made["metadata"]["name"], uid=made["metadata"]["uid"])


async def test_a_kind_that_never_comes_is_said(cluster: ApiCluster, namespace: str) -> None:
    widget = Kind(f"{namespace}.example.com", "v1", "Widget")
    error = await raised(lambda: cluster.await_established([widget], timeout=0.2))
    assert str(error) == f"Widget of {widget.api_version} cannot be used: there is no CustomResourceDefinition for it"


async def test_a_definition_that_is_refused_its_names_says_why(cluster: ApiCluster, namespace: str) -> None:
    group = f"{namespace}.example.com"
    definitions = await cluster.resource(DEFINITION)
    first = await cluster.apply(definitions, definition(group), manager="m")
    await cluster.await_established([Kind(group, "v1", "Widget")])
    second = await cluster.apply(definitions, definition(group, plural="gadgets", kind="Gadget", singular="widget"), manager="m")
    try:
        error = await raised(lambda: cluster.await_established([Kind(group, "v1", "Gadget")], timeout=2))
    finally:
        for made in (first, second):
            await cluster.delete(definitions, "", made["metadata"]["name"], uid=made["metadata"]["uid"])
    assert "its definition is not established" in str(error)
    assert "already in use" in str(error)


async def test_schemas_of_the_real_server_are_read_and_kept(control_plane: ControlPlane, tmp_path: Path) -> None:
    kinds = [CONFIG_MAP, Kind("apps", "v1", "Deployment"), Kind("rbac.authorization.k8s.io", "v1", "Role")]
    for _ in range(2):
        async with connect(kubeconfig=str(control_plane.kubeconfig), cache_dir=tmp_path) as cluster:
            schemas = await cluster.schemas(kinds)
    assert all(schemas.get(kind) is not None for kind in kinds)
    assert cluster.requests.total() == 0


async def test_many_applies_at_once_are_one_request_each(
    cluster: ApiCluster, maps: Resource, namespace: str, control_plane: ControlPlane
) -> None:
    mark = control_plane.mark()
    await asyncio.gather(*(cluster.apply(maps, config_map(namespace, f"a{number:03}"), manager="m") for number in range(100)))
    assert len(control_plane.requests(mark).only(agent="transport-tests", namespace=namespace)) == 100
    assert len((await cluster.list(maps, namespace, labels=OURS)).items) == 100


async def test_nothing_is_lost_or_done_twice_behind_a_bad_connection(control_plane: ControlPlane, maps: Resource, namespace: str) -> None:
    script = Script(seed=1, too_many_requests=0.05, unavailable=0.02, internal_error=0.02, reset=0.05, retry_after=0)
    names = [f"a{number:03}" for number in range(150)]
    async with Faults(control_plane, script) as proxy, connect_to(proxy.url, token=control_plane.token, retries=HASTY) as cluster:
        await cluster.version()
        made = await asyncio.gather(*(cluster.apply(maps, config_map(namespace, name), manager="m") for name in names))
        listed = (await cluster.list(maps, namespace, labels=OURS)).items
        uids = {one["metadata"]["name"]: one["metadata"]["uid"] for one in made}
        await asyncio.gather(*(cluster.delete(maps, namespace, name, uid=uids[name]) for name in names[50:]))
        left = (await cluster.list(maps, namespace, labels=OURS)).items
    assert {one["metadata"]["name"]: one["metadata"]["uid"] for one in listed} == uids
    assert [one["metadata"]["name"] for one in left] == names[:50]
    assert proxy.injected.total() > 5
