"""What is asked of a server, in the API's words: what counts, retries and errors are about."""

from __future__ import annotations

from typing import Any, NamedTuple

from applier.ref import Ref


class Asked(NamedTuple):
    """A request in the API's words. `harmless`: doing it twice is as good as once. `sent`: the object or patch, to keep its secrets."""

    verb: str
    plural: str
    ref: Ref | None = None
    harmless: bool = True
    sent: Any = None
