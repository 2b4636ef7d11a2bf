"""A run fails at its end where its control plane's audit log has a ready pod that an operator deleted without a reason."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from applier.testing.plugin import RUN
from tests.invariants.simulated_log import OPERATOR, SimulatedLog
from tests.simulation.simulation import running
from tests.simulation.world import POD
from tests.suite.audited import OPERATOR as ACCOUNT
from tests.suite.audited import TOLD, pytest_sessionfinish


@pytest.fixture
def session(tmp_path: Path) -> Any:
    """The end of a run that went well. Its log, of a set that runs, is in the folder."""
    (tmp_path / "plane" / "data").mkdir(parents=True)
    stash = pytest.Stash()
    stash[RUN] = SimpleNamespace(folder=tmp_path)
    return SimpleNamespace(config=SimpleNamespace(stash=stash), exitstatus=pytest.ExitCode.OK)


def write_log(folder: Path, agent: str) -> None:
    """The log of a set of whose pods somebody deletes one."""
    simulation = running()
    log, pod = SimulatedLog(simulation), simulation.world.pods("demo-0-front")[0]
    simulation.world.delete(POD, pod["metadata"]["name"])
    log.events[-1] = log.events[-1]._replace(agent=agent)
    log.write(folder / "plane" / "data" / "audit.log")
    simulation.close()


def test_a_pod_that_an_operator_deleted_without_a_reason_fails_the_run(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    write_log(tmp_path, OPERATOR)
    pytest_sessionfinish(session)
    assert session.exitstatus == pytest.ExitCode.TESTS_FAILED
    summary, fault, where = session.config.stash[TOLD]
    assert "1 ready pods" in summary
    assert "demo-0-front was scaled in to 1 pods, and 2 are declared" in fault
    assert Path(where.removeprefix("the audit log: ")).read_bytes() == (tmp_path / "plane" / "data" / "audit.log").read_bytes()


def test_a_right_on_owners_that_an_operator_lacks_fails_the_run(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `--cluster=restricted`: the authorizer has allowed the request, and admission refuses it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    why = 'pods "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on'
    event = {
        "verb": "create",
        "user": {"username": ACCOUNT},
        "objectRef": {"resource": "pods", "namespace": "shop"},
        "annotations": {"authorization.k8s.io/decision": "allow"},
        "responseStatus": {"code": 403, "message": why},
    }
    (tmp_path / "plane" / "data" / "audit.log").write_text(json.dumps(event) + "\n")
    pytest_sessionfinish(session)
    assert session.exitstatus == pytest.ExitCode.TESTS_FAILED
    assert session.config.stash[TOLD][0] == f"the operator was refused: create pods shop: {why}"


def test_what_others_delete_does_not(session: Any, tmp_path: Path) -> None:
    write_log(tmp_path, "kubectl")
    pytest_sessionfinish(session)
    assert (session.exitstatus, session.config.stash[TOLD]) == (pytest.ExitCode.OK, [])


def test_nor_does_a_run_without_a_control_plane(session: Any) -> None:
    pytest_sessionfinish(session)
    assert session.exitstatus == pytest.ExitCode.OK
    assert TOLD not in session.config.stash
