"""Finds the replicas fields that autoscalers set, which an apply must not own."""

from __future__ import annotations

from collections.abc import Iterable

from applier.ref import GroupKind, Manifest, Ref

REPLICAS = "/spec/replicas"
DEFAULT_TARGETS = {
    ("autoscaling", "HorizontalPodAutoscaler"): ("", ""),
    ("keda.sh", "ScaledObject"): ("apps/v1", "Deployment"),
}
"""Autoscalers by group and kind, with the default apiVersion and kind of their targets (for KEDA, see `scaleTargetRef`)."""


def scaled_fields(manifests: Iterable[Manifest]) -> dict[Ref, str]:
    """Returns the JSON pointer of the replicas of each object that an autoscaler among the manifests scales.

    It is `/spec/replicas`, or the `subresources.scale.specReplicasPath` of a definition among the manifests.
    """
    targets: list[Ref] = []
    places: dict[GroupKind, str] = {}
    for manifest in manifests:
        kind = manifest.get("kind")
        if kind == "CustomResourceDefinition":
            places |= _scale_paths(manifest)
        elif kind in ("HorizontalPodAutoscaler", "ScaledObject"):
            targets += _targets(manifest)
    return {target: places.get((target.group, target.kind), REPLICAS) for target in targets}


def _targets(autoscaler: Manifest) -> list[Ref]:
    """Returns the target of an autoscaler; none for a kind of another group, or without a target."""
    own = Ref.of(autoscaler)
    defaults = DEFAULT_TARGETS.get((own.group, own.kind))
    spec = autoscaler.get("spec")
    target = spec.get("scaleTargetRef") if isinstance(spec, dict) else None
    if defaults is None or not isinstance(target, dict) or not target.get("name"):
        return []
    api_version = str(target.get("apiVersion") or defaults[0])
    return [Ref(api_version.rpartition("/")[0], str(target.get("kind") or defaults[1]), own.namespace, str(target["name"]))]


def _scale_paths(definition: Manifest) -> dict[GroupKind, str]:
    spec = definition.get("spec")
    if not isinstance(spec, dict):
        return {}
    kind = str((spec.get("names") or {}).get("kind"))
    found = {}
    for version in spec.get("versions") or []:
        scale = (version.get("subresources") or {}).get("scale") or {}
        path = str(scale.get("specReplicasPath") or "")
        if path:
            found[str(spec.get("group")), kind] = path.replace(".", "/")
    return found
