"""A namespace is what the writes in its audit log have made of it, as far as an operator can know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from applier.ref import Manifest
from kube_objects.manifest import is_terminating
from tests.invariants.log import Write, read
from tests.invariants.replayed import Namespace
from tests.invariants.simulated_log import OPERATOR, line
from tests.simulation.world import CLIQUE, POD

READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def made(kind: str, name: str, version: int, *, group: str = "grove.io/v1alpha1", **fields: Any) -> Manifest:
    metadata = {"name": name, "namespace": "test", "uid": f"{name}-uid", "resourceVersion": str(version)}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": {}, **fields}


def pod(version: int, name: str = "front", **fields: Any) -> Manifest:
    return made("Pod", name, version, group="v1", **{"status": READY, **fields})


def clique(version: int, replicas: int) -> Manifest:
    return made("PodClique", "front", version, spec={"replicas": replicas})


def replayed(folder: Path, *lines: str, lag: float = 2.0) -> Namespace:
    state = Namespace(lag)
    for write in writes(folder, *lines):
        state.apply(write, is_by_operator=write.agent == OPERATOR)
    return state


def writes(folder: Path, *lines: str) -> list[Write]:
    log = folder / "audit.log"
    log.write_text("\n".join([*lines, ""]))
    return list(read(log))


def test_writes_are_read_in_the_order_of_their_versions(tmp_path: Path) -> None:
    assert [one.version for one in writes(tmp_path, line("patch", pod(3)), line("patch", pod(1)), line("patch", pod(2)))] == [1, 2, 3]


def test_what_was_refused_or_tried_or_cut_short_is_no_write(tmp_path: Path) -> None:
    refused, tried = line("patch", pod(1), code=409), line("patch", pod(2), query="?dryRun=All")
    assert writes(tmp_path, refused, tried, line("patch", pod(3))[:-9], line("patch", pod(4)))[0].version == 4


def test_replicas_are_what_somebody_has_scaled_them_to(tmp_path: Path) -> None:
    scale = {"kind": "Scale", "metadata": {"name": "front", "resourceVersion": "2"}, "spec": {"replicas": 5}}
    state = replayed(tmp_path, line("create", clique(1, 2)), line("patch", clique(2, 2), scale, subresource="scale", at=10.0))
    part = state.find(CLIQUE, "front")
    assert part is not None
    assert part["spec"]["replicas"] == 5
    assert state.declared(part, within=2.0) == 2, "who has not heard of the edit"


def test_an_evicted_pod_is_lost_at_once_and_missed_for_a_while(tmp_path: Path) -> None:
    answer = {"kind": "Status", "metadata": {}}
    lines = [line("create", pod(1)), line("create", pod(1), answer, subresource="eviction", at=10.0)]
    state = replayed(tmp_path, *lines)
    assert (state.pods(), [one["metadata"]["name"] for one in state.lately_lost()]) == ([], ["front"])
    state = replayed(tmp_path, *lines, line("create", pod(2, "other"), at=13.0))
    assert state.lately_lost() == []


def test_what_the_operator_takes_is_known_to_it(tmp_path: Path) -> None:
    state = replayed(tmp_path, line("create", pod(1)), line("delete", pod(2), agent=OPERATOR))
    assert (state.pods(), state.lately_lost()) == ([], [])


def test_all_pods_of_a_namespace_that_goes_are_terminating(tmp_path: Path) -> None:
    items = {"kind": "PodList", "metadata": {"resourceVersion": "3"}, "items": [pod(1), pod(2, "other")]}
    state = replayed(tmp_path, line("create", pod(1)), line("create", pod(2, "other")), line("deletecollection", pod(3), items))
    assert [is_terminating(one) for one in state.all(POD)] == [True, True]


def test_what_is_written_while_all_of_its_kind_go_one_by_one_goes_all_the_same(tmp_path: Path) -> None:
    items = {"kind": "PodList", "metadata": {"resourceVersion": "3"}, "items": [pod(1)]}
    state = replayed(tmp_path, line("create", pod(1)), line("deletecollection", pod(3), items), line("patch", pod(4), subresource="status"))
    assert [is_terminating(one) for one in state.all(POD)] == [True]


def test_the_deletion_of_an_older_object_leaves_the_one_that_has_its_name_now(tmp_path: Path) -> None:
    answer = {"kind": "Status", "metadata": {}, "details": {"uid": "another-uid"}}
    state = replayed(tmp_path, line("create", clique(1, 2)), line("delete", clique(1, 2), answer))
    assert state.find(CLIQUE, "front") is not None


def test_a_log_of_a_server_that_was_killed_goes_on_after_its_last_line(tmp_path: Path) -> None:
    half = json.dumps({"stage": "ResponseComplete", "responseObject": {}})[:-5]
    assert [one.version for one in writes(tmp_path, line("create", pod(1)), half + line("create", pod(2)), line("create", pod(3)))] == [
        1,
        3,
    ]
