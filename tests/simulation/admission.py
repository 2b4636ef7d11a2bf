"""What stands between operators and the pods that they create: a LimitRange that refuses or adds, a quota, slow webhooks."""

from __future__ import annotations

import asyncio

from applier.errors import Forbidden, ServerFailure
from applier.ref import Manifest
from applier.testing.memory.faults import MemoryRequest
from tests.simulation.world import POD, World

REFUSED = "refused"
"""A pod whose first container has an image with this word in it asks for more than a LimitRange allows."""
TIMEOUT = 10.0
"""Seconds that a server waits for a webhook."""
NO_QUOTA = 10**6
DEFAULTS: Manifest = {"limits": {"cpu": "500m"}, "requests": {"cpu": "100m"}}


class Admission:
    """How it goes with pods that are created. It `takes` so many seconds, and fails if these are as many as a server waits.

    With `has_defaults` a LimitRange adds resources to containers that declare none. With a `quota` there may be so many pods.
    """

    def __init__(self, world: World) -> None:
        self.world, self.quota = world, NO_QUOTA
        self.takes, self.has_defaults = 0.0, False
        world.cluster.before, world.cluster.admit = self._wait, self._admit

    def calm_down(self) -> None:
        """There are neither slow webhooks nor defaults nor a quota from now on."""
        self.takes, self.has_defaults, self.quota = 0.0, False, NO_QUOTA

    async def _wait(self, request: MemoryRequest) -> None:
        if self.takes and request.verb == "create" and request.resource.plural == "pods":
            takes = self.takes
            await asyncio.sleep(min(takes, TIMEOUT))
            if takes >= TIMEOUT:
                raise ServerFailure(500, "InternalError", 'failed calling webhook "pods.example.com": context deadline exceeded')

    def _admit(self, manifest: Manifest) -> Manifest:
        if manifest["kind"] != "Pod" or manifest.get("status"):
            return manifest
        spec = manifest["spec"]
        if REFUSED in spec["containers"][0]["image"]:
            raise Forbidden(403, "Forbidden", "maximum cpu usage per Container is 4, but limit is 64")
        there = len(self.world.all(POD))
        if there >= self.quota and self.world.find(POD, manifest["metadata"]["name"]) is None:
            raise Forbidden(403, "Forbidden", f"exceeded quota: all, requested: pods=1, used: pods={there}, limited: pods={self.quota}")
        if not self.has_defaults:
            return manifest
        return {**manifest, "spec": {**spec, "containers": [{"resources": DEFAULTS, **one} for one in spec["containers"]]}}
