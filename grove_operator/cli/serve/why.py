"""Says what an object of the page waits for, as `grove why` does."""

from __future__ import annotations

import time

from applier.errors import ApplierError
from applier.ref import Ref
from grove_compiler.step import Context
from grove_operator.cli.serve.scene import Seen
from grove_operator.cli.why.as_text import why_text
from grove_operator.cluster.why import reasons
from grove_operator.cluster.why_query import find
from grove_operator.controller.waiting import waits_of
from grove_operator.terminal import Terminal

PLAIN = Terminal(colours=False, width=160, wraps=False)


def why(id: str, seen: Seen, context: Context) -> str:
    """Returns the reasons below the object of an id (`Kind/namespace/name`), a line each; nothing for what waits for nothing.

    Empty as well for what is of no kind that waits, or is not there.
    """
    kind, namespace, name = (*id.split("/"), "", "")[:3]
    try:
        asked, set = find(f"{kind}/{name}", namespace, seen.objects)
    except ApplierError:
        return ""
    now, root = time.time(), Ref.of(asked)
    found = reasons(root, waits_of(set, seen.objects, seen.unserved, context, now, asked))
    return why_text(root, found, now, PLAIN).partition("\n")[2] if found else ""
