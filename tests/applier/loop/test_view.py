"""What a view answers, and what it records."""

from __future__ import annotations

import pytest

from applier.cache import Query
from applier.errors import Forbidden, NotSynced
from applier.loop import View
from applier.ref import Kind, Ref
from applier.testing.virtual_time import in_virtual_time

from .lab import config_map, lab, loops_running, ref

SECRET, UNSERVED, UNWATCHED = Kind("", "v1", "Secret"), Kind("example.com", "v1", "Widget"), Ref("", "Pod", "default", "a")


@in_virtual_time
async def test_an_object_of_which_nothing_is_known_is_none_to_callers_that_leave_it_alone() -> None:
    one = lab(kinds=[Query(SECRET), Query(UNSERVED)], partial=True)
    one.cluster.seed(config_map("a", {}))
    one.cluster.fail(lambda request: request.resource.kind == SECRET, Forbidden(403, "Forbidden", "no"), times=-1)
    async with loops_running(one):
        view = View(one.cache)
        unknown = [Ref("", "Secret", "default", "a"), Ref("example.com", "Widget", "default", "a"), UNWATCHED]
        for each in unknown:
            with pytest.raises(NotSynced):
                view.get(each)
            assert view.known(each) is None
        assert view.known(ref("b")) is None
        live = view.known(ref("a"))
        assert live is not None and live == view.get(ref("a"))


@in_virtual_time
async def test_what_was_asked_for_so_is_recorded_as_read() -> None:
    one = lab()
    async with loops_running(one):
        view = View(one.cache)
        view.known(ref("a"))
        view.known(UNWATCHED)
        assert view.read.refs == {ref("a"), UNWATCHED}
        assert view.read.kinds == {("", "ConfigMap"), ("", "Pod")}


@in_virtual_time
async def test_who_asks_for_objects_of_an_owner_has_read_the_kinds_that_it_named_or_all() -> None:
    one = lab(kinds=[Query(SECRET)])
    async with loops_running(one):
        some, all_kinds = View(one.cache), View(one.cache)
        some.by_owner("uid", [("", "Secret")])
        all_kinds.by_owner("uid")
        assert (some.read.kinds, all_kinds.read.kinds) == ({("", "Secret")}, {("", "Secret"), ("", "ConfigMap")})
