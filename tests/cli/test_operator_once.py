"""`grove operator run --once` on recorded objects: what it would write, and nothing where all is as it should be."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from tests.cli.running import Ended, run
from tests.model.sets import clique, pcs
from tests.simulation.sets import demo
from tests.simulation.simulation import running

Objects = list[Manifest]
EXAMPLES = Path(__file__).parents[2] / "examples/rules"


@cache
def _at_rest() -> str:
    return json.dumps(list(running(demo(replicas=2)).world.cluster.store.objects.values()))


def once(folder: Path, change: Callable[[Objects], Any] = lambda _: None, *arguments: str) -> Ended:
    """Looks at a set of two replicas that runs, after somebody has changed something behind the operator's back."""
    objects: Objects = json.loads(_at_rest())
    change(objects)
    (folder / "now.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return run("operator", "run", "--once", "--snapshot", str(folder / "now.json"), *arguments)


def one(objects: Objects, kind: str, name: str) -> Manifest:
    return next(each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name))


def without(kind: str, name: str) -> Callable[[Objects], None]:
    return lambda objects: objects.remove(one(objects, kind, name))


def lines(ended: Ended) -> list[list[str]]:
    """What would be written: the verb, the object and why."""
    return [line.split(None, 2) for line in ended.out.splitlines() if line.startswith("  ")]


def test_where_all_is_as_it_should_be_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert once(tmp_path) == Ended(0, "nothing to do\n", "")


def test_what_is_missing_would_be_made(tmp_path: Path) -> None:
    ended = once(tmp_path, without("Service", "demo-1"))
    assert ended == Ended(1, "PodCliqueSet/default/demo[1]\n  create     Service/default/demo-1\n", "")


def test_kinds_that_a_snapshot_lacks_are_told(tmp_path: Path) -> None:
    def edit(objects: Objects) -> None:
        objects[:] = [one for one in objects if one["kind"] not in ("Service", "ServiceAccount")]

    ended = once(tmp_path, edit)
    assert ended.code == 1
    assert ended.err.startswith("grove: the snapshot has no Service, ServiceAccount: existing ones are listed as if they were created")


def test_a_set_that_does_not_run_yet_lacks_nothing(tmp_path: Path) -> None:
    def edit(objects: Objects) -> None:
        objects[:] = [one for one in objects if one["kind"] == "PodCliqueSet"]

    assert once(tmp_path, edit).err == ""


def test_what_somebody_edited_would_be_put_back(tmp_path: Path) -> None:
    def edit(objects: Objects) -> None:
        one(objects, "PodClique", "demo-0-front")["spec"]["podSpec"]["containers"][0]["image"] = "foreign"

    ended = once(tmp_path, edit)
    assert (ended.code, lines(ended)) == (
        1,
        [["configure", "PodClique.grove.io/default/demo-0-front", "spec.podSpec.containers[0].image"]],
    )


def test_what_is_left_over_would_be_deleted(tmp_path: Path) -> None:
    def edit(objects: Objects) -> None:
        one(objects, "PodCliqueSet", "demo")["spec"]["replicas"] = 1

    found = lines(once(tmp_path, edit))
    assert ["delete", "Service/default/demo-1", "no longer wanted"] in found
    assert not [line for line in found if line[0] == "delete" and "/demo-0" in line[1]]


def test_an_edit_is_told_with_the_event_and_the_status_that_come_first(tmp_path: Path) -> None:
    def edit(objects: Objects) -> None:
        set = one(objects, "PodCliqueSet", "demo")
        set["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = "new"
        set["metadata"]["generation"] += 1

    found = lines(once(tmp_path, edit))
    assert [line[:2] for line in found[:2]] == [[does, "PodCliqueSet.grove.io/default/demo"] for does in ("event", "status")]
    assert found[0][2].startswith("Normal UpdateStarted: ")
    assert "currentGenerationHash" in found[1][2]


def test_it_is_told_what_rules_of_ones_own_would_change(tmp_path: Path) -> None:
    ended = once(tmp_path, lambda _: None, "--rules", str(EXAMPLES / "network-policy"))
    assert ended.code == 1
    assert [line[:2] for line in lines(ended)] == [["create", "NetworkPolicy.networking.k8s.io/default/demo"]]


def test_rules_that_are_wrong_stop_it_before_it_looks(tmp_path: Path) -> None:
    (tmp_path / "house" / "rules").mkdir(parents=True)
    (tmp_path / "house" / "rules" / "one.yaml").write_text("rule: house/one\ndoc: One.\ngenerate: none.yaml\nwhen: set.nme == 1\n")
    ended = once(tmp_path, lambda _: None, "--rules", str(tmp_path / "house"))
    assert (ended.code, ended.out) == (2, "")
    assert "one.yaml" in ended.err and "nme" in ended.err


def test_programs_get_the_same(tmp_path: Path) -> None:
    ended = once(tmp_path, without("Service", "demo-1"), "-o", "json")
    told = {"key": "PodCliqueSet/default/demo[1]", "does": "create", "object": "Service/default/demo-1", "why": ""}
    assert (ended.code, json.loads(ended.out)) == (1, [told])


def test_a_set_that_is_held_is_an_error_with_its_reason(tmp_path: Path) -> None:
    def edit(objects: Objects) -> None:
        edited = one(objects, "PodCliqueSet", "demo")
        edited["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 9
        edited["metadata"]["generation"] += 1

    ended = once(tmp_path, edit)
    assert ended.code == 2
    assert any(does == "hold" and "must not be greater than replicas" in why for does, _, why in lines(ended))
    assert not [line for line in lines(ended) if line[0] in ("delete", "create", "configure")]


def test_nothing_is_made_in_a_namespace_that_goes(tmp_path: Path) -> None:
    """The server would refuse it, and the loop does not try."""

    def edit(objects: Objects) -> None:
        objects.remove(one(objects, "Service", "demo-1"))
        going = {"name": "default", "uid": "uid-default", "deletionTimestamp": "2026-01-01T00:00:00Z"}
        objects[:] = [each for each in objects if each["kind"] != "Namespace"]
        objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": going})

    assert not [line for line in lines(once(tmp_path, edit)) if line[0] == "create"]


def test_a_claim_template_that_is_not_there_is_told_as_the_operator_tells_it(tmp_path: Path) -> None:
    """First by the PodCliques, from which the set has it: what follows from that is for the next look."""

    def edit(objects: Objects) -> None:
        set = one(objects, "PodCliqueSet", "demo")
        sharing = set["spec"]["template"]["resourceSharing"] = [{"name": "ext", "scope": "AllReplicas"}]
        set["metadata"]["generation"] += 1
        for revision in (each for each in objects if each["kind"] == "ControllerRevision"):  # so it was from the start
            revision["data"]["immutable"]["spec"]["template"]["resourceSharing"] = sharing

    told = [line for line in lines(once(tmp_path, edit)) if line[1] == "PodClique.grove.io/default/demo-0-front"]
    assert told == [["status", "PodClique.grove.io/default/demo-0-front", "conditions"]]


def test_another_namespace_is_left_alone(tmp_path: Path) -> None:
    assert once(tmp_path, without("Service", "demo-1"), "-n", "other") == Ended(0, "nothing to do\n", "")


def test_objects_without_a_namespace_are_in_the_default_one(tmp_path: Path) -> None:
    """As those of files that people write: an autoscaler that scales a training workload holds it, wherever the operator looks for it."""
    target = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "demo-0-work"}
    scales: Manifest = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}}
    scales["spec"] = {"maxReplicas": 3, "scaleTargetRef": target}
    job = pcs([clique("work", 1)], metadata={"name": "demo", "generation": 1})
    del job["metadata"]["namespace"]
    job["spec"]["workloadType"] = "Training"
    (tmp_path / "now.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [job, scales]}))
    ended = run("operator", "run", "--once", "--snapshot", str(tmp_path / "now.json"))
    assert ["hold", "PodCliqueSet/default/demo"] in [line[:2] for line in lines(ended)]


@pytest.mark.parametrize("text", ["", "kind: [", "apiVersion: v1\nkind: List\nitems: [{kind: Pod}]\n"])
def test_a_file_that_holds_no_objects_is_told_of(tmp_path: Path, text: str) -> None:
    (tmp_path / "now.yaml").write_text(text)
    ended = run("operator", "run", "--once", "--snapshot", str(tmp_path / "now.yaml"))
    assert (ended.code, ended.out) == (2, "")
    assert "now.yaml" in ended.err
    assert "internal error" not in ended.err


@pytest.mark.parametrize("option", [("--snapshot", "now.yaml"), ("-o", "json")])
def test_what_only_a_single_look_takes_is_refused_without_it(option: tuple[str, str]) -> None:
    ended = run("operator", "run", *option)
    assert ended.code == 2
    assert "--once" in ended.err
