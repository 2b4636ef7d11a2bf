"""What lint and a server are compared on: a schema to mutate by, valid templates, the set that holds one, and what becomes of it.

`python -m tests.validation.server_check` goes through all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.graph.node import Manifest
from grove_compiler.source.document import Document
from tests.shipped import program

FOLDER = Path(__file__).parent / "templates"
POD_SPEC = {"containers": [{"name": "a", "image": "b"}]}
CLIQUE = "spec.template.cliques[0].spec"
ANY = ""


@dataclass(frozen=True)
class Subject:
    """One kind of template, which stands at `place` in a set.

    `set_with` gives the set with one in it, `objects` what an API server would be given beside the set. Only findings of `topics` (the
    part of a code before `/`, or any) stand for the API server's answers. Of a subject that is `stricter` lint may refuse what the server
    takes: Grove has demands of its own.
    """

    name: str
    type: str
    topics: tuple[str, ...]
    set_with: Callable[[Any], Manifest]
    objects: Callable[[Any], list[Manifest]]
    place: str = ""
    stricter: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the valid templates."""
        return sorted(path.stem for path in (FOLDER / self.name).glob("*.yaml"))

    @cached_property
    def templates(self) -> dict[str, Any]:
        """The valid ones, by name."""
        return {
            path.stem: yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader) for path in sorted((FOLDER / self.name).glob("*.yaml"))
        }


def a_set(pod_spec: Any = None, scaling: Any = None, **template: Any) -> Manifest:
    """Returns a set of one clique."""
    spec = {"roleName": "worker", "replicas": 1, "podSpec": POD_SPEC if pod_spec is None else pod_spec}
    clique = {"name": "worker", "spec": spec if scaling is None else {**spec, "autoScalingConfig": scaling}}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "demo"},
        "spec": {"replicas": 1, "template": {"cliques": [clique], **template}},
    }


def _object(version: str, kind: str, spec: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "demo-0-worker"}, "spec": spec}


def _autoscaler(scaling: Any) -> list[Manifest]:
    target = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "demo-0-worker"}
    # Whoever writes no configuration has no autoscaler; what is no map the set's own definition refuses.
    return (
        [_object("autoscaling/v2", "HorizontalPodAutoscaler", {"scaleTargetRef": target, **scaling})] if isinstance(scaling, dict) else []
    )


def _everything(manifest: Any) -> list[Manifest]:
    """What the set becomes; nothing where lint refuses it."""
    result = compile_inputs(Inputs([Document(manifest)]), program())
    return [{**node.object, "metadata": {**node.object["metadata"], "ownerReferences": []}} for node in result.graph.nodes]


SUBJECTS = [
    Subject("pods", "core/v1.PodSpec", ("pod", "schema"), a_set, lambda spec: [_object("v1", "Pod", spec)], f"{CLIQUE}.podSpec"),
    Subject(
        "autoscalers",
        "grove.io/v1alpha1.AutoScalingConfig",
        (ANY,),
        lambda value: a_set(scaling=value),
        _autoscaler,
        f"{CLIQUE}.autoScalingConfig",
    ),
    Subject(
        "claims",
        "resource.k8s.io/v1.ResourceClaimTemplateSpec",
        ("claim", "schema"),
        lambda value: a_set(resourceClaimTemplates=[{"name": "a", "templateSpec": value}]),
        lambda value: [_object("resource.k8s.io/v1", "ResourceClaimTemplate", value)],
        "spec.template.resourceClaimTemplates[0].templateSpec",
    ),
    Subject("sets", "grove.io/v1alpha1.PodCliqueSet", (ANY,), lambda value: value, _everything, stricter=True),
]
