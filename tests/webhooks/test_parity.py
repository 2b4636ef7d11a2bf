"""Every case of validation through a real API server: kubectl tells what linting the file finds, error by error, field by field.

All cases are tried as new objects or as updates on a control plane of their own. Each has a user name, by which the server of the webhooks
knows with which configuration and which cluster the case is to be judged; old states are stored by the one user whom nobody asks.
"""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from applier.testing.control_plane import ControlPlane
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.model.inputs.settings import OFFLINE_KUBE_VERSION, Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import Context
from grove_operator.install.webhook_configurations import VALIDATE_SETS, VALIDATE_TOPOLOGIES, Installation, webhook_configurations
from grove_operator.webhooks import authority
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.certificate import ShownCertificate
from grove_operator.webhooks.review import LONGEST_WARNING, Reviewer, sentence
from grove_operator.webhooks.server import WebhookServer
from tests.controller.live.conftest import with_grove
from tests.validation.case_files import Case, name_of, read_case
from tests.webhooks.test_review import ALONE

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("parity")]  # all look at what came of one run

Manifest = dict[str, Any]
SAME_TIME = 4
"""Programs at a time: each asks one server for a moment."""
PATIENCE = 90.0
OPERATOR = Installation("kube-system").user
SERVERS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "namespace")
OTHERWISE = {
    "metadata/generated-name": "the server makes up the name before it asks",
    "metadata/namespace": "tried in the default namespace, and not in the one that is wrong",
    "training/update-to-the-default": "the server writes the default before it asks, and then nothing is changed",
}
"""Cases that a server asks about in another form, and why."""
STORED = threading.Lock()
"""Old states have the same names in many cases, so one is stored at a time."""


class Tried(NamedTuple):
    """What kubectl told of a case: `by_us` when it was our webhook that answered."""

    case: str
    text: str
    by_us: bool
    expected: list[Diagnostic]


def judge_of(case: Case, program: Program) -> Reviewer:
    config = Document({"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", **case.head.get("config", {})})
    settings = Settings(kube_version=case.head.get("kube", OFFLINE_KUBE_VERSION), mnnvl_shape=case.head.get("shape"))
    return Reviewer(Context(program, settings, config), config, ObjectList(case.head.get("snapshot", [])))


class Webhook:
    """The server, in a thread with a loop of its own. `judges` are those of the cases, `asked` the users whose requests came."""

    def __init__(self) -> None:
        self.judges: dict[str, Reviewer] = {}
        self.asked: set[str] = set()
        now = datetime.now(UTC)
        self.authority = authority.make_authority(now)
        self._pair = authority.sign(self.authority, ["admission.kube-system.svc"], now)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def start(self) -> int:
        shown = ShownCertificate()
        shown.show(self._pair.certificate, self._pair.key)
        paths = (VALIDATE_SETS.path, VALIDATE_TOPOLOGIES.path)
        self._server = WebhookServer(dict.fromkeys(paths, self._validate), shown.tls, print)
        return asyncio.run_coroutine_threadsafe(self._server.start("127.0.0.1", 0), self._loop).result(60)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _validate(self, review: Any) -> Manifest:
        user = review["request"]["userInfo"]["username"]
        self.asked.add(user)
        return await Answers(lambda: self.judges[user]).validate(review)


@pytest.fixture(scope="module")
def tried(program: Program) -> Iterator[list[Tried]]:
    """What came of every case."""
    webhook = Webhook()
    with ControlPlane.start(parts=("kube-controller-manager",)) as plane:
        with_grove(plane)
        port = webhook.start()
        try:
            install(plane, webhook, port, program)
            with ThreadPoolExecutor(SAME_TIME) as pool:
                yield list(pool.map(lambda path: try_case(plane, webhook, path, program), ALONE))
        finally:
            webhook.stop()


def install(plane: ControlPlane, webhook: Webhook, port: int, program: Program) -> None:
    """Installs the configurations, and returns once they are in force."""
    bundle = base64.b64encode(webhook.authority.certificate).decode()
    configurations = webhook_configurations(Installation("kube-system", "admission", port), [VALIDATE_SETS, VALIDATE_TOPOLOGIES])
    for one in configurations:
        one["webhooks"][0]["clientConfig"]["caBundle"] = bundle
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "admission", "namespace": "kube-system"}}
    named = {**service, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    plane.kubectl("apply", "-f", "-", input="\n---\n".join(map(json.dumps, [named, *configurations])))
    for kind in ("PodCliqueSet", "ClusterTopology"):
        probe = next(
            case for case in map(read_case, ALONE) if case.documents[0].value["kind"] == kind and not case.expected and not case.old
        )
        user = f"probe-{kind}"
        webhook.judges[user] = judge_of(probe, program)
        deadline = time.monotonic() + PATIENCE
        while user not in webhook.asked:
            create(plane, user, probe.documents[0].value, "--dry-run=server")
            assert time.monotonic() < deadline


def try_case(plane: ControlPlane, webhook: Webhook, path: Path, program: Program) -> Tried:
    case = read_case(path)
    user = name_of(path).replace("/", "-")
    webhook.judges[user] = judge_of(case, program)
    manifest = case.documents[0].value
    snapshot = case.head.get("snapshot", [])
    old = case.old.value if case.old else next((one for one in snapshot if _name(one) == _name(manifest)), None)
    if old is None:
        text = create(plane, user, manifest, "--dry-run=server")
    else:
        text = update(plane, user, old, manifest)
    return Tried(name_of(path), text, user in webhook.asked, case.findings(program))


def create(plane: ControlPlane, user: str, manifest: Manifest, *options: str) -> str:
    """What kubectl tells of a new object."""
    ended = plane.kubectl("create", "-f", "-", *_as(user), *options, input=json.dumps(_stripped(manifest)), check=False)
    return ended.stderr


def update(plane: ControlPlane, user: str, old: Manifest, new: Manifest) -> str:
    """What kubectl tells of an update; empty where the old state is one that the server would not store."""
    with STORED:
        before = plane.kubectl("create", "-f", "-", *_as(OPERATOR), "-o", "json", input=json.dumps(_stripped(old)), check=False)
        if before.returncode:
            return ""
        stored = json.loads(before.stdout)
        metadata = {**_stripped(new)["metadata"], "resourceVersion": stored["metadata"]["resourceVersion"]}
        text = json.dumps({**_stripped(new), "metadata": metadata})
        ended = plane.kubectl("replace", "-f", "-", *_as(user), "--dry-run=server", input=text, check=False)
        place = ("-n", stored["metadata"]["namespace"]) if stored["metadata"].get("namespace") else ()
        plane.kubectl("delete", stored["kind"].lower(), stored["metadata"]["name"], *place, *_as(OPERATOR))
        return ended.stderr


def _stripped(manifest: Manifest) -> Manifest:
    """The manifest as a file has it: in the default namespace, whatever the case says, for no other exists."""
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in SERVERS}
    return {**manifest, "metadata": metadata}


def _as(user: str) -> list[str]:
    return [f"--as={user}", "--as-group=system:masters"]


def _name(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], (manifest.get("metadata") or {}).get("name") or ""


def told_errors(text: str) -> set[str]:
    """The errors in kubectl's text, each with its field."""
    lines = [line for line in text.splitlines() if not line.startswith("Warning: ")]
    several = {line.removeprefix("* ") for line in lines if line.startswith("* ")}
    return several or {line.removeprefix("The request is invalid: ") for line in lines if line.startswith("The request is invalid: ")}


def told_warnings(text: str) -> set[str]:
    return {line.removeprefix("Warning: ") for line in text.splitlines() if line.startswith("Warning: ")}


def expected_errors(one: Tried) -> set[str]:
    return {
        f"{finding.path}: {sentence(finding).removeprefix(finding.path + ': ')}" for finding in one.expected if finding.severity == "error"
    }


def asked_alike(tried: list[Tried]) -> list[Tried]:
    """The cases of which our webhook was asked, in the form in which they are linted."""
    return [one for one in tried if one.by_us and one.case not in OTHERWISE]


def test_what_we_refuse_is_told_by_kubectl_in_the_words_of_lint(tried: list[Tried]) -> None:
    differs = {one.case: (told_errors(one.text), expected_errors(one)) for one in asked_alike(tried)}
    assert {case: pair for case, pair in differs.items() if pair[0] != pair[1]} == {}


def test_what_we_warn_of_is_told_by_kubectl_in_the_words_of_lint(tried: list[Tried]) -> None:
    differs = {}
    for one in asked_alike(tried):
        warnings = {sentence(finding)[: LONGEST_WARNING - 1] for finding in one.expected if finding.severity == "warning"}
        told = {text[: LONGEST_WARNING - 1] for text in told_warnings(one.text)}
        if not warnings <= told:
            differs[one.case] = warnings - told
    assert differs == {}


def test_what_the_server_refuses_itself_lint_refuses_too(tried: list[Tried]) -> None:
    assert [one.case for one in tried if not one.by_us and one.text and not expected_errors(one)] == []


def test_most_cases_come_to_us(tried: list[Tried]) -> None:
    assert sum(one.by_us for one in tried) > len(tried) * 0.6
