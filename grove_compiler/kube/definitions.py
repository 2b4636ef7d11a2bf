"""Provides the schemas of all known kinds, in the form of `kube.structure`: one table per group and version, read on first use.

Those of Kubernetes' own kinds come from its API server's OpenAPI (tools/generate_kubernetes_schemas.py), those of Grove's kinds are
made from the models of `grove_compiler.api` (tools/generate_grove_schema.py).
"""

from __future__ import annotations

from grove_compiler.kube.structure import Schema
from grove_compiler.kube.tables import read_table


class Definitions(dict[str, Schema]):
    """Maps a type's name, `core/v1.PodSpec`, to its schema. It can start with other definitions: `Definitions({"Clique": {...}})`.

    Groups are read one by one because each costs time: a small set needs `grove.io/v1alpha1` and `core/v1`, not the dozen others.
    """

    __slots__ = ()

    def __missing__(self, name: str) -> Schema:
        """Reads the table of the type's group; KeyError for the name of no type."""
        group, _, type_ = name.rpartition(".")
        try:
            table = read_table(f"schemas/{group.replace('/', '_')}")
        except FileNotFoundError:
            raise KeyError(name) from None
        if type_ not in table:
            raise KeyError(name)
        for other, schema in table.items():
            self.setdefault(f"{group}.{other}", schema)
        return self[name]


DEFINITIONS = Definitions()

_KINDS = {
    "grove.io/v1alpha1": ("PodCliqueSet", "PodClique", "PodCliqueScalingGroup", "ClusterTopologyBinding", "ClusterTopology"),
    "scheduler.grove.io/v1alpha1": ("PodGang",),
    "operator.config.grove.io/v1alpha1": ("OperatorConfiguration",),
    **dict.fromkeys(("resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"), ("ResourceClaimTemplate",)),
}
KINDS: dict[tuple[str, str], Schema] = {(group, kind): {"ref": f"{group}.{kind}"} for group, kinds in _KINDS.items() for kind in kinds}
"""The kinds that are read as input, by apiVersion and kind."""
