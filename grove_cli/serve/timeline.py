"""Returns what happened to a set of the page, as `grove timeline -o svg` does."""

from __future__ import annotations

import time

from applier.errors import ApplierError
from grove_cli.queries.timeline.chart import chart
from grove_cli.queries.timeline.objects import objects_in
from grove_cli.render.as_timeline import svg
from grove_cli.serve.scene import SceneObjects


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
