"""Records the spec with which a set was last valid, so that it can be followed while an edit of it is held (decisions §10).

It is in an annotation of the newest ControllerRevision, since what may change, as a number of replicas or how pods are replaced, makes no
other revision. The pods are not in it: the revision has them. Labels and annotations of the set are, as rules read them as well.
"""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.immutable_fields import KEY, before_the_change, immutable_fields, recorded_fields, with_recorded_metadata
from grove_compiler.model.expanded.recorded_templates import Revision
from grove_compiler.model.spec.minimums import minimums_of, names_of, with_former_minimums, with_minimums
from kube_objects.manifest import LAST_APPLIED, mapping

MAX_SIZE = 128 * 1024
"""Characters of a spec that is recorded. The annotations of an object may have 256 KiB, and one with more would be rejected."""


METADATA = "metadata"
"""The field of a record with labels and annotations, which no spec has; it is missing where they were too large."""


def last_valid_spec(manifest: Manifest) -> str:
    """Returns the record of a set; empty for one that is too large."""
    import json  # only where a set is live: a compilation of files starts without it

    spec, metadata = manifest["spec"], manifest["metadata"]
    template = spec.get("template") or {}
    cliques = [_without_pods(clique) for clique in template.get("cliques") or ()]
    record = {**spec, "template": {**template, "cliques": cliques}}
    annotations = {key: text for key, text in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    read_besides = {"labels": metadata.get("labels") or {}, "annotations": annotations}
    texts = (json.dumps(one, separators=(",", ":"), sort_keys=True) for one in ({**record, METADATA: read_besides}, record))
    return next((text for text in texts if len(text) <= MAX_SIZE), "")


def _without_pods(clique: Manifest) -> Manifest:
    spec = {key: value for key, value in (clique.get("spec") or {}).items() if key != "podSpec"}
    return {**{key: value for key, value in clique.items() if key not in ("labels", "annotations")}, "spec": spec}


def as_it_was(manifest: Manifest, revision: Revision) -> Manifest | None:
    """Returns a set as it last was valid; None where nobody knows, or the record is not one that we have written."""
    spec, recorded = _recorded_spec(revision), revision.data.get(KEY)
    if spec is None:
        return None
    cliques = [_with_pods(clique, revision) for clique in spec["template"]["cliques"]]
    metadata = mapping(spec.get(METADATA))
    if metadata:
        texts = {field: _texts(metadata.get(field)) for field in ("labels", "annotations")}
        manifest = {**manifest, "metadata": {**manifest["metadata"], **texts}}
    elif isinstance(recorded, dict):
        manifest = with_recorded_metadata(manifest, recorded)
    declared = {key: value for key, value in spec.items() if key != METADATA}
    return {**manifest, "spec": {**declared, "template": {**spec["template"], "cliques": cliques}}}


def _texts(recorded: Any) -> Manifest:
    return {key: text for key, text in mapping(recorded).items() if isinstance(text, str)}


def before_the_edit(manifest: Manifest, revisions: list[Revision]) -> Manifest | None:
    """Returns a set with what cannot change as it was recorded; None where it is written so, or nobody has recorded it.

    A `minAvailable` that was not written was the number of pods, as the spec tells that was valid last: who writes it since, as a webhook
    does for an edit, has changed nothing; nor has who takes back that a clique was renamed.
    """
    recorded = recorded_fields(revisions)
    if recorded is None or recorded == immutable_fields(manifest):
        return None
    unwritten = names_of(manifest) - minimums_of(manifest).keys()
    minimums = minimums_of({"spec": _recorded_spec(revisions[-1])})
    return with_minimums(before_the_change(manifest, recorded), {name: minimums[name] for name in minimums.keys() - unwritten})


def with_recorded_minimums(manifest: Manifest, revisions: list[Revision]) -> Manifest:
    """Returns a set in which each clique that names no `minAvailable` keeps the one with which it was valid last, if it has as many pods.

    Otherwise an edit of `replicas` would change it, which no clique that exists follows, where no webhook has written it.
    """
    is_written = not names_of(manifest) - minimums_of(manifest).keys()
    return manifest if is_written or not revisions else with_former_minimums(manifest, {"spec": _recorded_spec(revisions[-1])})


def _recorded_spec(revision: Revision) -> Manifest | None:
    """Returns the recorded spec, if it is of the cliques that its revision has."""
    import json

    try:
        spec = json.loads(revision.last_valid_spec or "null")
    except (ValueError, RecursionError):
        return None
    template = mapping(spec).get("template")
    cliques = mapping(template).get("cliques")
    names = [mapping(clique).get("name") for clique in cliques] if isinstance(cliques, list) else [None]
    return mapping(spec) if all(isinstance(name, str) and name in revision.hashes for name in names) else None


def _with_pods(clique: Manifest, revision: Revision) -> Manifest:
    parts = revision.template(clique["name"]) or {}
    outer = {key: parts[key] for key in ("labels", "annotations") if parts.get(key) is not None}
    return {**clique, **outer, "spec": {**mapping(clique.get("spec")), "podSpec": parts.get("podSpec")}}
