"""Implements a cluster by requests to a Kubernetes API server: raw objects over `applier.http`, with kubeconfigs, retries and discovery."""

from applier.transport.api_cluster import ApiCluster
from applier.transport.connect import Terminated, connect, run

__all__ = ["ApiCluster", "Terminated", "connect", "run"]
