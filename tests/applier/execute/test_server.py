"""The same on a real API server: ownership, conflicts, fields that cannot change, definitions, namespaces and webhooks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from applier import ApplyOptions, diff
from applier.desired import DEFAULT_POLICY, Desired, Graph, Policy
from applier.execute.options import Timeouts
from applier.ref import uid_of
from applier.testing.control_plane import ControlPlane

from ..things import definition, manifest
from .shop import Shop, opened

pytestmark = pytest.mark.cluster
RECREATE = Policy(recreate=True)
KUBECTL = "kubectl-client-side-apply"


async def test_again_is_unchanged_and_writes_nothing(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        mine = shop.desired("mine", data={"x": "1"}, policy=Policy(adopt=False))
        objects = [
            mine,
            shop.desired("bare"),
            shop.desired("a", data={"x": "1"}),
            shop.desired("s", "Secret", stringData={"k": "v"}),
            service(shop),
            deployment(shop),
        ]
        await shop.apply(*objects)
        assert await shop.apply(*objects) == "mine=unchanged bare=unchanged a=unchanged s=unchanged web=unchanged web=unchanged"
        assert not any(verb in ("patch", "create", "apply", "delete") for verb, _ in shop.report.requests)


def service(shop: Shop, *, policy: Policy = DEFAULT_POLICY, **spec: Any) -> Desired:
    return shop.desired("web", "Service", policy=policy, spec={"selector": {"app": "web"}, "ports": [{"port": 80}], **spec})


def deployment(shop: Shop, *, app: str = "web", policy: Policy = DEFAULT_POLICY, **spec: Any) -> Desired:
    labels = {"app": app}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "example.com/a"}]}}
    return shop.desired("web", "Deployment", policy=policy, spec={"selector": {"matchLabels": labels}, "template": template, **spec})


async def test_what_kubectl_applied_on_the_client_is_taken_over(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        shop.kubectl("apply", "-f", "-", given=manifest("a", namespace=namespace, data={"x": "1", "y": "1"}))
        assert await shop.apply(shop.desired("a", data={"x": "2"})) == "a=configured"
        live = shop.live("a")
        assert (live["data"], [entry["manager"] for entry in live["metadata"]["managedFields"]]) == ({"x": "2"}, ["me"])
        assert "annotations" not in live["metadata"]


async def test_what_we_created_plainly_does_not_conflict_with_us(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        await shop.apply(shop.desired("a", data={"x": "1", "y": "1"}, policy=Policy(adopt=False)))
        assert await shop.apply(shop.desired("a", data={"x": "2"}, policy=Policy(adopt=False))) == "a=configured"
        assert shop.live("a")["data"] == {"x": "2"}


async def test_another_manager_is_taken_over_by_name(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        given = manifest("a", namespace=namespace, data={"x": "1", "y": "1"})
        shop.kubectl("apply", "--server-side", "--field-manager", "helm", "-f", "-", given=given)
        assert await shop.apply(shop.desired("a", data={"x": "2"}), take_over=("helm",)) == "a=configured"
        assert shop.live("a")["data"] == {"x": "2"}


async def test_a_conflict_names_field_owner_and_ways_out(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        shop.kubectl(
            "apply", "--server-side", "--field-manager", "rival", "-f", "-", given=manifest("a", namespace=namespace, data={"x": "1"})
        )
        assert await shop.apply(shop.desired("a", data={"x": "2"})) == "a=held"
        assert "rival (Apply at " in shop.reason()
        assert "owns data.x with another value: take it (force)" in shop.reason()


@pytest.mark.parametrize(("force", "expected"), [(("rival",), "a=configured"), (("*",), "a=configured"), (("other",), "a=held")])
async def test_fields_are_taken_from_those_that_are_named(
    control_plane: ControlPlane, namespace: str, force: tuple[str, ...], expected: str
) -> None:
    async with opened(control_plane, namespace) as shop:
        shop.kubectl(
            "apply", "--server-side", "--field-manager", "rival", "-f", "-", given=manifest("a", namespace=namespace, data={"x": "1"})
        )
        assert await shop.apply(shop.desired("a", data={"x": "2"}), force_conflicts=force) == expected


async def test_a_conflict_with_who_scaled_names_the_subresource(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        await shop.apply(deployment(shop, replicas=1))
        shop.kubectl("scale", "deployment", "web", "--replicas", "3")
        assert await shop.apply(deployment(shop, replicas=2)) == "web=held"
        assert "kubectl (Update of scale) owns spec.replicas" in shop.reason()


async def test_a_yielded_field_stays_as_others_set_it(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        yields = Policy(yields=("/spec/replicas",))
        await shop.apply(deployment(shop, replicas=1, policy=yields))
        shop.kubectl("scale", "deployment", "web", "--replicas", "3")
        assert await shop.apply(deployment(shop, replicas=1, paused=True, policy=yields)) == "web=configured"
        assert shop.live("web", "deployment")["spec"]["replicas"] == 3


async def test_owner_uids_are_filled_in(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        objects = [shop.desired("child", owner="parent"), shop.desired("parent")]
        assert await shop.apply(*objects) == "parent=created child=created"
        assert shop.live("child")["metadata"]["ownerReferences"][0]["uid"] == uid_of(shop.live("parent"))
        assert await shop.apply(*objects) == "parent=unchanged child=unchanged"


async def test_an_object_with_a_fixed_field_is_made_again(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        await shop.apply(deployment(shop))
        before = uid_of(shop.live("web", "deployment"))
        assert await shop.apply(deployment(shop, app="other", policy=RECREATE)) == "web=recreated"
        assert uid_of(shop.live("web", "deployment")) != before


async def test_an_old_object_that_does_not_go_is_named_with_its_finalizer(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        held = deployment(shop)
        held.manifest["metadata"]["finalizers"] = ["example.com/wait"]
        await shop.apply(held)
        assert await shop.apply(deployment(shop, app="other", policy=RECREATE)) == "web=held"
        assert "held by example.com/wait" in shop.reason()
        shop.kubectl("patch", "deployment", "web", "--type", "json", "-p", '[{"op": "remove", "path": "/metadata/finalizers"}]')
        assert await shop.apply(deployment(shop, app="other")) == "web=created"


async def test_a_definition_and_its_objects_come_in_one_run(control_plane: ControlPlane, namespace: str) -> None:
    group = f"{namespace}.example.com"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    async with opened(control_plane, namespace) as shop:
        crd = definition(group=group, versions=[version], names={"kind": "Engine", "plural": "engines", "singular": "engine"})
        engine = shop.desired("e", "Engine", spec={"fuel": "none"})
        engine = Desired({**engine.manifest, "apiVersion": f"{group}/v1"})
        try:
            assert await shop.apply(engine, crd) == f"engines.{group}=created e=created"
            assert await shop.apply(engine, crd) == f"engines.{group}=unchanged e=unchanged"
        finally:
            control_plane.kubectl("delete", "crd", f"engines.{group}", "--wait=false")


async def test_ownership_in_a_version_that_is_gone_is_put_right(control_plane: ControlPlane, namespace: str) -> None:
    group = f"{namespace}.example.com"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    old = {"name": "v1beta1", "served": True, "storage": False, "schema": schema}
    new = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"kind": "Engine", "plural": "engines", "singular": "engine"}
    async with opened(control_plane, namespace) as shop:

        def engine(version: str, **spec: str) -> Desired:
            return Desired({**manifest("e", "Engine", namespace, spec=spec), "apiVersion": f"{group}/{version}"})

        try:
            await shop.apply(definition(group=group, versions=[new, old], names=names), engine("v1beta1", fuel="gas", gear="1"))
            await shop.apply(definition(group=group, versions=[new], names=names))
            while "v1beta1" in control_plane.kubectl("get", "--raw", f"/apis/{group}").stdout:  # discovery follows the definition
                await asyncio.sleep(0.02)
            async with opened(control_plane, namespace) as later:
                assert await later.apply(engine("v1", fuel="none")) == "e=configured"
            assert shop.live("e", f"engines.{group}")["spec"] == {"fuel": "none"}
        finally:
            control_plane.kubectl("delete", "crd", f"engines.{group}", "--wait=false")


async def test_a_namespace_and_what_is_in_it_come_in_one_run(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        inner = f"{namespace}-inner"
        pod = Desired(manifest("p", "Pod", inner, spec={"containers": [{"name": "main", "image": "example.com/a"}]}))
        try:
            assert await shop.apply(pod, Desired(manifest(inner, "Namespace"))) == f"{inner}=created p=created"
        finally:
            control_plane.kubectl("delete", "namespace", inner, "--wait=false")


async def test_a_namespace_that_goes_away_fails_its_objects_in_one_line(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        shop.kubectl("apply", "-f", "-", given=manifest("a", namespace=namespace, metadata={"finalizers": ["example.com/wait"]}))
        control_plane.kubectl("delete", "namespace", namespace, "--wait=false")
        try:
            assert await shop.apply(shop.desired("b")) == "b=failed"
            assert "being terminated" in shop.reason() or "being deleted" in shop.reason()
            assert "\n" not in shop.reason()
        finally:
            shop.kubectl("patch", "configmap", "a", "--type", "json", "-p", '[{"op": "remove", "path": "/metadata/finalizers"}]')


async def test_a_namespace_that_goes_away_is_made_again_with_what_is_in_it(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        inner = f"{namespace}-inner"
        objects = [Desired(manifest(inner, "Namespace")), Desired(manifest("a", namespace=inner, data={"x": "1"}))]
        try:
            await shop.apply(*objects)
            control_plane.kubectl("delete", "namespace", inner, "--wait=false")
            assert await shop.apply(*objects, timeouts=Timeouts(gone=60)) == f"{inner}=created a=created"
            assert await shop.apply(*objects) == f"{inner}=unchanged a=unchanged"
        finally:
            control_plane.kubectl("delete", "namespace", inner, "--wait=false")


async def test_what_an_object_owns_follows_it_when_it_is_made_again(control_plane: ControlPlane, namespace: str) -> None:
    """The garbage collector may take what is owned away, before or after it gets its new owner."""
    async with opened(control_plane, namespace) as shop:

        def objects(value: str) -> list[Desired]:
            parent = shop.desired("parent", policy=RECREATE, immutable=True, data={"x": value})
            return [parent, *(shop.desired(f"child{number}", owner="parent") for number in range(5))]

        await shop.apply(*objects("1"))
        assert (await shop.apply(*objects("2"))).startswith("parent=recreated")
        assert shop.report.ok, shop.report.problems()
        assert len(set((await shop.apply(*objects("2"))).replace("=", " ").split())) == 7, "all unchanged"


async def test_an_invalid_object_fails_alone_with_the_servers_reason(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        assert await shop.apply(service(shop, ports=[{"port": 99999999}]), shop.desired("a")) == "web=failed a=created"
        assert "spec.ports[0].port" in shop.reason()


async def test_a_denial_by_admission_is_told_in_one_line(control_plane: ControlPlane, namespace: str) -> None:
    """A policy stands for a webhook here: both deny in admission, and the policy needs no server."""
    async with opened(control_plane, namespace) as shop:
        rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
        selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        match = {"namespaceSelector": selector, "resourceRules": rules}
        api = {"apiVersion": "admissionregistration.k8s.io/v1"}
        policy = {
            **api,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": namespace},
            "spec": {
                "matchConstraints": match,
                "validations": [{"expression": "object.metadata.name != 'bad'", "message": "not this name"}],
            },
        }
        binding = {
            **api,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": namespace},
            "spec": {"policyName": namespace, "validationActions": ["Deny"]},
        }
        try:
            assert "failed" not in await shop.apply(Desired(policy), Desired(binding))
            async with asyncio.timeout(60):
                while "failed" not in await shop.apply(shop.desired("bad"), dry_run=True):
                    await asyncio.sleep(0.2)  # the server takes a moment to heed a new policy, and says nowhere when it does
            assert await shop.apply(shop.desired("bad"), shop.desired("good")) == "bad=failed good=created"
            assert "not this name" in shop.reason()
        finally:
            for kind in ("validatingadmissionpolicybinding", "validatingadmissionpolicy"):
                control_plane.kubectl("delete", kind, namespace)


async def test_a_dry_run_is_the_servers_and_writes_nothing(control_plane: ControlPlane, namespace: str) -> None:
    async with opened(control_plane, namespace) as shop:
        await shop.apply(shop.desired("a", data={"x": "1"}))
        assert await shop.apply(shop.desired("a", data={"x": "2"}), shop.desired("b"), dry_run=True) == "a=configured b=created"
        assert shop.live("a")["data"] == {"x": "1"}


@pytest.mark.parametrize("ask_server", [False, True])
async def test_a_diff_shows_what_would_be_there(control_plane: ControlPlane, namespace: str, ask_server: bool) -> None:
    async with opened(control_plane, namespace) as shop:
        await shop.apply(shop.desired("a", data={"x": "1"}), shop.desired("b"))
        graph = Graph([shop.desired("a", data={"x": "2"}), shop.desired("b"), shop.desired("c", data={"x": "1"})])
        found = {one.step.ref.name: one for one in await diff(graph, shop.cluster, ApplyOptions("me"), ask_server=ask_server)}
        assert {name: one.step.action.value for name, one in found.items()} == {"a": "configured", "b": "unchanged", "c": "created"}
        assert [one.merged["data"] for one in (found["a"], found["c"]) if one.merged] == [{"x": "2"}, {"x": "1"}]
        assert found["b"].live == found["b"].merged
