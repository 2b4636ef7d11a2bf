"""The folder in which the commands of the pages run: each file that they name is there."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

from grove_cli.rulebook import read as read_rulebook
from grove_compiler.replay.bundle import encode
from tests.replay.kept import taken

from .commands import ROOT

_SETS = ("workload", "set", "pcs", "qwen", "deepseek", "new", "running", "edited", "manifests/web", "sets/web", "old/web", "new/web")
_CALLED = dict.fromkeys(("workload", "new", "running", "edited"), "web")
_SET = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: %s, namespace: NAMESPACE}
spec:
  replicas: 1
  template:
    cliques:
      - name: a
        spec:
          roleName: a
          replicas: 1
          podSpec:
            containers:
              - name: main
                image: registry.example.com/server:1
                resources: {requests: {cpu: 100m}}
"""
_POD = """\
apiVersion: v1
kind: Pod
metadata: {name: worker, namespace: NAMESPACE}
spec:
  containers:
    - name: main
      image: registry.example.com/server:1
      resources: {limits: {nvidia.com/gpu: 8}}
"""
_SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: NAMESPACE}\n"
_OPERATOR = "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
_BROKEN = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: broken}
spec:
  replicas: 1
  replcas: 2
  template:
    cliques:
      - name: a
        spec:
          roleName: a
          replicas: 1
          minAvailable: 2
          podSpec:
            containers:
              - name: main
                image: server:1
                resources:
                  limits: {memory: 4GB}
"""


def build(folder: Path, namespace: str) -> None:
    """Writes everything. Sets are called as their files, but for those that the pages call otherwise."""

    def write(name: str, text: str) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("NAMESPACE", namespace))

    for name in _SETS:
        stem = Path(name).name
        write(f"{name}.yaml", _SET % _CALLED.get(stem, stem))
    write("broken.yaml", _BROKEN)
    write("operator.yaml", _OPERATOR)
    write("pod.yaml", _POD)
    write("values.yaml", "namespaces: [NAMESPACE]\n")
    write("demo.json", _bundle())
    write("now.yaml", "apiVersion: v1\nkind: List\nitems: []\n")
    write("now.json", '{"apiVersion": "v1", "kind": "List", "items": []}\n')
    shutil.copy(ROOT / "examples" / "nodes.yaml", folder / "nodes.yaml")
    for name in ("our-rules", "my-rules"):
        shutil.copytree(ROOT / "examples" / "rules" / "network-policy", folder / name)
    for name in ("queue-policy", "gpu"):
        shutil.copytree(ROOT / "examples" / "rules" / "network-policy" / "tests" / "one-policy", folder / "tests" / name)
        options = folder / "tests" / name / "options.yaml"
        options.write_text(options.read_text().replace("../..", "../../our-rules"))
    write("house-rules/images.yaml", re.search(r"^\$ cat house-rules/images.yaml\n(.*?)^\$ ", _readme(), re.M | re.S)[1])  # type: ignore[index]
    for name in ("chart", "web"):
        write(f"{name}/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
        write(f"{name}/templates/set.yaml", _SET % "from-a-chart")
        write(f"{name}/templates/settings.yaml", _SETTINGS)
    write("overlays/prod/kustomization.yaml", "resources: [set.yaml]\nnameSuffix: -prod\n")
    write("overlays/prod/set.yaml", _SET % "from-a-base")
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "docs").symlink_to(ROOT / "docs")


@cache
def _bundle() -> str:
    """A look of the operator at a replica, by the rules that ship."""
    kept = taken()
    kept.rules = read_rulebook().name
    return encode(kept).decode()


def _readme() -> str:
    return (ROOT / "README.md").read_text("utf-8")
