"""The cases that the shipped operator ran: after each step there is what it made, but for what is better on purpose."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.transport import connect
from grove_compiler.api.crd import crds
from tests.compiled_schemas import share
from tests.conformance.cases import CONFIGURATION, FOLDER
from tests.definitions import definition, serve
from tests.invariants.plane import judged_plane

from .conftest import node
from .mirror import Mirror, mirrored
from .recorded_cases import RecordedStep, differences, names, namespace_of, steps
from .resource_versions import served_version
from .world import LiveCluster

pytestmark = [pytest.mark.cluster("kwok", "kube-scheduler", "kube-controller-manager"), pytest.mark.timeout(400)]

NODES = 20
PATIENCE = 180.0
"""Seconds after which a difference is taken for one that stays."""
LISTED = (
    Kind("grove.io", "v1alpha1", "PodCliqueSet"),
    Kind("grove.io", "v1alpha1", "PodClique"),
    Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup"),
    Kind("scheduler.grove.io", "v1alpha1", "PodGang"),
    Kind("", "v1", "Pod"),
    Kind("", "v1", "Service"),
    Kind("autoscaling", "v2", "HorizontalPodAutoscaler"),
    Kind("resource.nvidia.com", "v1beta1", "ComputeDomain"),
    Kind("scheduling.run.ai", "v2alpha2", "PodGroup"),
)
FOREIGN = (
    ("resource.nvidia.com", "v1beta1", "ComputeDomain", "computedomains", "Namespaced"),
    ("scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups", "Namespaced"),
    ("scheduling.run.ai", "v2", "Queue", "queues", "Cluster"),
    ("kai.scheduler", "v1alpha1", "Topology", "topologies", "Cluster"),
)
"""Kinds of NVIDIA's driver and of KAI: nobody acts on them here, as where the cases were recorded."""


class Better(NamedTuple):
    """Lines of a kind on which we differ on purpose: why is told by the row of docs/differences.md that begins so."""

    lines: str
    row: str


DELETED = "a deleted PodGang, PodGroup, Service or PodClique; a label that someone edits"
MEMBER = "a PodClique of a scaling group whose pod template someone edits"
WAITING = "pods that wait for a template of their claims"
PENDING = "a set that has waited for 30 s for pods"
REFUSED = "an object that the server rejects, such as a pod"
INIT_CONTAINER = "resources and security context of `grove-initc`"
BETTER = [
    Better(
        r".*PodClique/\S+-sg-\d+-\S+\.status\.hpaPodSelector: .* theirs .<absent>.", "`hpaPodSelector` of a PodClique in a scaling group"
    ),
    Better(r".*\.status\.scheduleGatedReplicas: ours 0 .*", "`scheduleGatedReplicas`"),
    Better(r".*\.status\.lastErrors: ours .<absent>. .*", "`lastErrors`"),
    Better(r"mnnvl-group/create\..*\.conditions\.ResourceClaimTemplatesUnavailable: .* theirs .<absent>.", WAITING),
    Better(r".*PodCliqueSet/\S+\.status\.conditions\.WhyPending: .* theirs .<absent>.", PENDING),
    Better(r".*PodCliqueSet/\S+\.status\.replicas: ours 0 theirs .<absent>.", "`replicas` of a set without replicas"),
    Better(r".*Service/\S+: ours .<absent>. .*", "Services of replicas that are gone"),
    Better(r"mnnvl-group/.*PodCliqueSet/link\.status\.computeDomains: .* theirs .<absent>.", "`computeDomains` of a set"),
    Better(r"mnnvl-group/zero.ComputeDomain/link-0-main: ours .<absent>. .*", "ComputeDomains of a set without replicas"),
    Better(r"resource-sharing/.*Pod/share-0-front-[01]: .*", "which of equal pods goes when a clique is scaled in"),
    Better(r"drift-podclique/.*Pod(Clique)?/plain-0-sg-0-pre\S*\.spec\.\S+: .*", MEMBER),
    Better(r"drift-podclique/labels.*\.labels\.grove.io/podgang: .*", DELETED),
    Better(r"drift-podclique/.*\.labels\.mine: ours .x. .*", "a label that someone adds to an object of ours"),
    Better(r"hpa/edit.PodGang/\S+\.labels\.x: .*", "labels and the queue of a set that change"),
    Better(r"kai-set/.*Pod(Gang|Group)/\S+\.(labels\.\S+|spec\.queue): .*", "labels and the queue of a set that change"),
    Better(r"refused-pods/create\.\w+/ref(-0(-front|-sg(-0-\w+(-\d)?)?)?)?\.(status|spec\.podgroups).*", REFUSED),
    Better(r"kai-set/.*PodGroup/kai-0: .* theirs .<absent>.", DELETED),
    Better(r"ordered/.*Pod/\S+\.spec\.initContainers\[0\]\.(resources|securityContext): .* theirs .<absent>.", INIT_CONTAINER),
]
REST = 1.0
"""Seconds without a change after which a step is over, where none of those below is needed."""
LONGER = {
    "gang-termination/unready": 8.0,  # longer than the delay of the termination
    "breach-recovered/breach": 16.0,  # what was unready for some of 15 seconds must not be terminated later
    "breach-recovered/front": 16.0,
    "mnnvl-group/templates": 6.0,  # the scheduler looks again at what it found no place for
    "node-deleted/node": 62.0,  # Kubernetes collects the pods of a node that is gone after 40 to 60 s
}
V1 = pytest.mark.served_since("1.34", "resource.k8s.io/v1")
CLAIMING = ("mnnvl-group", "resource-sharing")
"""Cases whose recorded steps create DeviceClasses and ResourceSlices of this version."""


def test_the_documentation_tells_why_we_differ() -> None:
    page = (Path(__file__).parents[3] / "docs/differences.md").read_text()
    assert [one.row for one in BETTER if f"| {one.row} | " not in page] == []


@pytest.fixture(scope="module")
def recorded_plane() -> Iterator[ControlPlane]:
    """A control plane like that of the records: the one that other tests share has no driver and no topologies."""
    with judged_plane() as plane:
        serve(plane, [*crds(), *(definition(*one) for one in FOREIGN)])
        topologies = list(yaml.safe_load_all((FOLDER / "topologies.yaml").read_text()))
        plane.objects.apply([*map(gpu_node, range(NODES)), *topologies])
        yield plane


def gpu_node(number: int) -> Manifest:
    made = node(number)
    made["metadata"]["name"] = f"kwok-{number}"  # by this name the steps that bind pods look for them
    made["status"] = {each: {**size, "nvidia.com/gpu": "8"} for each, size in made["status"].items()}
    return made


@pytest.fixture
async def world(recorded_plane: ControlPlane, case: str) -> AsyncIterator[LiveCluster]:
    """The operator at work, configured as the shipped one was."""
    async with connect(kubeconfig=str(recorded_plane.kubeconfig), user_agent="grove-operator-tests") as cluster:
        recorded_plane.kubectl("create", "namespace", namespace_of(case))
        there = LiveCluster(recorded_plane, share(cluster, recorded_plane), namespace_of(case))
        await there.start(everywhere=True, config=CONFIGURATION)
        try:
            yield there
        finally:
            await there.stop()
            recorded_plane.delete_namespace(namespace_of(case))


async def differing(there: Mirror, step: RecordedStep, rest: float) -> list[str]:
    """Where it stays different from what was recorded, when all has come to rest."""
    clock = asyncio.get_running_loop().time
    began = clock()
    while found := list(unexplained(step, await there.at_rest(rest))):
        if clock() - began > PATIENCE:
            break
    return found


def unexplained(step: RecordedStep, there: list[Manifest]) -> Iterator[str]:
    """The differences that nobody has wanted."""
    for line in differences(there, step.objects):
        if not any(re.fullmatch(one.lines, f"{step.name}{line}") for one in BETTER):
            yield f"{step.name}{line}"


@pytest.mark.parametrize("case", [pytest.param(case, marks=V1 if case in CLAIMING else ()) for case in names()])
async def test_each_step_ends_as_it_did_with_the_shipped_operator(case: str, world: LiveCluster) -> None:
    found = []
    kinds = (*LISTED, Kind("resource.k8s.io", served_version(), "ResourceClaim"))
    async with mirrored(world.cluster, kinds, world.namespace) as there:
        for step in steps(case, world.plane):
            try:
                await asyncio.to_thread(step.intervention, world.namespace)
                found += await differing(there, step, LONGER.get(step.name, REST))
            finally:
                await asyncio.to_thread(step.ends)
    assert "\n".join(found) == ""
