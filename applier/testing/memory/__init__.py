"""A cluster in memory, for tests that have to be quick."""

from applier.testing.memory.cluster import MemoryCluster
from applier.testing.memory.faults import Request

__all__ = ["MemoryCluster", "Request"]
