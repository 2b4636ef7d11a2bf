"""Finds the built-in topology file for the machine that a check runs on, by the instance type of its node (ADR-026, Topology selection).

Admission knows the type only of a pod that is bound to one. Others learn it here: the gang controller writes it beside the gang's peers,
and a check may ask for its own Node, with the token of its pod, where RBAC allows that.
"""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from preflight_images.shared.outcome import Misconfigured

FOLDER = "/opt/nvsentinel/nccl-topologies"
"""Where the images have the files."""
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where admission mounts the token of a pod, and the certificate of its API server."""
HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
"""The variables by which a kubelet tells every container the address of its API server."""
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
PATIENCE = 10.0
"""Seconds for an API server to answer; a check goes on without."""


class UnknownInstanceType(Exception):
    """The instance type of the node cannot be found out. The message is one line."""


def built_in_file(environment: Mapping[str, str], tell: Callable[[str], None], instance_type: str = "") -> str:
    """Returns the path of the file for the instance type, which is the node's if it is not given; empty if NCCL is to detect the topology.

    `tell` is told why there is none. Raises `Misconfigured` where NCCL may not detect the topology.
    """
    text = environment.get("TOPOLOGY_FILES")
    if not text:
        return ""  # admission has decided
    try:
        machine = instance_type or node_instance_type(environment)
        file = _files(text).get(machine)
        if file:
            return f"{FOLDER}/{file}"
        problem = f"there is no topology file for instance type {machine}"
    except UnknownInstanceType as error:
        problem = f"the type of this machine is unknown: {error}"
    if environment.get("TOPOLOGY_FALLBACK") == "false":
        raise Misconfigured(f"{problem}, and ncclTopology.enableFallback does not let NCCL detect the topology")
    tell(f"{problem}; NCCL detects the topology itself")
    return ""


def _files(text: str) -> dict[str, str]:
    try:
        files = json.loads(text)
    except ValueError:
        files = None
    if not isinstance(files, dict) or not all(isinstance(file, str) for file in files.values()):
        raise Misconfigured(f"TOPOLOGY_FILES is {text[:200]!r}; expected a JSON object with a file for each instance type")
    return files


def node_instance_type(environment: Mapping[str, str]) -> str:
    """Returns the instance type that a label of the pod's own Node tells, asked for with the pod's token. Raises `UnknownInstanceType`."""
    name, label = environment.get("NODE_NAME", ""), environment.get("INSTANCE_TYPE_LABEL", "")
    host, port = environment.get(HOST, ""), environment.get(PORT, "443")
    try:
        token = (ACCOUNT / "token").read_text().strip()
        trust = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    except OSError:
        raise UnknownInstanceType("the pod has no service account token to read its node with") from None
    if not host or not name:
        raise UnknownInstanceType("there is no API server to read the node from")
    url = f"https://{f'[{host}]' if ':' in host else host}:{port}/api/v1/nodes/{quote(name)}"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}", "Accept": METADATA})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE, context=trust) as answer:
            node = json.load(answer)
        machine = (node["metadata"].get("labels") or {}).get(label)
    except urllib.error.HTTPError as error:
        allowed = "its service account may not get nodes" if error.code == 403 else f"the API server answers {error.code}"
        raise UnknownInstanceType(allowed) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnknownInstanceType(f"the API server does not return the node: {error}") from None
    if not machine:
        raise UnknownInstanceType(f"the node {name} has no label {label}")
    return str(machine)
