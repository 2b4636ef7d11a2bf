"""What becomes of pods and gangs while the webhook or the API server is away, and once it is back."""

from __future__ import annotations

import time

import pytest

from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from tests.applier.transport.certificates import needs_openssl

from .admission import NAMES, Admission

pytestmark = [pytest.mark.cluster("kube-controller-manager"), needs_openssl]
AWAY = 3.0
"""Seconds. Whatever is asked meanwhile fails."""


def test_without_the_webhook_pods_are_made_as_its_policy_says(admission: Admission) -> None:
    admission.stop()
    for policy, is_made in (("Ignore", True), ("Fail", False)):
        admission.configure(policy)
        admission.wait_for(lambda: admission.would_create() is is_made, f"{policy} was not followed")  # noqa: B023 - in this very round


def test_pods_that_were_refused_without_the_webhook_come_with_checks_once_it_is_back(admission: Admission) -> None:
    admission.stop()
    admission.wait_for(lambda: not admission.would_create(), "the policy was not followed")
    admission.create("made", owner="ReplicaSet")
    refused = "events --field-selector reason=FailedCreate"
    admission.wait_for(lambda: bool(admission.items(refused)), "nobody was told of the refused pod")
    assert admission.checks() == []
    admission.start()
    admission.wait_for(lambda: admission.checks() == [NAMES], "the owner did not try again")


def test_a_gang_goes_on_forming_once_an_api_server_is_back_that_was_away(own: Admission) -> None:
    own.create("pod-0")
    own.give_address("pod-0", "10.0.1.0")
    own.wait_for(lambda: own.peers() == ["pod-0:10.0.1.0"], "the first pod did not register")
    server = own.plane.server("kube-apiserver")
    server.stop()
    time.sleep(AWAY)
    server.start()
    own.wait_for(lambda: answers(own.plane), "the server did not come back")
    own.create("pod-1")
    own.give_address("pod-1", "10.0.1.1")
    own.wait_for(lambda: own.peers() == ["pod-0:10.0.1.0", "pod-1:10.0.1.1"], "the gang did not form")
    assert own.process.poll() is None, "the controller has ended"


def test_a_pod_that_is_replaced_while_the_controller_is_away_is_replaced_among_the_peers(own: Admission) -> None:
    for number in range(2):
        own.create(f"pod-{number}")
        own.give_address(f"pod-{number}", f"10.0.1.{number}")
    own.wait_for(lambda: len(own.peers()) == 2, "the gang did not form")
    own.configure("Ignore")
    own.stop()
    own.remove("pod-1")
    own.kubectl("delete", "configmap", "preflight-g1")
    own.start()
    own.wait_for(lambda: own.peers() == ["pod-0:10.0.1.0"], "the peers are not those that there are")


def answers(plane: ControlPlane) -> bool:
    try:
        plane.kubectl("get", "--raw", "/readyz")
    except ControlPlaneError:
        return False
    return True
