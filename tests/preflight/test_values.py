"""Helm values that are wrong are told with their place."""

from __future__ import annotations

from grove_compiler.preflight import read_values
from grove_compiler.source.yaml_reader import read_yaml
from tests.suite.rows import rows


@rows(
    ("text", "path", "line", "nearest"),
    [
        ("dcgm: {diagLevl: 2}", "dcgm.diagLevl", 1, "diagLevel"),
        ("preflight-injector:\n  dcgm: {diagLevel: 9}", "preflight-injector.dcgm.diagLevel", 2, ""),
        ("checks:\n- {name: a, image: b}\n- {name: a, image: c}", "checks[1]", 3, ""),
        ("checks:\n- {name: A B, image: b}", "checks[0].name", 2, ""),
        ("checks:\n- {name: a}", "checks[0].image", 2, ""),
        ("gangDiscovery: {method: slurm}", "gangDiscovery.method", 1, ""),
        ("initContainerPlacement: before", "initContainerPlacement", 1, ""),
        ("checkTimeout: soon", "checkTimeout", 1, ""),
        ("platformConnector: {socket: /var/run/a.sock}", "platformConnector.socket", 1, ""),
        ("[]", "", 1, ""),
    ],
)
def test_a_wrong_value_is_told_with_its_place(text: str, path: str, line: int, nearest: str) -> None:
    (document,), _ = read_yaml(text, "values.yaml")
    (finding,) = read_values(document)[1]
    assert (finding.severity, finding.path, finding.line, finding.nearest) == ("error", path, line, nearest)


def test_an_empty_file_means_the_defaults() -> None:
    (document,), _ = read_yaml("preflight-injector:\n", "values.yaml")
    assert read_values(document)[0].manifest == read_values(None)[0].manifest
