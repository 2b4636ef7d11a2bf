"""How a clique or a scaling group is scaled by itself."""

from __future__ import annotations

from dataclasses import dataclass

from grove_compiler.graph.node import Manifest


@dataclass(slots=True, eq=False)
class AutoScaling:
    """`autoScalingConfig` of a clique or `scaleConfig` of a scaling group. `path` is that field's."""

    path: str
    min_replicas: int | None
    max_replicas: int | None
    metrics: list[Manifest] | None


def read_autoscaling(config: Manifest | None, path: str) -> AutoScaling | None:
    """The configuration at `path`; none when it is absent."""
    if config is None:
        return None
    return AutoScaling(path, config.get("minReplicas"), config.get("maxReplicas"), config.get("metrics"))
