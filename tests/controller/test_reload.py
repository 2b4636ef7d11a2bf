"""Rules and settings that change while the operator runs: what is right counts, what is wrong does not, and is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from applier.ref import Manifest
from applier.testing.virtual_time import in_virtual_time
from grove_cli.operator.reload import PAUSE
from grove_compiler.engine.runtime.program import Program
from grove_operator.controller.log import OperatorEvents

from .operator_files import FAILS, MARK, SERVICE, Setting, marks
from .whole import operator_running


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Setting]:
    monkeypatch.setenv("GROVE_CACHE_DIR", str(tmp_path / "cache"))
    yield Setting(tmp_path)


def test_rules_that_come_and_go_count_without_a_restart(setting: Setting) -> None:
    @in_virtual_time
    async def scenario() -> None:
        async with operator_running() as world:
            reload = setting.reload(world)
            setting.write(MARK.replace("VALUE", "a"))
            await reload.check()
            await world.operator.loop.settled()
            assert marks(world) == {"a"}
            (setting.rules / "mine.yaml").unlink()
            await reload.check()
            await world.operator.loop.settled()
            assert marks(world) == {""}

    scenario()
    assert setting.counted == ["taken", "taken"]


def test_a_failure_of_the_check_itself_is_told_once_and_later_changes_count(setting: Setting) -> None:
    @in_virtual_time
    async def scenario() -> None:
        async with operator_running() as world:
            reload = setting.reload(world)
            builds: list[Exception] = [RuntimeError("a bug"), RuntimeError("a bug")]

            async def build(make: Callable[[], Program]) -> Program:
                if builds:
                    raise builds.pop()
                return make()

            reload._build = build
            checking = asyncio.ensure_future(reload.run())
            for value in ("a", "b", "c"):
                setting.write(MARK.replace("VALUE", value))
                await asyncio.sleep(PAUSE + 1)
            await world.operator.loop.settled()
            checking.cancel()
            assert marks(world) == {"c"}

    scenario()
    assert setting.told().count("files not checked") == 1


WRONG = {
    "a misspelt verb": (MARK.replace("patch:", "ptach:"), "ptach"),
    "an unknown name": (MARK.replace("set.replicas", "set.replicants"), "replicants"),
    "a rule that fails for a set that is there": (FAILS, "PodCliqueSet/default/chat[0] would be held"),
    "no YAML": ("rule: [", "mine.yaml"),
}


@pytest.mark.parametrize(("text", "why"), WRONG.values(), ids=WRONG)
def test_rules_that_are_wrong_leave_the_last_good_ones_in_force(text: str, why: str, setting: Setting) -> None:
    @in_virtual_time
    async def scenario() -> None:
        async with operator_running() as world:
            reload = setting.reload(world)
            setting.write(MARK.replace("VALUE", "good"))
            await reload.check()
            setting.write(text)
            await reload.check()
            await reload.check()
            await world.declare(7, 2)
            assert marks(world) == {"good"}
            assert len(world.of(SERVICE)) == 7, "the last valid rules stay in effect for new sets"
            assert not any(result.held for result in world.results)

    scenario()
    assert setting.counted == ["taken", "refused"], "told once"
    assert "rules rejected" in setting.told()
    assert why in setting.told()


def owned(kind: str, name: str, owner: str, of: str) -> Manifest:
    """An object of the operator's installation, and what it was made by."""
    owners = [{"apiVersion": "apps/v1", "kind": owner, "name": of, "uid": f"uid-{of}"}]
    metadata = {"name": name, "namespace": "system", "ownerReferences": owners}
    return {"apiVersion": "v1" if kind == "Pod" else "apps/v1", "kind": kind, "metadata": metadata}


INSTALLED = [owned("Pod", "operator-5d8-x", "ReplicaSet", "operator-5d8"), owned("ReplicaSet", "operator-5d8", "Deployment", "operator")]
LEASE = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "leads", "namespace": "system"}}


@pytest.mark.parametrize(
    ("there", "about"), [(INSTALLED, "Deployment/operator"), (INSTALLED[:1], "Pod/operator-5d8-x"), ([], "Lease/leads")]
)
def test_people_hear_of_it_where_they_look_for_the_operator(
    setting: Setting, there: list[Manifest], about: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two replicas have the same files, and make one event of them."""
    monkeypatch.setenv("POD_NAME", "operator-5d8-x")
    told: list[tuple[str, str, str, str]] = []

    @in_virtual_time
    async def scenario() -> None:
        async with operator_running() as world:
            world.cluster.seed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "system"}}, LEASE, *there)
            replicas = [setting.reload(world, OperatorEvents(world.cluster, "system", ("system", "leads"))) for _ in range(2)]
            for text in (MARK.replace("patch:", "ptach:"), MARK):
                setting.write(text)
                for reload in replicas:
                    await reload.check()
            for one in world.cluster.store.of("", "Event", "system"):
                where = f"{one['involvedObject']['kind']}/{one['involvedObject']['name']}"
                told.append((where, one["type"], one["reason"], one["message"]))

    scenario()
    assert [one[:3] for one in sorted(told)] == [(about, "Normal", "RulesTaken"), (about, "Warning", "RulesRefused")]
    words = sorted(told)[1][3]
    assert words.startswith("the new rules are invalid, and the last valid ones stay in effect: ")
    assert "ptach" in words


def test_without_a_lease_and_a_pod_the_log_alone_tells(setting: Setting) -> None:
    @in_virtual_time
    async def scenario() -> None:
        async with operator_running() as world:
            reload = setting.reload(world, OperatorEvents(world.cluster, "system", None))
            setting.write("rule: [")
            await reload.check()
            assert list(world.cluster.store.of("", "Event", "system")) == []

    scenario()
    assert "rules rejected" in setting.told()


def test_a_level_of_the_log_counts_at_once_and_the_rest_after_a_restart(setting: Setting) -> None:
    @in_virtual_time
    async def scenario() -> None:
        async with operator_running() as world:
            reload = setting.reload(world)
            setting.write_config(logLevel="debug", leaderElection={"enabled": True})
            await reload.check()
            await reload.check()

    scenario()
    lines = [line.split(" ", 2)[2].strip() for line in setting.told().splitlines()]
    assert lines[0] == 'configuration reloaded changed="leaderElection, logLevel"'
    assert lines[1].endswith("fields=leaderElection")
    assert len(lines) == 2


def test_a_configuration_that_is_wrong_changes_nothing_and_is_told_once(setting: Setting) -> None:
    @in_virtual_time
    async def scenario() -> None:
        async with operator_running() as world:
            reload = setting.reload(world)
            setting.write_config(logLevel="warn")
            await reload.check()
            await reload.check()

    scenario()
    assert setting.told().count("configuration rejected") == 1
    assert "must be one of debug, info, error" in setting.told()
