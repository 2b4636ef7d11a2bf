"""Where the shipped operator came to rest, we would write what stands there: nothing, but for what is better on purpose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from grove_compiler.step import StepResult
from tests.conformance.compare import differences
from tests.status.live_cases import LiveStep, Manifest, read_live_steps, statuses, steps_of
from tests.suite.rows import rows

GROVE_KINDS = ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "PodGang")
RECORDED = (*GROVE_KINDS, "Pod", "Service", "HorizontalPodAutoscaler", "ResourceClaim", "ComputeDomain", "PodGroup")
STEPS = read_live_steps()
REFUSED = "refused-pods/create"


class Better(NamedTuple):
    """Lines of a kind on which we differ, and why."""

    lines: str
    reason: str


STATUS = [
    Better(
        r".*: PodClique \S+-sg-\d+-\S+\.hpaPodSelector: .* theirs null", "members of scaling groups can be scaled, too, so they say by what"
    ),
    Better(
        r".*: PodClique \S+\.scheduleGatedReplicas: ours 0 .*", "a pod has a gate or not; they ask a condition that a scheduler mends later"
    ),
    Better(r".*: \w+ \S+\.lastErrors: ours null .*", "an error that is over is not told any more"),
    Better(r"mnnvl-group/.*: PodCliqueSet \S+\.computeDomains: .*", "a set says how its domains stand"),
    Better(r".*/zero: PodCliqueSet \S+\.replicas: ours 0 theirs null", "none is a number"),
    Better(
        r"refused-pods/create: \w+ ref(-0-front)?\.(observedGeneration|replicas|condition \w+): .* theirs null",
        "people look at a status first of all when pods cannot be made",
    ),
]
GRAPH = [
    Better(r"drift-podclique/\w+: Pod(Clique)? plain-0-sg-0-pre\S*\.spec\.\S*: .*", "a foreign edit of a member goes back, too"),
    Better(r"drift-podclique/labels: PodClique plain-0-front\.metadata\.labels\.\S+: .*", "a foreign edit of labels goes back at once"),
    Better(r"hpa/edit: PodGang \S+\.metadata\.labels\.x: .*", "a set's label reaches its gangs at once"),
    Better(
        r"kai-set/\S+: Pod(Gang|Group) \S+\.(labels\.\S+|spec\.queue): .*", "a set's queue and labels reach gangs and PodGroups at once"
    ),
    Better(r"kai-set/\S+: PodGroup kai-0: only we make it", "a PodGroup that somebody deleted is made again"),
    Better(r"mnnvl-group/zero: ComputeDomain link-0-main: only the shipped .*", "a domain goes with the last pod that could use it"),
    Better(r"refused-pods/create: Pod ref-0-front-\d: only we make it", "what the server refuses is tried again"),
    Better(r"refused-pods/create: PodGang ref-0\S+podReferences: ours 2, theirs 0", "a gang names its pods from the start"),
    Better(r"resource-sharing/\S+: ResourceClaim share-0-front-[01]-a: only .*", "a claim stays with its pod, whatever the index"),
    Better(r".*: Service \S+: only the shipped operator makes it", "a Service goes with its replica"),
]
NOT_OURS = re.compile(
    r"\.metadata\.deletion\w+: ours lacks"  # of what somebody deletes
    r"|ResourceClaim \S+\.metadata\.finalizers: ours lacks \['resource.kubernetes.io/delete-protection'\]"
    r"|Pod \S+\.spec\.(nodeName|priority|preemptionPolicy): ours lacks"  # of admission and schedulers
    r"|on-delete/\S+ Pod \S+-front-"  # old pods are left as they are until somebody deletes them
)


@pytest.mark.skipif(not STEPS, reason="the recorded cases are not there")
@rows("live", STEPS, ids=lambda live: live.name)
def test_what_we_would_write_is_what_stands_there(live: LiveStep) -> None:
    made = steps_of(live)
    assert [line for line in status_lines(live, made) if not any(re.fullmatch(one.lines, line) for one in STATUS)] == []
    assert [line for line in graph_lines(live, made) if not any(re.fullmatch(one.lines, line) for one in GRAPH)] == []
    told = [one.reason for each in made for one in each.events]
    assert told == (["SchedulingGateRemoved"] * 3 if live.name == REFUSED else []), "a gang that is not whole waits; theirs did not"
    assert [one for each in made for one in each.deletions] == []


@pytest.mark.skipif(not STEPS, reason="the recorded cases are not there")
def test_we_differ_in_all_that_we_claim() -> None:
    steps = [(live, steps_of(live)) for live in STEPS]
    lines = [line for live, made in steps for line in (*status_lines(live, made), *graph_lines(live, made))]
    assert [one.reason for one in (*STATUS, *GRAPH) if not any(re.fullmatch(one.lines, line) for line in lines)] == []


def status_lines(live: LiveStep, made: list[StepResult]) -> Iterator[str]:
    """One line for each field of a status that differs, and for each condition; times and what conditions are about aside."""
    ours = statuses(live, made)
    for manifest in live.objects:
        if manifest["kind"] in GROVE_KINDS:
            name = f"{manifest['kind']} {manifest['metadata']['name']}"
            mine, theirs = comparable(ours[name]), comparable(manifest["status"])
            for field in sorted(mine.keys() | theirs.keys()):
                if mine.get(field) != theirs.get(field):
                    yield f"{live.name}: {name}.{field}: ours {json.dumps(mine.get(field))} theirs {json.dumps(theirs.get(field))}"


def comparable(status: Manifest) -> dict[str, Any]:
    conditions = {f"condition {one['type']}": (one["status"], one["reason"], one["message"]) for one in status.get("conditions", [])}
    return {field: value for field, value in status.items() if field != "conditions"} | conditions


def graph_lines(live: LiveStep, made: list[StepResult]) -> Iterator[str]:
    nodes = [node for each in made for node in each.graph.nodes if node.object["kind"] in RECORDED]
    for line in differences([node.object for node in nodes], live.objects):
        if not NOT_OURS.search(f"{live.name} {line}"):
            yield f"{live.name}: {line}"
