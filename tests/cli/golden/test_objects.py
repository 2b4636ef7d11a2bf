"""`grove test`: how objects that came out differ from those that were expected."""

from __future__ import annotations

import yaml

from ..running import Ended, run
from .cases import ONE, Put, service


def test_a_case_whose_objects_are_as_expected_passes(put: Put) -> None:
    put("one", ONE)
    assert run("test", "cases") == Ended(0, "1 case: 1 passed\n", "")


def test_verbose_names_the_cases_that_passed(put: Put) -> None:
    put("one", ONE)
    assert run("test", "cases", "-v").out == "ok      cases/one\n1 case: 1 passed\n"


def test_a_field_that_differs_is_told_with_its_object_its_path_and_the_line_of_what_was_expected(put: Put) -> None:
    put("one", {**ONE, "expected.yaml": service().replace("publishNotReadyAddresses: true", "publishNotReadyAddresses: false")})
    ended = run("test", "cases")
    assert ended.code == 1
    assert ended.out == (
        "FAILED  cases/one\n    Service/default/demo-0\n"
        "        spec.publishNotReadyAddresses: expected false, found true  cases/one/expected.yaml:20\n1 case: 1 failed\n"
    )


def test_every_difference_is_told_at_once(put: Put) -> None:
    expected = service(team="north").replace("clusterIP: None", "clusterIP: 10.0.0.1") + "---\n" + service("demo-1")
    put("one", {**ONE, "expected.yaml": expected})
    out = run("test", "cases").out
    assert 'metadata.labels.team: missing, expected "north"' in out
    assert 'spec.clusterIP: expected "10.0.0.1", found "None"' in out
    assert "    Service/default/demo-1  missing" in out


def test_an_object_that_nobody_expected_fails_the_case(put: Put) -> None:
    put("one", {"expected.yaml": service()})
    ended = run("test", "cases")
    assert ended.code == 1
    assert "    ServiceAccount/default/demo  not expected\n" in ended.out
    assert "Service/default/demo-0" not in ended.out


def test_the_order_of_documents_and_keys_does_not_matter(put: Put) -> None:
    everything = list(yaml.load_all(run("compile", str(put("one") / "input.yaml")).out, yaml.CSafeLoader))
    put("one", {"expected.yaml": yaml.safe_dump_all(reversed(everything), sort_keys=True)})
    assert run("test", "cases").code == 0


def test_kinds_that_are_not_compared_may_be_anything(put: Put) -> None:
    put("one", {**ONE, "expected.yaml": service() + "---\n" + service().replace("kind: Service", "kind: Other")})
    assert run("test", "cases").code == 0
