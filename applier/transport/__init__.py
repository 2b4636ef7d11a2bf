"""Requests to a Kubernetes API server: raw objects by orjson over `applier.http`, with kubeconfigs, retries and discovery."""

from applier.transport.api_cluster import ApiCluster
from applier.transport.connect import connect, connect_to, run

__all__ = ["ApiCluster", "connect", "connect_to", "run"]
