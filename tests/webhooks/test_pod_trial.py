"""Pods of a set are tried before the set is taken: which ones, what is told of a refusal, and what keeps nobody out."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import pytest

from applier.errors import ApiError, ApplierError, Cause, Forbidden, Invalid, ServerFailure, Unreachable
from applier.ref import Manifest
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import run_virtual
from grove_compiler.graph.diagnostic import Diagnostic
from grove_operator.webhooks.pod_trial import MAX_PODS, Mode, PodTrial, TrialOptions
from grove_operator.webhooks.review import Reviewer
from grove_operator.webhooks.share import Share

IMAGE = Cause("FieldValueInvalid", "spec.containers[0].image", 'Invalid value: "": must not be empty')


@pytest.fixture
def pair(workload: Manifest) -> Manifest:
    """A set of two cliques."""
    template = workload["spec"]["template"]
    other = copy.deepcopy(template["cliques"][0])
    other["name"] = other["spec"]["roleName"] = "router"
    template["cliques"].append(other)
    return workload


class Tried(MemoryCluster):
    """A cluster that remembers the pods that it was to try, and refuses them as a test says."""

    def __init__(self, refuse: Callable[[Manifest], ApplierError | None] = lambda _: None) -> None:
        super().__init__(namespaces=["team"])
        self.tried: list[Manifest] = []
        self.refuse = refuse

    async def create(self, resource: Any, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        assert dry_run
        self.tried.append(manifest)
        if error := self.refuse(manifest):
            raise error
        return await super().create(resource, manifest, manager=manager, dry_run=dry_run)

    def cliques(self) -> list[str]:
        return sorted(pod["metadata"]["labels"]["grove.io/podclique"] for pod in self.tried)


def found(
    judge: Reviewer, cluster: Tried, old: Manifest, new: Manifest, mode: Mode = "warn", share: Share | None = None
) -> list[Diagnostic]:
    trial = PodTrial(cluster, TrialOptions(mode), share)
    return run_virtual(trial.findings(old, new, judge.context, judge.context.settings, None))


def refused(error: ApiError | ApplierError) -> Callable[[Manifest], ApplierError | None]:
    return lambda _: error


def invalid(*causes: Cause) -> Invalid:
    return Invalid(422, "Invalid", "Pod is invalid", causes)


def test_a_pod_of_each_clique_of_a_new_set_is_tried(judge: Reviewer, pair: Manifest) -> None:
    cluster = Tried()
    assert found(judge, cluster, {}, pair) == []
    assert cluster.cliques() == ["chat-0-router", "chat-0-worker"]


def test_pods_of_a_set_with_warnings_are_tried(judge: Reviewer, workload: Manifest) -> None:
    twice = [{"name": "MODEL", "value": "a"}, {"name": "MODEL", "value": "b"}]
    workload["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["env"] = twice
    cluster = Tried()
    found(judge, cluster, {}, workload)
    assert cluster.cliques() == ["chat-0-worker"]


def test_nothing_comes_of_a_trial(judge: Reviewer, pair: Manifest) -> None:
    cluster = Tried()
    found(judge, cluster, {}, pair)
    assert list(cluster.store.of("", "Pod")) == []


def test_what_is_tried_is_what_the_operator_makes(judge: Reviewer, pair: Manifest) -> None:
    cluster = Tried()
    found(judge, cluster, {}, pair)
    pod = cluster.tried[0]
    assert {"GROVE_PCS_NAME", "GROVE_PCLQ_POD_INDEX"} <= {one["name"] for one in pod["spec"]["containers"][0]["env"]}
    assert pod["spec"]["schedulingGates"]


def test_a_trial_needs_nothing_that_is_made_with_the_set(judge: Reviewer, pair: Manifest) -> None:
    cluster = Tried()
    found(judge, cluster, {}, pair)
    for pod in cluster.tried:
        assert "ownerReferences" not in pod["metadata"]
        assert "serviceAccountName" not in pod["spec"]


def test_a_service_account_that_somebody_names_is_tried_with_it(judge: Reviewer, workload: Manifest) -> None:
    workload["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["serviceAccountName"] = "mine"
    cluster = Tried()
    found(judge, cluster, {}, workload)
    assert cluster.tried[0]["spec"]["serviceAccountName"] == "mine"


def test_of_an_edit_only_templates_that_changed_are_tried(judge: Reviewer, pair: Manifest) -> None:
    new = copy.deepcopy(pair)
    new["spec"]["template"]["cliques"][1]["spec"]["podSpec"]["containers"][0]["image"] = "engine:2"
    cluster = Tried()
    found(judge, cluster, pair, new)
    assert cluster.cliques() == ["chat-0-router"]


def test_an_edit_of_no_template_tries_nothing(judge: Reviewer, pair: Manifest) -> None:
    new = copy.deepcopy(pair)
    new["spec"]["replicas"] = 3
    cluster = Tried()
    found(judge, cluster, pair, new)
    assert cluster.tried == []


def test_however_many_replicas_there_are_one_pod_is_tried(judge: Reviewer, workload: Manifest) -> None:
    workload["spec"]["replicas"] = 100_000
    workload["spec"]["template"]["cliques"][0]["spec"] |= {"replicas": 100_000, "minAvailable": 100_000}
    cluster = Tried()
    found(judge, cluster, {}, workload)
    assert len(cluster.tried) == 1


def test_a_refusal_is_told_with_the_field_of_the_set(judge: Reviewer, workload: Manifest) -> None:
    (finding,) = found(judge, Tried(refused(invalid(IMAGE))), {}, workload)
    assert (finding.severity, finding.path) == ("warning", "spec.template.cliques[0].spec.podSpec.containers[0].image")
    assert finding.message == 'the API server rejects pods of clique "worker": Invalid value: "": must not be empty'


def test_a_field_behind_what_the_operator_puts_first_is_that_of_the_set(judge: Reviewer, pair: Manifest) -> None:
    """Where cliques start one after the other, a container that waits comes before those of the template."""
    pair["spec"]["template"]["cliqueStartupType"] = "CliqueStartupTypeInOrder"
    pair["spec"]["template"]["cliques"][1]["spec"]["podSpec"]["initContainers"] = [{"name": "own", "image": "own:1"}]

    def refuse(pod: Manifest) -> ApplierError | None:
        names = [one["name"] for one in pod["spec"].get("initContainers", [])]
        return invalid(Cause("", f"spec.initContainers[{names.index('own')}].image", "is wrong")) if "own" in names else None

    (finding,) = found(judge, Tried(refuse), {}, pair)
    assert finding.path == "spec.template.cliques[1].spec.podSpec.initContainers[0].image"


def test_what_is_about_no_field_is_told_of_the_pod_spec(judge: Reviewer, workload: Manifest) -> None:
    error = Forbidden(403, "Forbidden", 'violates PodSecurity "restricted:latest"')
    (finding,) = found(judge, Tried(refused(error)), {}, workload)
    assert (finding.path, "restricted" in finding.message) == ("spec.template.cliques[0].spec.podSpec", True)


def test_by_configuration_a_refusal_is_an_error(judge: Reviewer, workload: Manifest) -> None:
    (finding,) = found(judge, Tried(refused(invalid(IMAGE))), {}, workload, "deny")
    assert finding.severity == "error"


def test_by_configuration_nothing_is_tried(judge: Reviewer, workload: Manifest) -> None:
    cluster = Tried(refused(invalid(IMAGE)))
    assert (found(judge, cluster, {}, workload, "off"), cluster.tried) == ([], [])


HARMLESS = {
    "a quota that is used up": Forbidden(403, "Forbidden", 'pods "x" is forbidden: exceeded quota: few, requested: pods=1'),
    "another webhook that takes no trials": Invalid(400, "BadRequest", 'admission webhook "x" does not support dry run'),
    "a server in trouble": ServerFailure(500, "InternalError", "etcd is away"),
    "no answer": Unreachable("connection refused"),
}


@pytest.mark.parametrize("error", HARMLESS.values(), ids=HARMLESS)
def test_what_says_nothing_of_the_template_keeps_nobody_out(error: ApplierError, judge: Reviewer, workload: Manifest) -> None:
    assert found(judge, Tried(refused(error)), {}, workload, "deny") == []


def test_a_server_that_is_slow_keeps_nobody_waiting(judge: Reviewer, workload: Manifest) -> None:
    class Slow(Tried):
        async def create(self, *arguments: Any, **options: Any) -> Manifest:
            await asyncio.sleep(3600)
            raise AssertionError

    async def taken() -> float:
        trial = PodTrial(Slow(), TrialOptions("deny", 3.0))
        assert await trial.findings({}, workload, judge.context, judge.context.settings, None) == []
        return asyncio.get_running_loop().time()

    assert run_virtual(taken()) == 3.0


def test_of_very_many_cliques_only_some_are_tried(judge: Reviewer, workload: Manifest) -> None:
    (clique,) = workload["spec"]["template"]["cliques"]
    cliques = [{**clique, "name": f"c{number}", "spec": {**clique["spec"], "roleName": f"c{number}"}} for number in range(MAX_PODS + 5)]
    workload["spec"]["template"]["cliques"] = cliques
    cluster = Tried()
    found(judge, cluster, {}, workload)
    assert len(cluster.tried) == MAX_PODS


@pytest.mark.parametrize(("mode", "tried"), [("warn", 0), ("deny", 1)])
def test_when_others_were_just_tried_warnings_can_wait(mode: Mode, tried: int, judge: Reviewer, workload: Manifest) -> None:
    ticks = iter([0.0, 10.0])
    share = Share(lambda: next(ticks, 20.0))
    with share.work():
        pass
    cluster = Tried()
    found(judge, cluster, {}, workload, mode, share)
    assert len(cluster.tried) == tried


def test_a_set_that_cannot_be_compiled_is_told_by_others(judge: Reviewer, workload: Manifest) -> None:
    workload["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"] = []
    cluster = Tried()
    assert (found(judge, cluster, {}, workload), cluster.tried) == ([], [])
