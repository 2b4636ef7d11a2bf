"""A change chooses the tests that it can touch."""

from __future__ import annotations

from tests.suite.rows import rows
from tests.suite.touched import touched_modules


@rows(
    ("file", "touched", "not_touched"),
    [
        ("applier/decision/decide.py", "tests.applier.decision.test_decide", "tests.model.test_names"),
        ("grove_compiler/kube/duration.py", "tests.kube.test_duration", "tests.applier.decision.test_decide"),
        ("grove_cli/explain/__init__.py", "tests.cli.explain.test_explain", "tests.kube_objects.test_quantity"),
        ("rules/startup.yaml", "tests.features.test_features", "tests.kube_objects.test_quantity"),
        ("docs/differences.md", "tests.docs.test_index", "tests.kube_objects.test_quantity"),
        ("examples/minimal.yaml", "tests.examples.test_examples", "tests.kube_objects.test_quantity"),
        ("tests/preflight/cases/x.yaml", "tests.preflight.test_cases", "tests.kube_objects.test_quantity"),
        ("tests/kube_objects/test_quantity.py", "tests.kube_objects.test_quantity", "tests.kube.test_duration"),
    ],
)
def test_a_file_touches_what_reads_it_however_indirectly(file: str, touched: str, not_touched: str) -> None:
    found = touched_modules([file])
    assert touched in found
    assert not_touched not in found


def test_what_imports_a_file_itself_is_nearer_than_what_imports_that() -> None:
    found = touched_modules(["grove_compiler/kube/duration.py"])
    assert found["grove_compiler.kube.duration"] == 0
    assert found["tests.kube.test_duration"] == 1 < found["tests.features.test_features"]


def test_an_unknown_file_touches_nothing() -> None:
    assert touched_modules([f"{'x' * 9}/{'y' * 9}.z"]) == {}
