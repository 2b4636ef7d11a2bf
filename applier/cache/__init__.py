"""Holds the known state of a cluster: read once, or kept up to date by watches."""

from __future__ import annotations

from applier.cache.frozen import FrozenCache
from applier.cache.journal import Changes
from applier.cache.snapshot import FetchedObjects, Query, Unread, as_one, read_once
from applier.cache.watch_cache import WatchCache
from applier.cache.write_through import WriteThrough
from kube_objects.label_selector import Selector

__all__ = ["Changes", "FetchedObjects", "FrozenCache", "Query", "Selector", "Unread", "WatchCache", "WriteThrough", "as_one", "read_once"]
