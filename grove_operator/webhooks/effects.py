"""Foretells in three lines at most what an edit of a set will do: what `grove impact` prints, for the warnings of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grove_compiler.compile import Inputs
from grove_compiler.decoder import SET_KIND
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.node import Manifest
from grove_compiler.impact.account import account
from grove_compiler.impact.fate import ON_DELETE
from grove_compiler.impact.impact import SetImpact, impact
from grove_compiler.impact.pods import ReplicaRestart
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import PART_OF, Objects
from grove_compiler.source.document import Document
from grove_operator.impact_words import amounts, devices, gangs, indices, number, objects, runs_alike
from grove_operator.webhooks.share import Share

MOST_OBJECTS = 400
"""Of a set. To compile it three times takes 60 ms for the first 26 and 0.2 ms for each more (measured)."""
MOST_COMPILED = 4 * MOST_OBJECTS
"""Autoscalers may have made more than the set declares; above this nothing is foretold."""
TOO_LARGE = "what this edit does is not foretold here: the set is too large; `grove impact` tells"
OF_THE_SET = (("grove.io", "PodClique"), ("grove.io", "PodCliqueScalingGroup"))
"""Exist with numbers of replicas of their own."""
OF_ALL = (("grove.io", "ClusterTopology"), ("grove.io", "ClusterTopologyBinding"), ("kai.scheduler", "Topology"))


class Foresight:
    """Foretells edits, in its share of the time: answers come first."""

    def __init__(self, share: Share | None = None) -> None:
        self._share = share or Share()

    def lines(
        self, old: Manifest, new: Manifest, view: Objects | None, program: Program, settings: Settings, config: Document | None
    ) -> list[str]:
        """Returns what an update of a set will do; nothing for other kinds, for an edit without effect, and right after another.

        Both manifests are sound. Raises `Unknown` where `view` cannot answer.
        """
        if new.get("kind") != SET_KIND or self._share.is_used_up:
            return []
        if max(_objects_in(old), _objects_in(new)) > MOST_OBJECTS:
            return [TOO_LARGE]
        with self._share.work():
            snapshot = _existing(new, view, settings.namespace) if view is not None else []
            settings = replace(settings, max_objects=MOST_COMPILED)
            before, after = (Inputs([Document(one)], snapshot, [], config, settings) for one in (old, new))
            result = impact(before, after, program, with_causes=False)
        return [line for one in result.sets if one.place[1] for line in _lines(one)][:3]


def _lines(one: SetImpact) -> Iterator[str]:
    """Yields what happens to pods, to objects, and in which order pods restart; or why nothing does."""
    told = account([one])
    pods = [f"pods: {text}" if (text := amounts(told.pods)) else "no pod is restarted, made or deleted"]
    pods += [f"{word}: {text}" for word, text in devices(told)]
    pods += [f"gangs: {text}"] if (text := gangs(told)) else []
    if one.touches:
        yield f"this edit: {'; '.join(pods)}"
        yield f"this edit: objects {'; '.join(f'{word} {text}' for word, text in objects(told) if word != 'left')}"
    if one.pods.restarts:
        yield f"restarts: {_order(one.pods.restarts)}"
    elif one.strategy == ON_DELETE and one.touches:
        yield "restarts: none by itself (OnDelete); pods that are deleted come back as the new templates say"
    else:
        left = [fate for fate in one.fates if fate.what == "left" and fate.reason]
        for fate in left[:1]:
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            yield f"as it is stays {', '.join(fate.fields)} of {fate.kind} {fate.node.object['metadata']['name']}{more}: {fate.reason}"


def _order(restarts: list[ReplicaRestart]) -> str:
    """Returns who restarts after whom: one replica of the set after the other, what belongs to one side by side."""
    parts = []
    for run in runs_alike(restarts):
        steps = [f"{number(clique.pods, 'pod')} of {clique.name}" for clique in run[0].cliques]
        steps += [f"{name} ({indices(list(groups))}, each as a whole)" for name, groups in run[0].groups.items()]
        more = f", then {number(len(run) - 1, 'replica')} alike" if len(run) > 1 else ""
        parts.append(f"replica {run[0].index}: {' beside '.join(steps)}{more}")
    return "; then ".join(parts)


def _objects_in(manifest: Manifest) -> int:
    """Returns about how many objects a set has: enough to know whether there are too many."""
    spec = manifest.get("spec") or {}
    template = spec.get("template") or {}
    of_groups = {name: group for group in template.get("podCliqueScalingGroups") or () for name in group.get("cliqueNames") or ()}
    copies = ((of_groups.get(clique.get("name")) or {}).get("replicas") or 1 for clique in template.get("cliques") or ())
    return int(spec.get("replicas") or 0) * (2 + sum(copies))


def _existing(set: Manifest, view: Objects, namespace: str) -> list[Manifest]:
    metadata = set["metadata"]
    place = metadata.get("namespace") or namespace
    own = [one for group, kind in OF_THE_SET for one in view.by_label(group, kind, PART_OF, metadata["name"], place)]
    return [*own, *(one for group, kind in OF_ALL for one in view.by_label(group, kind))]
