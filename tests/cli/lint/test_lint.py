"""`grove lint`: checks alone, of new sets and of updates."""

from __future__ import annotations

import json

import pytest

from ..processes import EXAMPLE, SET, WRONG, Grove


def test_a_good_set_needs_no_words(grove: Grove) -> None:
    assert grove("lint", EXAMPLE) == (0, "", "")


def test_json_is_for_programs(grove: Grove) -> None:
    ended = grove("lint", "-o", "json", grove.file("a.yaml", WRONG))
    report = json.loads(ended.out)
    assert (ended.code, ended.err, report["errors"], report["warnings"]) == (1, "", 1, 1), "without replicas nothing runs"
    assert report["findings"][0]["path"] == "spec.replcas"


def test_an_update_that_is_not_allowed_is_an_error(grove: Grove) -> None:
    old, new = grove.file("old.yaml", SET), grove.file("new.yaml", SET.replace("roleName: web", "roleName: other"))
    assert grove("lint", new).code == 0
    ended = grove("lint", new, "--old", old)
    assert ended.code == 1
    assert "roleName" in ended.err


def test_an_edit_of_replicas_alone_keeps_min_available_and_one_of_both_is_told_how(grove: Grove) -> None:
    more = "          replicas: 3\n          podSpec"
    edited = SET.replace("          replicas: 1\n          podSpec", more)
    old, new, both = (
        grove.file("old.yaml", SET),
        grove.file("new.yaml", edited),
        grove.file("both.yaml", edited.replace(more, f"          minAvailable: 3\n{more}")),
    )
    assert grove("lint", new, "--old", old).code == 0
    ended = grove("lint", both, "--old", old)
    assert (ended.code, "to change only replicas, omit it or set minAvailable: 1" in ended.err) == (1, True)


def test_a_status_that_an_operator_of_another_release_has_written_is_no_error(grove: Grove) -> None:
    status = "status: {replicas: 1, currentRevision: demo-1, startTime: soon, rollingUpdateProgress: {updatedPodCliques: [demo-0-web]}}\n"
    dump = grove.file("dump.yaml", SET + status)
    ended = grove("lint", dump)
    assert (ended.code, ended.err.splitlines()[-1]) == (0, "3 warnings")
    assert grove("compile", dump, "-o", "json").out == grove("compile", grove.file("a.yaml", SET), "-o", "json").out


@pytest.mark.parametrize("old", ["[]", "text", "a: 1", '{"apiVersion": "v1", "kind": "List", "items": [3]}'])
def test_a_former_state_that_is_no_manifest_is_an_error(old: str, grove: Grove) -> None:
    ended = grove("lint", grove.file("new.yaml", SET), "--old", grove.file("old.yaml", old))
    assert (ended.code, ended.out) == (1, "")
    assert "old.yaml:1:" in ended.err
    assert "expected a former manifest" in ended.err


def test_a_former_state_of_something_else_is_no_silent_pass(grove: Grove) -> None:
    old, new = grove.file("old.yaml", SET.replace("name: demo", "name: other")), grove.file("new.yaml", SET)
    ended = grove("lint", new, "--old", old)
    assert (ended.code, "no change was checked" in ended.err) == (0, True)
    assert grove("lint", new, "--old", old, "--strict").code == 1


def test_an_update_that_is_allowed_needs_no_words(grove: Grove) -> None:
    old, new = grove.file("old.yaml", SET), grove.file("new.yaml", SET.replace("image: nginx", "image: nginx:2"))
    assert grove("lint", new, "--old", old) == (0, "", "")
