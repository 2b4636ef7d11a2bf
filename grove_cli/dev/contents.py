"""Makes what a development cluster has from the start: nodes in racks, blocks and zones, and the operator's configuration."""

from __future__ import annotations

import json
from typing import Any

NODES_OF_A_RACK, RACKS_OF_A_BLOCK, BLOCKS_OF_A_ZONE = 4, 2, 4
LEVELS = {
    "zone": "topology.kubernetes.io/zone",
    "block": "topology.kubernetes.io/block",
    "rack": "topology.kubernetes.io/rack",
    "host": "kubernetes.io/hostname",
}
"""The levels of the default topology, from the broadest to the narrowest, and their node labels."""

TOPOLOGY = "grove-topology"
"""The ClusterTopology that the operator makes of the configuration's levels."""

NAMESPACE, SHOWN = "grove-system", ("Namespace", "ConfigMap", "Deployment")
"""The namespace of the operator, and the kinds of an installation that show it. The process needs no rights of its own."""


def node(number: int, gpus: int) -> dict[str, Any]:
    """Returns a node as in `examples/nodes.yaml`, which kwok plays: with a network adapter for each GPU."""
    rack = number // NODES_OF_A_RACK
    block = rack // RACKS_OF_A_BLOCK
    name, zone = f"node-{number}", f"zone-{block // BLOCKS_OF_A_ZONE}"
    places = dict(zip(LEVELS.values(), (zone, f"block-{block}", f"rack-{rack}", name), strict=True))
    product = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": str(gpus)} if gpus else {}
    devices = {"nvidia.com/gpu": str(gpus), "rdma/ib": str(gpus)} if gpus else {}
    size = {"cpu": "192", "memory": "2000Gi", "ephemeral-storage": "4000Gi", "pods": "110"} | devices
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": places | product, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"capacity": size, "allocatable": size},
    }


def configuration() -> dict[str, Any]:
    """Returns an OperatorConfiguration with the schedulers of the chart and the default topology.

    No ports are opened: several clusters may run on a machine.
    """
    return {
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "logFormat": "text",
        "server": {"healthProbes": {"port": 0}, "metrics": {"port": 0}},
        "scheduler": {"profiles": [{"name": "default-scheduler"}, {"name": "kai-scheduler"}]},
        "topologyAwareScheduling": {"enabled": True, "levels": [{"domain": domain, "key": key} for domain, key in LEVELS.items()]},
    }


def operator() -> list[dict[str, Any]]:
    """Returns what shows that the operator is there, and with which configuration: commands look for that as in any cluster.

    It is that of an installation. kwok plays the pod of the Deployment; the operator is a process of this machine.
    """
    from grove_operator.install.manifests import manifests  # only where there is an operator
    from grove_operator.install.user_values import load_values

    found = [one for one in manifests(load_values([], ["replicas=1"]), NAMESPACE) if one["kind"] in SHOWN]
    for one in found:
        if one["kind"] == "ConfigMap":
            one["data"] = {"config.yaml": json.dumps(configuration())}
    return found
