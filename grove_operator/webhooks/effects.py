"""Previews the effects of an edit of a set for the warnings of a response: those that `grove impact` prints, in at most three lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grove_compiler.compile import Inputs
from grove_compiler.decoder import SET_KIND
from grove_compiler.graph.node import Manifest
from grove_compiler.impact.account import account
from grove_compiler.impact.fate import ON_DELETE
from grove_compiler.impact.impact import SetImpact, impact
from grove_compiler.impact.pods import ReplicaRestart
from grove_compiler.labels import PART_OF
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectReader, Snapshot
from grove_compiler.old_states import all_as_followed
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_operator.impact_words import amounts, devices, gangs, indices, number, objects, runs_alike
from grove_operator.webhooks.share import Share

MAX_OBJECTS = 400
"""The largest set that is previewed. A preview takes 60 ms for the first 26 objects, and 0.2 ms for each further one (measured)."""
MAX_COMPILED = 4 * MAX_OBJECTS
"""The limit with replicas that autoscalers have added to those that the set declares. Beyond it there is no preview."""
TOO_LARGE = "the set is too large to preview the effects of this edit; use `grove impact`"
OWN_KINDS = (("grove.io", "PodClique"), ("grove.io", "PodCliqueScalingGroup"))
"""The kinds of a set's objects that are read from the cluster, because autoscalers may have changed their replicas."""
CLUSTER_KINDS = (("grove.io", "ClusterTopology"), ("grove.io", "ClusterTopologyBinding"), ("kai.scheduler", "Topology"))
"""The cluster-scoped kinds that sets depend on."""


class EffectsPreview:
    """Previews edits within a share of the time, so that reviews take precedence."""

    def __init__(self, share: Share | None = None) -> None:
        self._share = share or Share()

    def lines(self, old: Manifest, new: Manifest, view: ObjectReader | None, context: StepContext, settings: Settings) -> list[str]:
        """Returns the effects of an update of a set; none for other kinds, for an edit without effects, and while the share is used up.

        Both manifests are valid. Raises `Unknown` for reads that `view` cannot answer yet.
        """
        if new.get("kind") != SET_KIND or self._share.is_exhausted:
            return []
        if max(_objects_in(old), _objects_in(new)) > MAX_OBJECTS:
            return [TOO_LARGE]
        with self._share.work():
            snapshot = _live_objects(new, view, settings.namespace) if view is not None else []
            settings = replace(settings, max_objects=MAX_COMPILED)
            documents = all_as_followed([Document(old)], Snapshot((), view)), [Document(new)]
            before, after = (Inputs(each, snapshot, [], context.document, settings) for each in documents)
            result = impact(before, after, context.program, with_causes=False)
        return [line for edit in result.sets if edit.place[1] for line in _lines(edit)][:3]


def _lines(edit: SetImpact) -> Iterator[str]:
    """Yields the effects on pods and on objects, and the order of restarts; or why there are none."""
    total = account([edit])
    pods = [f"pods: {text}" if (text := amounts(total.pods)) else "no pod is restarted, created or deleted"]
    pods += [f"{word}: {text}" for word, text in devices(total)]
    pods += [f"gangs: {text}"] if (text := gangs(total)) else []
    if edit.touches:
        yield f"this edit: {'; '.join(pods)}"
        yield f"this edit: objects {'; '.join(f'{word} {text}' for word, text in objects(total) if word != 'left')}"
    if edit.pods.restarts:
        yield f"restarts: {_order(edit.pods.restarts)}"
    elif edit.strategy == ON_DELETE and edit.touches:
        yield "restarts: none (OnDelete); a deleted pod is recreated from the new template"
    else:
        unchanged = [fate for fate in edit.fates if fate.what == "left" and fate.reason]
        for fate in unchanged[:1]:
            more = f" and {len(unchanged) - 1} more" if len(unchanged) > 1 else ""
            yield f"unchanged: {', '.join(fate.fields)} of {fate.kind} {fate.node.object['metadata']['name']}{more}: {fate.reason}"


def _order(restarts: list[ReplicaRestart]) -> str:
    """Returns the order of restarts: replicas of the set one after the other, the parts of each concurrently."""
    parts = []
    for run in runs_alike(restarts):
        steps = [f"{number(clique.pods, 'pod')} of {clique.name}" for clique in run[0].cliques]
        steps += [f"{name} ({indices(name, run[0])}, each as a whole)" for name in run[0].groups]
        more = f", then {number(len(run) - 1, 'replica')} alike" if len(run) > 1 else ""
        parts.append(f"replica {run[0].index}: {' beside '.join(steps)}{more}")
    return "; then ".join(parts)


def _objects_in(manifest: Manifest) -> int:
    """Estimates how many objects a set has, which is enough to tell whether it is too large."""
    spec = manifest.get("spec") or {}
    template = spec.get("template") or {}
    of_groups = {name: group for group in template.get("podCliqueScalingGroups") or () for name in group.get("cliqueNames") or ()}
    copies = ((of_groups.get(clique.get("name")) or {}).get("replicas") or 1 for clique in template.get("cliques") or ())
    return int(spec.get("replicas") or 0) * (2 + sum(copies))


def _live_objects(pcs: Manifest, view: ObjectReader, namespace: str) -> list[Manifest]:
    """Returns the live objects that the effects depend on."""
    metadata = pcs["metadata"]
    namespace = metadata.get("namespace") or namespace
    own = [manifest for group, kind in OWN_KINDS for manifest in view.by_label(group, kind, PART_OF, metadata["name"], namespace)]
    return [*own, *(manifest for group, kind in CLUSTER_KINDS for manifest in view.by_label(group, kind))]
