"""What a real API server says of pods that it is only to try."""

from __future__ import annotations

import json
from typing import Any

import pytest

from applier.cluster import Cluster
from applier.testing.control_plane import ControlPlane
from applier.transport import connect
from grove_compiler.graph.diagnostic import Diagnostic
from grove_operator.webhooks.pod_trial import PodTrial, TrialOptions
from grove_operator.webhooks.review import Reviewer
from tests.permitted import permitted

pytestmark = pytest.mark.cluster

Manifest = dict[str, Any]
POD_SPEC = "spec.template.cliques[0].spec.podSpec"


@pytest.fixture
def there(there: Manifest) -> Manifest:
    """The small set, with a pod that its namespace takes."""
    containers = there["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"]
    containers[:] = map(permitted, containers)
    return there


async def found(control_plane: ControlPlane, judge: Reviewer, set: Manifest) -> list[Diagnostic]:
    async with connect(kubeconfig=str(control_plane.kubeconfig), user_agent="grove-trial-tests") as cluster:
        return await tried(cluster, judge, set)


async def tried(cluster: Cluster, judge: Reviewer, set: Manifest) -> list[Diagnostic]:
    trial = PodTrial(cluster, TrialOptions("deny", 60.0))
    return await trial.findings({}, set, judge.context, judge.context.settings, None)


async def test_a_pod_that_is_right_passes(namespace: str, control_plane: ControlPlane, judge: Reviewer, there: Manifest) -> None:
    assert await found(control_plane, judge, there) == []
    assert json.loads(control_plane.kubectl("get", "pods", "-n", namespace, "-o", "json").stdout)["items"] == []


async def test_a_class_that_is_not_there_is_told(control_plane: ControlPlane, judge: Reviewer, there: Manifest) -> None:
    there["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["priorityClassName"] = "urgent"
    (finding,) = await found(control_plane, judge, there)
    assert (finding.path, "no PriorityClass with name urgent was found" in finding.message) == (POD_SPEC, True)


async def test_what_a_limit_range_forbids_is_told(namespace: str, control_plane: ControlPlane, judge: Reviewer, there: Manifest) -> None:
    limits = [{"type": "Container", "max": {"cpu": "1"}}]
    metadata = {"name": "small", "namespace": namespace}
    small = {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": limits}}
    control_plane.kubectl("apply", "-f", "-", input=json.dumps(small))
    there["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"cpu": "2"}}
    (finding,) = await found(control_plane, judge, there)
    assert "maximum cpu usage per Container is 1" in finding.message
