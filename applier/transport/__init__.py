"""Requests to a Kubernetes API server: raw objects over aiohttp and orjson, with kubeconfigs, retries and discovery."""

from applier.transport.api_cluster import ApiCluster
from applier.transport.connect import connect, connect_to, run

__all__ = ["ApiCluster", "connect", "connect_to", "run"]
