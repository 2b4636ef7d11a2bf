"""A restart of a training job beside the same job as a JobSet: `python -m tests.benchmarks.jobset [RANKS]`.

One job of 64 ranks, unless told otherwise, on a real control plane with kube-scheduler and kwok's nodes: a rank fails, all start again,
five times, first under our operator, then under JobSet's controller (built from its Go module) with Kubernetes' Job controller. Told are
the medians of the time from the failure until all ranks of the next attempt run, of how often objects have changed by then and soon after,
whoever changed them, and how many of these changes are the controllers' own: scheduler and nodes do the same for both (they bind a pod, let
it run, and end it). Leases and nodes are not counted. Ends with 1 where ours is slower, or changes more.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from applier.ref import Manifest
from applier.testing import servers
from applier.testing.control_plane import ControlPlane
from applier.testing.plane import CONTROLLER_MANAGER, SCHEDULER, RunningPlane
from grove_operator.webhooks import authority
from tests.benchmarks import jobs
from tests.benchmarks.measure import machine, table
from tests.benchmarks.operator import PODS_PATH, Operator, define, node, until
from tests.go_programs import TOOLS

VERSION = "v0.10.1"
MODULE = f"sigs.k8s.io/jobset@{VERSION}"
RANKS, RESTARTS, NODES = 64, 5, 10
LONGEST, QUIET = 300.0, 4.0
NAME = "race"
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
SHARED = (PODS_PATH, "/api/v1/namespaces/default/events", "/api/v1/namespaces/default/services")
OURS = tuple(f"/apis/grove.io/v1alpha1/namespaces/default/{kind}" for kind in ("podcliquesets", "podcliques"))
GANGS = "/apis/scheduler.grove.io/v1alpha1/namespaces/default/podgangs"
SCHEDULER_NAME = "default-scheduler"
THEIRS = (JOBSETS, "/apis/batch/v1/namespaces/default/jobs")


class Change(NamedTuple):
    """What happened to an object: it was added, modified or deleted, by a controller or by machines."""

    kind: str
    what: str
    is_by_machines: bool


class Restart(NamedTuple):
    """From a failure until all ranks run again: seconds, changes of objects, and those of them that controllers have made."""

    seconds: float
    changes: int
    by_controllers: int


def main() -> int:
    ranks = int(sys.argv[1]) if sys.argv[1:] else RANKS
    if shutil.which("go") is None:
        sys.exit(f"there is no `go` on the path to build {MODULE} with")
    print(f"{machine()}\n", flush=True)
    with tempfile.TemporaryDirectory() as folder, world(Path(folder)) as plane:
        ours = under_ours(plane, ranks, Path(folder))
        theirs = under_jobset(plane, ranks, Path(folder))
    both = (("Grove, here", ours), (f"JobSet {VERSION} and Job", theirs))
    rows = [[name, f"{one.seconds:.2f}", str(one.changes), str(one.by_controllers)] for name, one in both]
    print(table([f"{ranks} ranks, median of {RESTARTS} restarts", "until all run s", "changes", "by the controllers"], rows))
    return 1 if ours.seconds > theirs.seconds or ours.changes > theirs.changes else 0


def under_ours(plane: RunningPlane, ranks: int, folder: Path) -> Restart:
    """Restarts the job under our operator."""
    define(plane)
    operator = Operator(plane, folder / "operator.log")
    time.sleep(3)
    made = jobs.job(NAME)
    made["spec"]["trainingSpec"]["maxRestarts"] = RESTARTS
    made["spec"]["template"]["cliques"][0]["spec"]["replicas"] = ranks
    plane.request("POST", jobs.SETS_PATH, made)
    found = restarted(plane, ranks, (*SHARED, *OURS, GANGS))
    plane.request("DELETE", f"{jobs.SETS_PATH}/{NAME}")
    assert until(lambda: not jobs.living(plane), LONGEST) < LONGEST
    operator.stop()
    return found


def under_jobset(plane: RunningPlane, ranks: int, folder: Path) -> Restart:
    """Restarts the same job under JobSet's controller."""
    source = Path(go("mod", "download", "-json", MODULE, key="Dir"))
    for definition in sorted((source / "config/components/crd/bases").glob("*.yaml")):
        plane.kubectl("apply", "--server-side", "-f", str(definition))
    with controller(built(source), plane, folder):
        made = until(lambda: is_taken(plane, ranks), LONGEST)
        assert made < LONGEST, (folder / "jobset.log").read_text()[-2000:]
        return restarted(plane, ranks, (*SHARED, *THEIRS))


def is_taken(plane: RunningPlane, ranks: int) -> bool:
    """Whether the server knows the kind by now, and has made the JobSet."""
    return bool(plane.kubectl("apply", "-f", "-", input=json.dumps(jobset(ranks)), check=False).returncode == 0)


def jobset(ranks: int) -> dict[str, Any]:
    """The job as a JobSet, with the defaults that its webhook would fill in."""
    box = {"name": "box", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "10m"}}}
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "subdomain": NAME, "containers": [box]}
    counts = {"parallelism": ranks, "completions": ranks, "completionMode": "Indexed", "backoffLimit": 0}
    job = {"name": "worker", "replicas": 1, "template": {"spec": {**counts, "template": {"spec": pod}}}}
    spec = {
        "replicatedJobs": [job],
        "network": {"enableDNSHostnames": True, "subdomain": NAME, "publishNotReadyAddresses": True},
        "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "failurePolicy": {"maxRestarts": RESTARTS, "restartStrategy": "Recreate"},
    }
    metadata = {"name": NAME, "namespace": "default"}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}


def restarted(plane: RunningPlane, ranks: int, kinds: tuple[str, ...]) -> Restart:
    """Lets a rank fail again and again; the medians of what follows."""
    assert until(lambda: len(running_pods(plane)) == ranks, LONGEST) < LONGEST, "the job does not run"
    found = []
    for _ in range(RESTARTS):
        time.sleep(QUIET)
        before = running_pods(plane)
        version = plane.request("GET", f"{PODS_PATH}?limit=1")["metadata"]["resourceVersion"]
        began = time.monotonic()
        jobs.ended(plane, [next(iter(before.values()))], 1)
        assert until(lambda old=before: runs_anew(plane, old, ranks), LONGEST) < LONGEST, "it does not run again"  # type: ignore[misc]
        seconds = time.monotonic() - began
        time.sleep(QUIET)
        found.append(told(seconds, [change for kind in kinds for change in changes(plane, kind, version, before)]))
    seconds, changed, own = (statistics.median(values) for values in zip(*found, strict=True))
    return Restart(seconds, int(changed), int(own))


def told(seconds: float, seen: list[Change]) -> Restart:
    """A restart as figures, after it was told who has changed what how often."""
    found = Restart(seconds, len(seen), sum(not change.is_by_machines for change in seen))
    counts = Counter(f"{change.kind} {change.what}{' by machines' if change.is_by_machines else ''}" for change in seen)
    print(f"{seconds:.2f} s: {', '.join(f'{count} {what}' for what, count in sorted(counts.items()))}", flush=True)
    return found


def running_pods(plane: RunningPlane) -> dict[str, Manifest]:
    """The pods that run, by UID."""
    return {pod["metadata"]["uid"]: pod for pod in jobs.living(plane) if pod.get("status", {}).get("phase") == "Running"}


def runs_anew(plane: RunningPlane, old: dict[str, Any], ranks: int) -> bool:
    now = running_pods(plane)
    return len(now) == ranks and not now.keys() & old.keys()


def changes(plane: RunningPlane, path: str, version: str, pods: dict[str, Manifest]) -> list[Change]:
    """How objects of a kind have been made, changed and deleted since a version, at which there were these `pods`, by UID."""
    # As text: what a watch says is one JSON a line, and no JSON as a whole.
    said = plane.kubectl("get", "--raw", f"{path}?watch=1&resourceVersion={version}&timeoutSeconds=2").stdout
    known, found = dict(pods), list[Change]()
    for line in map(json.loads, said.splitlines()):
        new, uid = line["object"], line["object"]["metadata"]["uid"]
        by_machines = is_by_machines(line["type"], new, known.get(uid, {}))
        found.append(Change(path.rpartition("/")[2], line["type"].lower(), by_machines))
        known[uid] = new
    return found


def is_by_machines(what: str, new: Manifest, old: Manifest) -> bool:
    """Whether the scheduler or a node has done it: it told of a place, gave a pod one, let it run, or ended it after it was asked to go."""
    if new["kind"] == "Event":
        return SCHEDULER_NAME in (new.get("reportingComponent"), (new.get("source") or {}).get("component"))
    if new["kind"] != "Pod" or what == "ADDED":
        return False
    said = [(one.get("spec", {}).get("nodeName"), one.get("status", {}).get("phase")) for one in (old, new)]
    return what == "DELETED" or said[0] != said[1] or new["metadata"].get("deletionGracePeriodSeconds") == 0


@contextmanager
def world(folder: Path) -> Iterator[RunningPlane]:
    """A control plane with nodes, on which pods of Jobs run until they are told to have ended: kwok would end them at once."""
    with ControlPlane.start(parts=(CONTROLLER_MANAGER, SCHEDULER)) as plane:
        stages = [one for one in yaml.load_all((plane.programs.folder / "kwok-stages.yaml").read_text("utf-8"), yaml.CSafeLoader) if one]
        kept = [one for one in stages if one["metadata"]["name"] != "pod-complete"]
        (folder / "stages.yaml").write_text(yaml.safe_dump_all(kept), "utf-8")
        given = servers.kwok(plane.programs, plane.users["system:kwok"].kubeconfig)
        command = [f"--config={folder / 'stages.yaml'}" if word.startswith("--config=") else word for word in given]
        with process(command, folder / "kwok.log"):
            plane.kubectl("apply", "-f", "-", input="\n---\n".join(json.dumps(node(number)) for number in range(NODES)))
            yield plane


@contextmanager
def controller(program: str, plane: RunningPlane, folder: Path) -> Iterator[None]:
    """JobSet's controller. Its webhooks listen, and nobody asks them: what they would fill in is there."""
    certificates = folder / "certificates"
    certificates.mkdir()
    now = datetime.now(UTC)
    pair = authority.sign(authority.make_authority(now), ["localhost"], now)
    (certificates / "tls.crt").write_bytes(pair.certificate)
    (certificates / "tls.key").write_bytes(pair.key)
    config = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"port": 19443, "certDir": str(certificates)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": "0"},
    }
    (folder / "jobset.yaml").write_text(yaml.safe_dump(config), "utf-8")
    with process([program, f"--config={folder / 'jobset.yaml'}"], folder / "jobset.log", KUBECONFIG=str(plane.kubeconfig)):
        yield


@contextmanager
def process(command: list[str], log: Path, **environment: str) -> Iterator[None]:
    with log.open("w") as told:
        started = subprocess.Popen(command, stdout=told, stderr=told, env={**os.environ, **environment})
        try:
            yield
        finally:
            started.terminate()
            started.wait(30)


def built(source: Path) -> str:
    """The program, built in a copy of its module: as a dependency of nothing it is refused where a proxy lists no versions of it."""
    program = TOOLS / f"jobset-{VERSION}"
    if not program.exists():
        TOOLS.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "jobset"
            shutil.copytree(source, copy, copy_function=shutil.copyfile)
            copy.chmod(0o755)
            print(f"building {MODULE} …", flush=True)
            subprocess.run(["go", "build", "-mod=mod", "-o", str(program), "."], cwd=copy, check=True)
    return str(program)


def go(*words: str, key: str) -> str:
    """A field of what `go` says as JSON."""
    done = subprocess.run(["go", *words], check=True, capture_output=True, text=True, cwd=tempfile.gettempdir())
    return str(json.loads(done.stdout)[key])


if __name__ == "__main__":
    sys.exit(main())
