"""Certificates of our own over weeks of virtual time: whatever happens to the Secret, what is shown is what API servers trust."""

from __future__ import annotations

import asyncio
import base64
import copy
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.errors import Forbidden
from applier.ref import Kind, Ref, uid_of
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time, run_virtual
from grove_operator.field_managers import CA_BUNDLE
from grove_operator.install.webhook_configurations import ALWAYS, Installation, webhook_configuration
from grove_operator.webhooks import authority, rotation
from grove_operator.webhooks.authority import read_bundle
from grove_operator.webhooks.certificate import ServedCertificate
from grove_operator.webhooks.shared_certificate import INTERVAL, OVERLAP, PROPAGATION, Service, SharedCertificate
from tests.suite.effort import runs

from .in_memory import cluster_with_webhooks, found

Manifest = dict[str, Any]

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
DAY = 86_400.0
SERVICE = Service("kube-system", "grove-operator")
SECRET = Ref("", "Secret", "kube-system", "certificates")
CONFIGURATIONS = [webhook_configuration(hook, Installation("kube-system")) for hook in ALWAYS]
REFS = [Ref.of(one) for one in CONFIGURATIONS]
STRANGER = {
    **copy.deepcopy(CONFIGURATIONS[1]),
    "metadata": {"name": "strangers"},
    "webhooks": [{"name": "other.example", "clientConfig": {"service": {"namespace": "kube-system", "name": "other"}}}],
}


is_signed_by = cache(authority.is_signed_by)
"""Weeks of looking at the same few certificates verify each of them once."""


@pytest.fixture(autouse=True)
def each_signature_is_verified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authority, "is_signed_by", is_signed_by)


def now() -> float:
    return START + asyncio.get_running_loop().time()


class Recorded(ServedCertificate):
    """Remembers what is shown."""

    shown = b""

    def show(self, certificate: bytes, key: bytes) -> None:
        super().show(certificate, key)
        self.shown = certificate


class Replica:
    """One process of the operator: `told` is what went wrong, `noted` what was news."""

    def __init__(self, cluster: MemoryCluster, clock: Callable[[], float] = now) -> None:
        self.certificate, self.told, self.noted = Recorded(), list[str](), list[str]()
        self.source = SharedCertificate(cluster, "certificates", SERVICE, self.certificate, clock, self.noted.append)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> Replica:
        await self.source.first()
        self._task = asyncio.create_task(self.source.keep_fresh(self.told.append))
        return self

    def kill(self) -> None:
        if self._task:
            self._task.cancel()


def a_cluster() -> MemoryCluster:
    return cluster_with_webhooks(*copy.deepcopy(CONFIGURATIONS), copy.deepcopy(STRANGER))


def bundles(cluster: MemoryCluster) -> list[bytes]:
    """The bundle of each webhook that leads to us."""
    return [base64.b64decode(found(cluster, ref)["webhooks"][0]["clientConfig"].get("caBundle") or "") for ref in REFS]


def is_trusted(shown: bytes, bundle: bytes) -> bool:
    (certificate,) = read_bundle(shown)
    begun = certificate.not_valid_before_utc.timestamp() <= now() < certificate.not_valid_after_utc.timestamp()
    return begun and any(is_signed_by(certificate, issuer) for issuer in read_bundle(bundle))


async def delete_secret(cluster: MemoryCluster) -> None:
    resource = await cluster.resource(Kind("", "v1", "Secret"))
    await cluster.delete(resource, SECRET.namespace, SECRET.name, uid=uid_of(found(cluster, SECRET)))


async def replace_secret(cluster: MemoryCluster) -> None:
    """Somebody brings an authority of their own."""
    time = datetime.fromtimestamp(now(), UTC)
    data = rotation.data_of(rotation.make(rotation.Rotation("replace"), None, time, SERVICE.names))
    await patch_secret(cluster, {"data": data})


async def empty_secret(cluster: MemoryCluster) -> None:
    await patch_secret(cluster, {"data": {"tls.crt": "", "tls.key": ""}})


async def patch_secret(cluster: MemoryCluster, patch: Manifest) -> None:
    resource = await cluster.resource(Kind("", "v1", "Secret"))
    await cluster.patch(resource, SECRET.namespace, SECRET.name, patch)


@in_virtual_time
async def test_the_first_replica_makes_the_secret_and_tells_api_servers() -> None:
    cluster = a_cluster()
    replica = await Replica(cluster).start()
    assert set(found(cluster, SECRET)["data"]) == set(rotation.KEYS)
    assert all(is_trusted(replica.certificate.shown, bundle) for bundle in bundles(cluster))


@in_virtual_time
async def test_no_certificate_is_judged_or_made_by_the_clock_of_a_machine_before_the_server_has_told_its_own() -> None:
    cluster = a_cluster()
    replica = await Replica(cluster, lambda: now() + (0.0 if cluster.log else 9 * DAY)).start()
    assert all(is_trusted(replica.certificate.shown, bundle) for bundle in bundles(cluster))


@in_virtual_time
async def test_a_clock_that_goes_back_does_not_put_off_the_certificate_that_somebody_has_brought() -> None:
    cluster, ahead = a_cluster(), 3600.0
    replica = await Replica(cluster, lambda: now() + ahead).start()
    await replace_secret(cluster)
    await asyncio.sleep(PROPAGATION / 2)
    ahead = 0.0
    await asyncio.sleep(2 * PROPAGATION + INTERVAL)
    assert replica.certificate.shown == base64.b64decode(found(cluster, SECRET)["data"]["tls.crt"])


@in_virtual_time
async def test_webhooks_of_others_are_left_alone() -> None:
    cluster = a_cluster()
    await Replica(cluster).start()
    assert "caBundle" not in found(cluster, Ref.of(STRANGER))["webhooks"][0]["clientConfig"]


@in_virtual_time
async def test_of_a_configuration_nothing_is_owned_but_the_bundle() -> None:
    cluster = a_cluster()
    await Replica(cluster).start()
    for ref in REFS:
        (entry,) = [one for one in found(cluster, ref)["metadata"]["managedFields"] if one["manager"] == CA_BUNDLE]
        (webhooks,) = entry["fieldsV1"].values()
        (webhook,) = webhooks.values()
        assert webhook == {".": {}, "f:name": {}, "f:clientConfig": {"f:caBundle": {}}}


@in_virtual_time
async def test_a_secret_that_a_chart_made_is_filled() -> None:
    cluster = a_cluster()
    empty = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET.name, "namespace": SECRET.namespace}}
    cluster.seed({**empty, "type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}})
    await Replica(cluster).start()
    assert all(found(cluster, SECRET)["data"].values())


@in_virtual_time
async def test_replicas_that_begin_together_show_the_same() -> None:
    cluster = a_cluster()
    replicas = await asyncio.gather(*(Replica(cluster).start() for _ in range(5)))
    assert len({one.certificate.shown for one in replicas}) == 1


@in_virtual_time
async def test_an_idle_day_writes_nothing() -> None:
    cluster = a_cluster()
    await asyncio.gather(*(Replica(cluster).start() for _ in range(2)))
    await asyncio.sleep(2 * OVERLAP)
    cluster.forget_requests()
    await asyncio.sleep(DAY / 8)
    assert cluster.writes() == []


@in_virtual_time
async def test_a_configuration_that_was_installed_anew_is_told_at_once() -> None:
    cluster = a_cluster()
    replica = await Replica(cluster).start()
    cluster.store.remove(REFS[0])
    cluster.seed(copy.deepcopy(CONFIGURATIONS[0]), manager="helm")
    await asyncio.sleep(INTERVAL + 1)
    assert is_trusted(replica.certificate.shown, bundles(cluster)[0])


@in_virtual_time
async def test_a_new_certificate_of_the_same_authority_is_shown_at_once() -> None:
    cluster = a_cluster()
    replica = await Replica(cluster).start()
    before = replica.certificate.shown
    await empty_secret(cluster)
    await asyncio.sleep(INTERVAL + 1)
    # Half a Secret does not tell who signs, so both were made anew, and there is a time for API servers to learn of it.
    await asyncio.sleep(PROPAGATION)
    assert replica.certificate.shown != before


@in_virtual_time
async def test_an_authority_that_signs_no_more_is_dropped_in_the_end() -> None:
    cluster = a_cluster()
    await Replica(cluster).start()
    await delete_secret(cluster)
    await asyncio.sleep(5 * INTERVAL)
    while_rotating = len(read_bundle(bundles(cluster)[0]))
    await asyncio.sleep(OVERLAP + 5 * INTERVAL)
    assert (while_rotating, len(read_bundle(bundles(cluster)[0]))) == (2, 1)


@in_virtual_time
async def test_a_trouble_is_told_once_and_mends_itself() -> None:
    cluster = a_cluster()
    replica = await Replica(cluster).start()
    await delete_secret(cluster)
    refused = Forbidden(403, "Forbidden", "secrets is forbidden")
    cluster.fail(lambda request: request.verb == "create", refused, times=5)
    await asyncio.sleep(20 * INTERVAL)
    assert replica.told == ["certificates: secrets is forbidden"]
    assert set(found(cluster, SECRET)["data"]) == set(rotation.KEYS)


@in_virtual_time
async def test_a_renewal_that_is_refused_is_told_once_while_the_old_certificate_is_valid() -> None:
    cluster = a_cluster()
    (await Replica(cluster).start()).kill()
    await asyncio.sleep(25 * DAY)
    cluster.fail(lambda request: request.verb == "patch", Forbidden(403, "Forbidden", "secrets is forbidden"), times=-1)
    replica = await Replica(cluster).start()
    await asyncio.sleep(20 * INTERVAL)
    assert (replica.noted.count("certificates: secrets is forbidden"), replica.told) == (1, [])
    cluster.faults.clear()
    await asyncio.sleep(5 * INTERVAL)
    assert "the certificate was renewed" in replica.noted


@in_virtual_time
async def test_who_may_not_write_configurations_serves_all_the_same() -> None:
    cluster = a_cluster()
    refused = Forbidden(403, "Forbidden", "apply is forbidden")
    cluster.fail(lambda request: request.verb == "apply", refused, times=-1)
    replica = await Replica(cluster).start()
    assert replica.certificate.shown
    assert replica.noted[-1] == "certificates: apply is forbidden"


@in_virtual_time
async def test_nothing_that_is_told_holds_a_key() -> None:
    cluster = a_cluster()
    replica = await Replica(cluster).start()
    for event in (delete_secret, replace_secret, empty_secret):
        await event(cluster)
        await asyncio.sleep(3 * INTERVAL)
    assert "PRIVATE" not in repr((replica.told, replica.noted, rotation.read(found(cluster, SECRET))))


Event = Callable[[MemoryCluster], Awaitable[None]]
EVENTS: dict[str, Event] = {"deleted": delete_secret, "replaced": replace_secret, "emptied": empty_secret}
LAG = 2.0
"""Seconds that an API server is behind with the bundles in this play."""


async def play(schedule: list[tuple[str, float]], leap: float) -> list[str]:
    """Two replicas, one of which is made anew in between, and what happens to the Secret. Returns when an admission would have failed."""
    cluster = a_cluster()
    replicas = [await Replica(cluster).start(), await Replica(cluster).start()]
    failures: list[str] = []

    async def ask() -> None:
        seen = bundles(cluster)
        while True:
            await asyncio.sleep(LAG)
            for number, replica in enumerate(replicas):
                if not all(is_trusted(replica.certificate.shown, bundle) for bundle in seen):
                    failures.append(f"replica {number} at {asyncio.get_running_loop().time():.0f} s")
            seen = bundles(cluster)

    asking = asyncio.create_task(ask())
    for what, pause in schedule:
        if what == "restarted":
            old, replicas[0] = replicas[0], await Replica(cluster).start()
            old.kill()
        elif cluster.find(SECRET) is not None:
            await EVENTS[what](cluster)
        await asyncio.sleep(pause)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.sleep(leap)
    asking = asyncio.create_task(ask())
    await asyncio.sleep(5 * LAG)
    asking.cancel()
    return failures


@settings(max_examples=runs(25))
@given(
    st.lists(st.tuples(st.sampled_from([*EVENTS, "restarted"]), st.sampled_from([0.0, 1.0, 4.0, 11.0, 60.0])), max_size=6),
    st.sampled_from([0.0, 60.0]),
)
def test_no_admission_fails_whatever_happens_to_the_secret(schedule: list[tuple[str, float]], leap: float) -> None:
    assert run_virtual(play(schedule, leap)) == []


@pytest.mark.parametrize("days", [21, 40])
def test_no_admission_fails_in_weeks_in_which_nothing_happens(days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_operator.webhooks.shared_certificate.INTERVAL", 3600.0)  # so that weeks take seconds
    assert run_virtual(play([], days * DAY)) == []
