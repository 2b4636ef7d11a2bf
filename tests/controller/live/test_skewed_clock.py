"""An operator on a machine whose clock is wrong: times that API servers and nodes write are compared with the API server's clock."""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path

import pytest

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from applier.transport import connect

from .process import operator_process
from .test_termination import CRASHED, breached, kept, report, uids
from .world import FRONT, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

SHIFTED = "import time\nright = time.time\ntime.time = lambda: right() + {seconds}\n"
"""What Python runs as it starts (`sitecustomize`)."""


async def is_dated_right(world: LiveCluster) -> bool:
    """Whether the operator has dated a condition after the creation of its object, which the server dates."""
    front: Manifest = await world.get("podclique", "chat-0-front")
    (scheduled,) = [each for each in front["status"]["conditions"] if each["type"] == "PodCliqueScheduled"]
    times = [datetime.fromisoformat(one) for one in (front["metadata"]["creationTimestamp"], scheduled["lastTransitionTime"])]
    return -2 < (times[1] - times[0]).total_seconds() < 60


@pytest.mark.parametrize("seconds", [3600, -3600])
async def test_a_gang_is_restarted_once_and_in_time(
    seconds: int, grove_plane: ControlPlane, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the clock of a machine that is ahead, the delay of pods that were just created was over: they were restarted without end."""
    (tmp_path / "sitecustomize.py").write_text(SHIFTED.format(seconds=seconds))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    async with (
        connect(kubeconfig=str(grove_plane.kubeconfig), user_agent="grove-operator-tests") as cluster,
        operator_process(grove_plane, namespace, tmp_path / "operator", {"leaderElection": {"enabled": False}}),
    ):
        world = LiveCluster(grove_plane, cluster, namespace)
        await world.apply(pod_clique_set(clique("front", 2), terminationDelay="6s"))
        await world.until_ready(*FRONT)
        before = await uids(world)
        await report(world, "chat-0-front-0", CRASHED)
        await world.until(lambda: breached(world), "True")
        assert await is_dated_right(world)
        await world.until(lambda: kept(world, before), 0)
        await world.until_ready(*FRONT)
        [event] = [one for one in await world.objects("events") if one["reason"] == "GangTerminated"]
        assert abs(datetime.fromisoformat(event["lastTimestamp"]).timestamp() - time.time()) < 60
