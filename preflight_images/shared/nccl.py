"""Classifies errors of NCCL and PyTorch by the design's taxonomy, and chooses the topology file of the machine for NCCL.

The built-in file is that of the instance type of the node (ADR-026, Topology selection). Admission knows the type only of a pod that is
bound to one. Others learn it here: the gang controller writes it beside the gang's peers, and a check may ask for its own Node, with the
token of its pod, where RBAC allows that.
"""

from __future__ import annotations

import json
import os
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from preflight_images.shared.outcome import FAILED, CheckOutcome, HealthReport, Misconfigured, RecommendedAction

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


TOPOLOGY = "NCCL_TOPO_FILE"

ACTIONS = {
    "NCCL_SYSTEM_ERROR": RecommendedAction.CONTACT_SUPPORT,
    "NCCL_INTERNAL_ERROR": RecommendedAction.RUN_DCGMEUD,
    "NCCL_INVALID_USAGE": RecommendedAction.NONE,
    "NCCL_TIMEOUT": RecommendedAction.NONE,
    "NCCL_REMOTE_ERROR": RecommendedAction.CONTACT_SUPPORT,
}
"""ADR-026, Error to Recommended Action Mapping."""
FATAL = {"NCCL_SYSTEM_ERROR", "NCCL_INTERNAL_ERROR", "NCCL_REMOTE_ERROR"}
"""ADR-026, isFatal determination: hardware errors are, timeouts and mistakes of configuration are not."""

BANDWIDTH = "NCCL_BW_DEGRADED"
"""An addition to the design: a working but slow link. It stops the pod without blaming hardware, so that nothing is remediated."""

TEST_ERROR = "NCCL_TEST_ERROR"
"""An addition: the test did not get far enough to evaluate hardware."""

SHARED_MEMORY = "NCCL_SHARED_MEMORY"
"""An addition: NCCL reports a `system error` if a container has too little of /dev/shm, which is no fault of its node."""

PATTERNS = (
    (SHARED_MEMORY, r"no space left on device|/dev/shm"),
    (TEST_ERROR, r"out of memory|OutOfMemoryError"),
    (
        "NCCL_INVALID_USAGE",
        r"invalid (usage|argument)|ncclInvalid(Usage|Argument)"
        r"|driver version is insufficient|no kernel image|unsupported toolchain|forward compatibility|unsupported display driver",
    ),
    ("NCCL_REMOTE_ERROR", r"remote (process|error)|ncclRemoteError|connection (closed|reset) by (remote )?peer|peer closed"),
    ("NCCL_TIMEOUT", r"timeout|timed out"),
    ("NCCL_INTERNAL_ERROR", r"internal error|ncclInternalError"),
    ("NCCL_SYSTEM_ERROR", r"(unhandled )?(system|cuda) error|ncclSystemError|ncclUnhandledCudaError|CUDA failure|CUDA error"),
    ("NCCL_INTERNAL_ERROR", r"nccl"),
)
"""Patterns in order of precedence: an error about a lost peer often contains `system error` as well.

An image that is newer than the driver fails on every node of a cluster, and memory of GPUs may be somebody else's: no hardware is at fault.
"""


def error_of(text: str) -> str:
    """Returns the error of a text: NCCL_INTERNAL_ERROR for an unspecific one of NCCL, NCCL_TEST_ERROR for any other."""
    return next((code for code, pattern in PATTERNS if re.search(pattern, text, re.IGNORECASE)), TEST_ERROR)


def with_topology(environment: Mapping[str, str], tell: Callable[[str], None], instance_type: str = "") -> dict[str, str]:
    """Returns the environment for NCCL with the topology file: the one that it names, else the built-in one for the machine.

    Without either, and without a file that is missing, NCCL detects the topology. Raises `Misconfigured` where it may not.
    """
    file = environment.get(TOPOLOGY, "") or built_in_file(environment, tell, instance_type)
    others = {name: value for name, value in environment.items() if name != TOPOLOGY}
    if not file:
        return others
    if os.path.isfile(file):
        return {**others, TOPOLOGY: file}
    tell(f"there is no topology file {file}; NCCL detects the topology itself")
    return others


def failure(check_name: str, code: str, message: str) -> CheckOutcome:
    """Returns the outcome of a test with an error of the taxonomy, or an addition to it, which is never fatal."""
    report = HealthReport(check_name, message, is_fatal=code in FATAL, action=ACTIONS.get(code, RecommendedAction.NONE), error_code=code)
    return CheckOutcome(FAILED, message, (report,), error_code=code)
