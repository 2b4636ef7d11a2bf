"""Provides a real control plane for tests: built once from Go modules, started in seconds; pytest fixtures and a fault-injecting proxy.

`ControlPlane` is the running thing, `Faults` a proxy before it that follows a `Script`; `applier.testing.plugin` has the fixtures, and
`python -m applier.testing build` builds it all. See docs/testing-with-a-cluster.md. `MemoryCluster` is a cluster without servers, for
tests that have to be quick; `applier.testing.virtual_time` lets its hours pass in milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from applier.lazy import lazily

if TYPE_CHECKING:
    from applier.testing.control_plane import ControlPlane
    from applier.testing.faults import Script
    from applier.testing.memory import MemoryCluster
    from applier.testing.proxy import Faults

__all__ = ["ControlPlane", "Faults", "MemoryCluster", "Script"]

# The proxy needs aiohttp, the control plane does not.
__getattr__ = lazily(
    __name__, {"control_plane": ("ControlPlane",), "faults": ("Script",), "memory": ("MemoryCluster",), "proxy": ("Faults",)}
)
