"""What a case asserts of parts of the result, and what is said when it does not hold."""

from __future__ import annotations

from typing import Any

from grove_cli.golden.asserts import compare_asserts, read_asserts
from grove_compiler.source.yaml_reader import read_yaml
from tests.suite.rows import rows


def pod(name: str, image: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "side", "image": "s:1"}, {"name": "main", "image": image, "args": ["a", "b"]}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "labels": {"app": "x"}},
        "spec": {"containers": containers, **spec},
    }


OBJECTS = [pod("a", "m:1"), pod("b", "m:2", nodeName="one"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}]

HOLDS = [
    "- {object: Pod/ns/a}",
    "- {object: Namespace/ns, has: {apiVersion: v1}}",
    "- {object: Pod/ns/a, has: {metadata: {labels: {app: x}}}}",
    "- {object: Pod/ns/a, has: {spec: {nodeName: null}}}",
    "- {object: Pod/ns/a, has: {spec: {containers: [{name: main, image: 'm:1'}]}}}",
    "- {object: Pod/ns/a, has: {spec: {containers: [{name: main}, {name: side}]}}}",
    "- {each: {kind: Pod}, has: {metadata: {labels: {app: x}}}}",
    "- {each: {kind: Pod, spec: {nodeName: one}}, has: {metadata: {name: b}}}",
    "- {count: {kind: Pod}, is: 2}",
    "- {count: {kind: Pod, spec: {nodeName: null}}, is: 1}",
    "- {count: {kind: Pod}, atLeast: 1, atMost: 2}",
    "- {count: {kind: Secret}, is: 0}",
    "- {absent: {kind: Secret}}",
    "- {absent: {kind: Pod, metadata: {labels: {app: y}}}}",
]

DOES_NOT_HOLD = {
    "- {object: Pod/ns/c}": [("Pod/ns/c", "", "missing", "object")],
    "- {object: Pod/ns/a, has: {spec: {nodeName: one}}}": [("Pod/ns/a", "spec.nodeName", "missing", "has")],
    "- {object: Pod/ns/b, has: {spec: {nodeName: null}}}": [("Pod/ns/b", "spec.nodeName", "changed", "has")],
    "- {object: Pod/ns/a, has: {spec: {containers: [{name: main, image: 'm:2'}]}}}": [
        ("Pod/ns/a", "spec.containers[name=main].image", "changed", "has")
    ],
    "- {object: Pod/ns/a, has: {spec: {containers: [{name: init}]}}}": [("Pod/ns/a", "spec.containers[name=init]", "missing", "has")],
    "- {object: Pod/ns/a, has: {spec: {containers: [{name: main, args: [a]}]}}}": [
        ("Pod/ns/a", "spec.containers[name=main].args[1]", "unexpected", "has")
    ],
    "- {each: {kind: Pod}, has: {spec: {nodeName: one}}}": [("Pod/ns/a", "spec.nodeName", "missing", "has")],
    "- {each: {kind: Secret}, has: {type: x}}": [("each Secret", "", "missing", "each")],
    "- {count: {kind: Pod}, is: 1}": [("count Pod", "is", "changed", "is")],
    "- {count: {kind: Pod}, atLeast: 3, atMost: 1}": [
        ("count Pod", "atLeast", "changed", "atLeast"),
        ("count Pod", "atMost", "changed", "atMost"),
    ],
    "- {absent: {kind: Namespace}}": [("Namespace/ns", "", "unexpected", "absent")],
}

WRONG = {
    "": "expected a list of asserts",
    "[]": "expected a list of asserts",
    "a: 1": "expected a list of asserts",
    "- 1": "an assert is a map with exactly one of object, each, count, absent",
    "- {has: {}}": "an assert is a map with exactly one of",
    "- {object: Pod/a, absent: {}}": "an assert is a map with exactly one of",
    "- {object: {kind: Pod}}": "`object` is text",
    "- {object: Pod/a, hsa: {}}": "an assert with `object` has no 'hsa'; the keys are object, has",
    "- {count: {kind: Pod}}": "a `count` requires one of is, atLeast, atMost",
    "- {count: {kind: Pod}, is: true}": "`is` is a number",
    "- {each: {kind: Pod}}": "`each` requires `has`, which each object must match",
    "- {absent: {}}\n---\n- {absent: {}}": "a second document",
}


@rows("text", HOLDS)
def test_what_is_so_holds(text: str) -> None:
    asserts, problems = read_asserts(read_yaml(text, "asserts.yaml")[0], "asserts.yaml")
    assert (problems, compare_asserts(asserts, OBJECTS)) == ([], [])


@rows(("text", "expected"), DOES_NOT_HOLD.items())
def test_what_is_not_so_is_told_with_its_place(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    asserts, _ = read_asserts(read_yaml("- {absent: {kind: Secret}}\n" + text, "asserts.yaml")[0], "asserts.yaml")
    found = compare_asserts(asserts, OBJECTS)
    assert [(one.subject, one.path, one.change, one.at[1]) for one in found] == expected
    assert {(one.document, one.at[0]) for one in found} == {(0, 1)}


@rows(("text", "message"), WRONG.items())
def test_a_wrong_assert_is_reported(text: str, message: str) -> None:
    asserts, problems = read_asserts(read_yaml(text, "asserts.yaml")[0], "asserts.yaml")
    assert (asserts, problems[0].message.startswith(message), problems[0].code) == ([], True, "case/asserts")
