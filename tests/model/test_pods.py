"""Which pods a clique has: their indices, their names, and which of too many go."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.model import names
from grove_compiler.model.expanded.claims import pod_claim_names
from grove_compiler.model.expanded.pods import Pod
from grove_compiler.model.expanded.pods import pods as pods_of
from tests.suite.rows import rows

from .sets import Manifest, clique, existing, existing_pod, expand, pcs

A = "demo-0-a"
GONE = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def pods(replicas: int, snapshot: list[Manifest] | None = None) -> list[Pod]:
    """The pods of a clique that exists, with a number of replicas that somebody set."""
    owner = existing("PodClique", A, spec={"replicas": replicas})
    found = expand(pcs([clique("a", replicas=9)]), [owner, *(snapshot or [])] if snapshot is not None else [])
    return pods_of(found.replicas[0].cliques[0])


def indices(found: list[Pod]) -> list[int]:
    return [pod.index for pod in found]


def kept(found: list[Pod]) -> list[str]:
    return [pod.name for pod in found if pod.existing]


def test_at_first_all_pods_are_new_and_gated() -> None:
    found = pods_of(expand(pcs([clique("a", replicas=3)])).replicas[0].cliques[0])
    assert indices(found) == [0, 1, 2]
    assert [pod.hostname for pod in found] == [f"{A}-0", f"{A}-1", f"{A}-2"]
    assert [(pod.existing, pod.gated) for pod in found] == [(False, True)] * 3
    assert [pod.name for pod in found] == [names.pod(A, index, ().__contains__) for index in range(3)]


def test_names_do_not_depend_on_whether_the_clique_exists() -> None:
    """Otherwise a pod that was planned together with its clique would be planned again under another name."""
    before = pods_of(expand(pcs([clique("a", replicas=2)])).replicas[0].cliques[0])
    assert [pod.name for pod in pods(2, [])] == [pod.name for pod in before]


def test_pods_that_exist_keep_their_names_and_indices() -> None:
    found = pods(3, [existing_pod(A, "zzzzz", 2), existing_pod(A, "xxxxx", 0)])
    assert [(pod.index, pod.existing) for pod in found] == [(0, True), (1, False), (2, True)]
    assert kept(found) == [f"{A}-xxxxx", f"{A}-zzzzz"]


def test_the_lowest_free_indices_are_filled() -> None:
    found = pods(4, [existing_pod(A, "zzzzz", 1), existing_pod(A, "xxxxx", 7)])
    assert indices(found) == [0, 1, 2, 7]


def test_a_pod_without_the_label_is_known_by_its_hostname() -> None:
    pod = existing_pod(A, "zzzzz", 1)
    del pod["metadata"]["labels"]["grove.io/podclique-pod-index"]
    assert kept(pods(2, [pod])) == [f"{A}-zzzzz"]
    assert indices(pods(2, [pod])) == [0, 1]


def test_a_pod_that_tells_no_index_holds_none() -> None:
    pod = existing_pod(A, "zzzzz", 1, spec={"hostname": "own-name"})
    del pod["metadata"]["labels"]["grove.io/podclique-pod-index"]
    assert kept(pods(1, [pod])) == []


def test_a_pod_that_goes_gives_its_index_up() -> None:
    found = pods(1, [existing_pod(A, "zzzzz", 0, metadata=GONE)])
    assert [(pod.index, pod.existing) for pod in found] == [(0, False)]


def test_the_name_of_a_pod_that_goes_stays_taken_while_it_exists() -> None:
    former = names.pod(A, 0, ().__contains__)
    found = pods(1, [existing_pod(A, former.removeprefix(f"{A}-"), 0, metadata=GONE)])
    assert found[0].name == names.pod(A, 0, {former}.__contains__)


ENDED = [{"status": {"phase": "Failed"}}, {"status": {"phase": "Succeeded"}}]


@pytest.mark.parametrize("parts", ENDED)
def test_a_pod_that_has_finished_keeps_its_index_until_it_is_deleted(parts: Any) -> None:
    assert kept(pods(1, [existing_pod(A, "zzzzz", 0, **parts)])) == [f"{A}-zzzzz"]


@pytest.mark.parametrize("parts", ENDED)
def test_a_pod_that_has_finished_takes_no_index_from_one_that_runs(parts: Any) -> None:
    assert kept(pods(1, [existing_pod(A, "older", 0, **parts), existing_pod(A, "zzzzz", 0)])) == [f"{A}-zzzzz"]


@pytest.mark.parametrize("parts", ENDED)
def test_of_too_many_pods_one_that_has_finished_goes_first(parts: Any) -> None:
    assert kept(pods(1, [existing_pod(A, "older", 0, **parts), existing_pod(A, "zzzzz", 1)])) == [f"{A}-zzzzz"]


def test_a_name_that_somebody_elses_pod_has_is_taken() -> None:
    former = names.pod(A, 0, ().__contains__)
    assert pods(1, [existing("Pod", former)])[0].name == names.pod(A, 0, {former}.__contains__)


def test_pods_of_a_former_clique_of_that_name_hold_no_index() -> None:
    pod = existing_pod(A, "zzzzz", 0)
    pod["metadata"]["ownerReferences"][0]["uid"] = "of-the-former-one"
    assert kept(pods(1, [pod])) == []


def test_of_two_pods_with_one_index_the_older_stays() -> None:
    young = existing_pod(A, "young", 0, metadata={"creationTimestamp": "2026-01-02T00:00:00Z"})
    old = existing_pod(A, "old", 0, metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    assert kept(pods(1, [young, old])) == [f"{A}-old"]


def test_a_clique_scaled_to_nothing_has_no_pods() -> None:
    assert pods(0, [existing_pod(A, "zzzzz", 0)]) == []


LESS_MISSED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("without a node", {"status": {"phase": "Pending"}}, {"spec": {"nodeName": "n"}, "status": {"phase": "Pending"}}),
    ("pending", {"status": {"phase": "Pending"}}, {"status": {"phase": "Running"}}),
    ("pending before unknown", {"status": {"phase": "Pending"}}, {"status": {"phase": "Unknown"}}),
    ("unknown before running", {"status": {"phase": "Unknown"}}, {"status": {"phase": "Running"}}),
    ("not ready", {"status": {"phase": "Running"}}, {"status": READY}),
]


@rows(("less", "more"), [case[1:] for case in LESS_MISSED], ids=[case[0] for case in LESS_MISSED])
@rows("order", [(0, 1), (1, 0)])
def test_of_too_many_pods_those_that_are_missed_least_go(less: dict[str, Any], more: dict[str, Any], order: tuple[int, int]) -> None:
    found = pods(1, [existing_pod(A, "less", order[0], **less), existing_pod(A, "more", order[1], **more)])
    assert kept(found) == [f"{A}-more"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_equal_pods_the_highest_index_goes_whichever_is_younger_so_that_indices_stay_without_gaps(order: tuple[int, int]) -> None:
    """grove#818: pods of one scale-out are of one second, and which of them went was left to chance."""
    times = [{"creationTimestamp": f"2026-01-0{day}T00:00:00Z"} for day in (1, 2)]
    exist = [existing_pod(A, f"n{index}", index, metadata=times[place]) for index, place in enumerate(order)]
    assert kept(pods(1, exist)) == [f"{A}-n0"]


def test_of_too_many_pods_those_of_an_old_template_go() -> None:
    current = expand(pcs([clique("a")])).cliques[0].pod_template_hash
    old = existing_pod(A, "old", 0, labels={"grove.io/pod-template-hash": "of-former-days"})
    new = existing_pod(A, "new", 1, labels={"grove.io/pod-template-hash": current})
    assert kept(pods(1, [old, new])) == [f"{A}-new"]


def test_pods_have_the_claims_of_their_own_index() -> None:
    shared = [{"name": "disk", "scope": "PerReplica"}, {"name": "net", "scope": "AllReplicas"}]
    found = expand(pcs([clique("a", replicas=2, resourceSharing=shared)])).replicas[0].cliques[0]
    assert [pod_claim_names(found, index) for index in (0, 1)] == [[f"{A}-0-disk"], [f"{A}-1-disk"]]


EXISTING = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(["Pending", "Running", "Failed", "Succeeded", ""]), st.booleans()), max_size=8
)


@given(EXISTING, st.integers(0, 6))
def test_whatever_exists_there_are_as_many_pods_as_wanted_with_their_own_names_and_indices(
    exists: list[tuple[int, str, bool]], replicas: int
) -> None:
    snapshot = [
        existing_pod(A, f"{number}{'x' * 4}", index, status={"phase": phase}, metadata=GONE if going else {})
        for number, (index, phase, going) in enumerate(exists)
    ]
    found = pods(replicas, snapshot)
    assert len(found) == replicas
    assert indices(found) == sorted(set(indices(found)))
    assert len({pod.name for pod in found}) == replicas
    living = {pod["metadata"]["name"] for pod, (_, _, going) in zip(snapshot, exists, strict=True) if not going}
    assert set(kept(found)) <= living
    assert not {pod.name for pod in found if not pod.existing} & {pod["metadata"]["name"] for pod in snapshot}


@given(EXISTING, st.integers(0, 6))
def test_once_its_pods_exist_a_clique_wants_the_same_ones(exists: list[tuple[int, str, bool]], replicas: int) -> None:
    snapshot = [existing_pod(A, f"{number}{'x' * 4}", index, status={"phase": phase}) for number, (index, phase, _) in enumerate(exists)]
    planned = pods(replicas, snapshot)
    made = [existing_pod(A, pod.name.removeprefix(f"{A}-"), pod.index) for pod in planned]
    again = pods(replicas, made)
    assert [(pod.name, pod.index) for pod in again] == [(pod.name, pod.index) for pod in planned]
    assert all(pod.existing for pod in again)


def announcing(*names_by_clique: tuple[str, list[str]]) -> Manifest:
    """A gang that tells of pods of these cliques."""
    groups = [{"name": name, "podReferences": [{"namespace": "default", "name": pod} for pod in told]} for name, told in names_by_clique]
    return existing("PodGang", "demo-0", spec={"podgroups": groups})


def test_a_new_pod_has_the_name_that_its_gang_tells() -> None:
    second = names.pod(A, 0, {names.pod(A, 0, ().__contains__)}.__contains__)
    assert [pod.name for pod in pods(1, [announcing((A, [second]))])] == [second]


def test_what_a_gang_tells_of_other_pods_costs_new_ones_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten thousand new pods each would else try twenty names, in each step until the gang tells of them."""
    tried: list[str] = []
    named = names._name_of_pod

    def name_of_pod(clique: str, rank: str, number: int) -> str:
        tried.append(rank)
        return named(clique, rank, number)

    monkeypatch.setattr(names, "_name_of_pod", name_of_pod)
    others = [existing_pod(A, f"zzzz{index}", index) for index in range(3)]
    pods(50, [*others, announcing((A, [one["metadata"]["name"] for one in others]))])
    assert len(tried) == 47


def test_the_groups_of_a_gang_are_looked_through_once_for_all_cliques() -> None:
    looks = 0

    class Groups(list[Manifest]):
        def __iter__(self) -> Any:
            nonlocal looks
            looks += 1
            return super().__iter__()

    cliques = [f"c{number}" for number in range(5)]
    gang = announcing(*((f"demo-0-{name}", []) for name in cliques))
    gang["spec"]["podgroups"] = Groups(gang["spec"]["podgroups"])
    for one in expand(pcs([clique(name) for name in cliques]), [gang]).replicas[0].cliques:
        pods_of(one)
    assert looks == 1
