"""An update that takes a replica of a scaling group need not know what has just happened: a PodClique was deleted, a pod is ready."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from grove_compiler.labels import DELETION_REASON
from tests.invariants.check import Verdict, check
from tests.invariants.simulated_log import OPERATOR, line
from tests.simulation.labels import CLIQUE_LABEL, GROUP_LABEL, MEMBER_LABEL, REPLICA_LABEL, SET_LABEL
from tests.simulation.world import CLIQUE, GROUP, POD, SET

LAG = 10.0
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
SPEC = {
    SET.kind: {"replicas": 1, "template": {}},
    GROUP.kind: {"replicas": 2, "minAvailable": 1, "cliqueNames": ["work"]},
    CLIQUE.kind: {"replicas": 1, "minAvailable": 1},
    POD.kind: {},
}


class Log:
    """Collects the lines of a log in which a scaling group `sg` has two replicas, with a PodClique of a pod each."""

    def __init__(self) -> None:
        self.lines = list[str]()
        self._version = 0
        self.write(SET.kind, "demo")
        self.write(GROUP.kind, "sg")
        for member in ("0", "1"):
            self.write(CLIQUE.kind, f"work-{member}", member)
            self.write(POD.kind, f"pod-{member}", member)

    def write(self, kind: str, name: str, member: str = "", verb: str = "create", at: float = 0.0, **others: Any) -> None:
        """Adds the answer to a request for an object, of this replica of the group."""
        self._version += 1
        labels = {SET_LABEL: "demo", REPLICA_LABEL: "0"}
        if member:
            labels |= {GROUP_LABEL: "sg", MEMBER_LABEL: member, CLIQUE_LABEL: f"work-{member}"}
        metadata: Manifest = {
            "name": name,
            "namespace": "test",
            "uid": f"{name}-uid",
            "resourceVersion": str(self._version),
            "labels": labels,
        }
        if kind == POD.kind:
            metadata |= {"ownerReferences": [{"uid": f"work-{member}-uid"}], "annotations": {DELETION_REASON: "RollingUpdate"}}
        one = {"apiVersion": "v1" if kind == POD.kind else "grove.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": SPEC[kind]}
        if kind == POD.kind:
            one["status"] = READY
        self.lines.append(line(verb, one, at=at, **others))

    def judged(self, folder: Path) -> Verdict:
        log = folder / "audit.log"
        log.write_text("\n".join([*self.lines, ""]))
        return check(log, lag=LAG)


@pytest.mark.parametrize(("later", "faults"), [(1.0, 0), (LAG + 1, 1)], ids=["just before", "long before"])
def test_what_was_deleted_just_before_still_serves_for_the_operator(later: float, faults: int, tmp_path: Path) -> None:
    log = Log()
    log.write(POD.kind, "pod-0", "0", verb="delete", at=20.0, agent=OPERATOR)
    log.write(POD.kind, "pod-0-anew", "0", at=21.0)
    log.write(CLIQUE.kind, "work-0", "0", verb="delete", at=40.0)
    log.write(POD.kind, "pod-1", "1", verb="delete", at=40.0 + later, agent=OPERATOR)
    verdict = log.judged(tmp_path)
    assert (verdict.judged["RollingUpdate"], len(verdict.faults)) == (2, faults), verdict.faults


def test_what_was_made_anew_since_does_not(tmp_path: Path) -> None:
    log = Log()
    log.write(POD.kind, "pod-0", "0", verb="delete", at=20.0, agent=OPERATOR)
    log.write(POD.kind, "pod-0-anew", "0", at=21.0)
    log.write(CLIQUE.kind, "work-0", "0", verb="delete", at=40.0)
    anew = log.lines[2].replace("work-0-uid", "anew-uid").replace('"resourceVersion": "3"', '"resourceVersion": "20"')
    log.lines.append(anew)
    log._version = 20
    log.write(POD.kind, "pod-1", "1", verb="delete", at=41.0, agent=OPERATOR)
    assert len(log.judged(tmp_path).faults) == 1


@pytest.mark.parametrize(("later", "faults"), [(1.0, 0), (LAG + 1, 1)], ids=["just before", "long before"])
def test_a_replica_whose_last_pod_became_ready_just_before_does_not_serve_yet_for_the_operator(
    later: float, faults: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SPEC, CLIQUE.kind, {"replicas": 2, "minAvailable": 2})
    log = Log()
    log.write(POD.kind, "pod-0-other", "0", at=40.0)
    log.write(POD.kind, "pod-0", "0", verb="delete", at=40.0 + later, agent=OPERATOR)
    verdict = log.judged(tmp_path)
    assert (verdict.doubtful, len(verdict.faults)) == (1 - faults, faults)
