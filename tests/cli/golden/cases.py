"""Golden cases of users, small and large enough: what goes in, and the one object that is looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import yaml

SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: demo}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec: {roleName: web, replicas: 1, podSpec: {containers: [{name: web, image: nginx}]}}
"""
WRONG = SET.replace("replicas: 1\n  template", "replicas: -1\n  template")
LABEL = """\
rule: team/label
doc: Every Service has a label.
patch: Service
do: [{op: add, path: /metadata/labels/team, value: north}]
"""
WARNS = SET.replace("podSpec: {", "podSpec: {hostname: x, ")
Files = dict[str, str]
Put = Callable[..., Path]


def service(name: str = "demo-0", **labels: str) -> str:
    """What the set's Service is, with other labels besides."""
    own = {
        "app.kubernetes.io/component": "pcs-headless-service",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/name": "demo-0",
        "app.kubernetes.io/part-of": "demo",
        "grove.io/podcliqueset-replica-index": "0",
    }
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "demo", "controller": True, "blockOwnerDeletion": True}
    metadata = {"name": name, "namespace": "default", "labels": {**own, **labels}, "ownerReferences": [owner]}
    selector = {
        key: own[key] for key in ("app.kubernetes.io/managed-by", "app.kubernetes.io/part-of", "grove.io/podcliqueset-replica-index")
    }
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}, sort_keys=False)


ONE = {"options.yaml": "kinds: [Service]\n", "expected.yaml": service()}


def three(put: Put) -> None:
    """One that fails in a field, one that passes, one of which more comes out than was expected."""
    put("fails", {**ONE, "expected.yaml": service(team='<north> & "co"\x7f')})
    put("passes", ONE)
    put("unexpected", {"expected.yaml": service()})
