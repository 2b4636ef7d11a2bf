"""`grove preflight controller`: what is wrong is told before a cluster is asked to be watched."""

from __future__ import annotations

import pytest

from ..processes import Grove

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
"""


@pytest.mark.parametrize(("text", "place"), [("dcgm: {diagLevl: 2}", "1:8"), ("gangTimeout: 0s", "1:1")])
def test_values_that_are_wrong_are_told_with_their_line(text: str, place: str, grove: Grove) -> None:
    grove.file("config", KUBECONFIG)
    grove.file("values.yaml", text + "\n")
    result = grove("preflight", "controller", "--values", "values.yaml", "--kubeconfig", "config")
    assert result.code == 2
    assert f"values.yaml:{place}" in result.err
    assert "Traceback" not in result.err
