"""Provides a fake cluster in memory, for fast tests."""

from applier.testing.memory.cluster import MemoryCluster
from applier.testing.memory.faults import MemoryRequest

__all__ = ["MemoryCluster", "MemoryRequest"]
