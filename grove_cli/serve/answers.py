"""Answers what a browser asks about an object of the page: what happened to it (`grove timeline`), and why it waits (`grove why`)."""

from __future__ import annotations

import time

from applier.errors import ApplierError
from applier.ref import Ref
from grove_cli.queries.timeline.chart import chart
from grove_cli.queries.timeline.objects import objects_in
from grove_cli.queries.tree_query import find
from grove_cli.render.as_table import PIPE
from grove_cli.render.as_timeline import svg
from grove_cli.serve.scene import SceneObjects
from grove_cli.why.as_text import why_text
from grove_cli.why.causes import causes_in
from grove_compiler.step import StepContext


def timeline(object_id: str, snapshot: SceneObjects) -> str:
    """Returns the picture for a set by its id (`PodCliqueSet/namespace/name`), in the colours of the page; empty if there is none.

    Recorded objects end with the last time that they tell.
    """
    kind, namespace, name = (*object_id.split("/"), "", "")[:3]
    try:
        of = objects_in(snapshot.objects, f"{kind}/{name}", namespace)
    except ApplierError:
        return ""
    return svg(chart(of, time.time() if snapshot.is_complete else None), styled=False)


def why(object_id: str, snapshot: SceneObjects, context: StepContext) -> str:
    """Returns the causes of the wait of an object by its id (`Kind/namespace/name`), one a line.

    Empty for an object that does not wait or does not exist, and for other kinds.
    """
    kind, namespace, name = (*object_id.split("/"), "", "")[:3]
    try:
        manifest, pcs = find(f"{kind}/{name}", namespace, snapshot.objects)
    except ApplierError:
        return ""
    now = time.time()
    causes = causes_in(snapshot.read(), manifest, pcs, context, now)
    return why_text(Ref.of(manifest), causes, now, PIPE).partition("\n")[2] if causes else ""
