"""The operator's metrics: what they count, and that the page and the dashboard know them all."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.metrics_core import Metric

from applier.errors import Forbidden, WriteConflict
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time
from tests.docs.pages import DOCS

from .conftest import Watched, at_work

DASHBOARD = DOCS.parent / "grove_operator" / "install" / "dashboard.json"
ROW = re.compile(r"^\| `(grove_operator_\w+)` \| (\w+) \| (.*?) \|", re.MULTILINE)
USED = re.compile(r"\b(?:grove_operator|process)_\w+")


@in_virtual_time
async def test_writes_are_counted_by_kind_and_reason() -> None:
    async with at_work(Watched()) as world:
        await world.declare(3, 1)
        await world.declare(1, 2)
        samples = world.samples()
    assert samples['grove_operator_writes_total{action="created",kind="Pod",reason="Missing"}'] == 6
    assert samples['grove_operator_writes_total{action="pruned",kind="Pod",reason="NoLongerWanted"}'] == 4
    assert samples['grove_operator_writes_total{action="configured",kind="PodCliqueSet",reason="Status"}'] > 0
    assert samples['grove_operator_write_seconds_count{action="created"}'] >= 6


@in_virtual_time
async def test_looks_and_their_errors_are_counted_by_controller() -> None:
    world = Watched()
    world.cluster.fail(lambda one: one.verb == "create" and one.resource.plural == "pods", Forbidden(403, "Forbidden", "no"), times=2)
    async with at_work(world):
        await world.declare(1, 1)
        samples = world.samples()
    assert samples['grove_operator_reconcile_errors_total{controller="podcliqueset-replica",error_type="Forbidden"}'] == 2
    assert samples['grove_operator_reconciles_total{controller="podcliqueset-replica",result="failed"}'] > 0
    assert samples['grove_operator_reconciles_total{controller="podcliqueset",result="written"}'] > 0


@in_virtual_time
async def test_498_a_status_that_somebody_was_faster_with_is_a_conflict() -> None:
    """Under the name that users have asked for."""

    def is_status(one: MemoryRequest) -> bool:
        return one.verb == "apply" and one.subresource == "status" and one.resource.plural == "podcliquesets"

    world = Watched()
    world.cluster.fail(is_status, WriteConflict(409, "Conflict", "the object has been modified"), times=1)
    async with at_work(world):
        await world.declare(1, 1)
        samples = world.samples()
    assert samples['grove_operator_status_update_conflict_total{controller="podcliqueset",target_kind="PodCliqueSet"}'] == 1


@in_virtual_time
async def test_queue_cache_and_state_are_shown_as_they_stand() -> None:
    async with at_work(Watched()) as world:
        await world.declare(1, 1)
        samples = world.samples()
    assert samples['grove_operator_state{state="leading"}'] == 1
    assert samples['grove_operator_state{state="stuck"}'] == 0
    assert samples['grove_operator_queue_keys_waiting{queue="keys"}'] == 0
    assert samples["grove_operator_cache_objects"] > 5
    assert samples["grove_operator_write_limit"] >= 16, "also while nothing has changed it"
    assert samples["grove_operator_queue_wait_seconds_count"] == samples["grove_operator_queue_work_seconds_count"] > 0


@in_virtual_time
async def test_pods_behind_the_gate_are_counted_by_what_they_wait_for() -> None:
    world = Watched()
    clique = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "metadata": {"name": "other-0-w", "namespace": "default", "labels": {"grove.io/podgang": "other-0"}},
        "status": {"scheduleGatedReplicas": 3},
    }
    gang = {
        "apiVersion": "scheduler.grove.io/v1alpha1",
        "kind": "PodGang",
        "metadata": {"name": "other-0", "namespace": "default"},
        "status": {"conditions": [{"type": "Initialized", "status": "False", "reason": "PodGangPodsCreationPending"}]},
    }
    world.cluster.seed(clique)
    async with at_work(world):
        await asyncio.sleep(1.0)
        assert world.samples()['grove_operator_gated_pods{reason="PodGangMissing"}'] == 3
        world.cluster.seed(gang)
        await asyncio.sleep(1.0)
        assert world.samples()['grove_operator_gated_pods{reason="PodGangPodsCreationPending"}'] == 3


def families() -> dict[str, Metric]:
    """What a registry shows of an operator that runs, by the name that queries use."""
    found: dict[str, Metric] = {}

    @in_virtual_time
    async def look() -> None:
        async with at_work(Watched()) as world:
            await world.declare(1, 1)
            for one in world.metrics.registry.collect():
                found[one.name + {"counter": "_total", "info": "_info"}.get(one.type, "")] = one

    look()
    return found


@pytest.fixture(scope="module")
def shown() -> dict[str, Metric]:
    return families()


def test_the_page_lists_all_metrics_and_no_other(shown: dict[str, Metric]) -> None:
    told = {name: type for name, type, _ in ROW.findall((DOCS / "metrics.md").read_text())}
    assert told == {name: one.type for name, one in shown.items() if name.startswith("grove_operator_")}


def test_the_page_lists_the_labels_of_each_metric(shown: dict[str, Metric]) -> None:
    told = {name: set(re.findall(r"`(\w+)`", labels)) for name, _, labels in ROW.findall((DOCS / "metrics.md").read_text())}
    for name, one in shown.items():
        for sample in one.samples:
            assert name not in told or set(sample.labels) - {"le"} == told[name], name


def queries(value: Any) -> list[str]:
    """Every expression in a dashboard, wherever it stands."""
    if isinstance(value, dict):
        own = [one for key in ("expr", "query") if isinstance(one := value.get(key), str) and one != "prometheus"]
        return own + [query for one in value.values() for query in queries(one)]
    return [query for one in value for query in queries(one)] if isinstance(value, list) else []


def test_every_query_of_the_dashboard_names_metrics_that_exist(shown: dict[str, Metric]) -> None:
    known = {f"{name}{suffix}" for name, one in shown.items() for suffix in (["", "_bucket"] if one.type == "histogram" else [""])}
    found = [query for query in queries(json.loads(Path(DASHBOARD).read_text())) if "preflight_" not in query]  # another program's
    assert len(found) > 15
    for query in found:
        names = set(USED.findall(query))
        assert names, query
        assert names <= known, query


def test_every_metric_is_on_the_dashboard(shown: dict[str, Metric]) -> None:
    names = {name.removesuffix("_bucket") for query in queries(json.loads(DASHBOARD.read_text())) for name in USED.findall(query)}
    assert {name for name in shown if name.startswith("grove_operator_")} <= names
