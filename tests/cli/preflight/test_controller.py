"""`grove preflight controller`: what is wrong is told before a cluster is asked to be watched."""

from __future__ import annotations

from ..processes import Grove

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
"""


def test_values_that_are_wrong_are_told_with_their_line(grove: Grove) -> None:
    grove.file("config", KUBECONFIG)
    grove.file("values.yaml", "dcgm: {diagLevl: 2}\n")
    result = grove("preflight", "controller", "--values", "values.yaml", "--kubeconfig", "config")
    assert result.code == 2
    assert "values.yaml:1:8" in result.err
    assert "Traceback" not in result.err
