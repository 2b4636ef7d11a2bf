"""Every case of validation through a real API server: kubectl tells what linting the file finds, error by error, field by field.

All cases are tried as new objects or as updates on a control plane of their own. Each has a user name, by which the server of the webhooks
knows with which configuration and which cluster the case is to be judged; old states are stored by the one user whom nobody asks.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from applier.testing.connections import Connections
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.model.inputs.settings import OFFLINE_KUBE_VERSION, Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_compiler.step import StepContext
from grove_operator.install.webhook_configurations import VALIDATE_SETS, VALIDATE_TOPOLOGIES, Installation, webhook_configuration
from grove_operator.webhooks import authority
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.certificate import ServedCertificate
from grove_operator.webhooks.review import MAX_WARNING_LENGTH, Reviewer, sentence
from grove_operator.webhooks.server import ReviewServer
from tests.controller.live.conftest import with_grove
from tests.validation.case_files import Case, name_of, read_case
from tests.webhooks.test_review import ALONE

pytestmark = pytest.mark.cluster

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
PATHS = {name_of(path): path for path in ALONE}
STORED = threading.Lock()
"""Old states have the same names in many cases, so one is stored at a time."""


class Told(NamedTuple):
    """What a server tells of a request, as kubectl prints it: errors with their fields, and warnings."""

    is_refused: bool
    errors: frozenset[str] = frozenset()
    warnings: frozenset[str] = frozenset()


class Tried(NamedTuple):
    """What was told of a case: `by_us` when it was our webhook that answered."""

    case: str
    told: Told
    by_us: bool
    expected: list[Diagnostic]


def judge_of(case: Case, program: Program) -> Reviewer:
    config = Document({"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", **case.head.get("config", {})})
    settings = Settings(kube_version=case.head.get("kube", OFFLINE_KUBE_VERSION), mnnvl_shape=case.head.get("shape"))
    return Reviewer(StepContext(program, settings, config), ObjectList(case.head.get("snapshot", [])))


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
        shown = ServedCertificate()
        shown.show(self._pair.certificate, self._pair.key)
        paths = (VALIDATE_SETS.path, VALIDATE_TOPOLOGIES.path)
        self._server = ReviewServer(dict.fromkeys(paths, self._validate), shown.tls, print)
        return asyncio.run_coroutine_threadsafe(self._server.start("127.0.0.1", 0), self._loop).result(60)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _validate(self, review: Any, _: int) -> Manifest:
        user = review["request"]["userInfo"]["username"]
        self.asked.add(user)
        return await Answers(lambda: self.judges[user]).validate(review)


class Asked(NamedTuple):
    """A control plane that asks our webhook."""

    plane: ControlPlane
    webhook: Webhook


@pytest.fixture(scope="module")
def asking_plane(program: Program) -> Iterator[Asked]:
    webhook = Webhook()
    with ControlPlane.start(parts=("kube-controller-manager",)) as plane:
        with_grove(plane)
        port = webhook.start()
        try:
            install(plane, webhook, port, program)
            yield Asked(plane, webhook)
        finally:
            webhook.stop()


@pytest.fixture(scope="module")
def tried(asking_plane: Asked, program: Program) -> list[Tried]:
    """What came of every case."""
    client = Client(asking_plane.plane)
    with ThreadPoolExecutor(SAME_TIME) as pool:
        return list(pool.map(lambda path: try_case(client, asking_plane.webhook, path, program), ALONE))


def install(plane: ControlPlane, webhook: Webhook, port: int, program: Program) -> None:
    """Installs the configurations, and returns once they are in force."""
    bundle = base64.b64encode(webhook.authority.certificate).decode()
    installation = Installation("kube-system", "admission", port)
    configurations = [webhook_configuration(hook, installation) for hook in (VALIDATE_SETS, VALIDATE_TOPOLOGIES)]
    for one in configurations:
        one["webhooks"][0]["clientConfig"]["caBundle"] = bundle
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "admission", "namespace": "kube-system"}}
    named = {**service, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    plane.kubectl("apply", "-f", "-", input="\n".join(map(json.dumps, [named, *configurations])))
    for kind in ("PodCliqueSet", "ClusterTopology"):
        probe = next(
            case for case in map(read_case, ALONE) if case.documents[0].value["kind"] == kind and not case.expected and not case.old
        )
        user = f"probe-{kind}"
        webhook.judges[user] = judge_of(probe, program)
        deadline = time.monotonic() + PATIENCE
        while user not in webhook.asked:
            create(Client(plane), user, probe.documents[0].value)
            assert time.monotonic() < deadline


class Client:
    """Sends what kubectl sends. A kubectl for each of a thousand requests takes minutes."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane, self._connections = plane, Connections(plane.url, plane.tls)

    def path(self, manifest: Manifest, name: str = "") -> str:
        return self._plane.objects.kind_of(manifest).path(manifest["metadata"].get("namespace", "default"), name)

    def send(self, method: str, path: str, user: str, body: object = None) -> tuple[Told, Any]:
        """Returns what is told of a request, and the answer."""
        headers = {"Authorization": f"Bearer {self._plane.token}", "Content-Type": "application/json", "Accept": "application/json"}
        headers |= {"Impersonate-User": user, "Impersonate-Group": "system:masters"}
        text = None if body is None else json.dumps(body)
        answer, answered = self._connections.send(method, path, text, headers, PATIENCE)
        warnings = frozenset(unquoted(one) for one in answer.headers.get_all("Warning", []))
        value = json.loads(answered)
        return Told(answer.status >= 400, errors(value) if answer.status >= 400 else frozenset(), warnings), value


def unquoted(warning: str) -> str:
    """The text of a header `299 - "text"`, which is UTF-8 where HTTP has Latin-1."""
    return str(json.loads(warning.partition(" - ")[2].encode("latin-1")))


def errors(status: Manifest) -> frozenset[str]:
    """The errors that kubectl prints of a status, one in each line."""
    if status.get("reason") != "Invalid":
        return frozenset()
    details = status.get("details") or {}
    causes = frozenset(f"{cause.get('field', '<nil>')}: {cause.get('message', '')}" for cause in details.get("causes") or ())
    return causes or frozenset([status["message"]])


def try_case(client: Client, webhook: Webhook, path: Path, program: Program) -> Tried:
    case = read_case(path)
    user = name_of(path).replace("/", "-")
    webhook.judges[user] = judge_of(case, program)
    manifest = case.documents[0].value
    snapshot = case.head.get("snapshot", [])
    old = case.old.value if case.old else next((one for one in snapshot if _name(one) == _name(manifest)), None)
    try:
        told = create(client, user, manifest) if old is None else update(client, user, old, manifest)
    except ControlPlaneError:  # kubectl finds no such kind, and asks no further
        told = Told(True)
    return Tried(name_of(path), told, user in webhook.asked, case.findings(program))


def create(client: Client, user: str, manifest: Manifest) -> Told:
    """What is told of a new object."""
    return client.send("POST", client.path(_stripped(manifest)) + "?dryRun=All", user, _stripped(manifest))[0]


def update(client: Client, user: str, old: Manifest, new: Manifest) -> Told:
    """What is told of an update; nothing where the old state is one that the server would not store."""
    with STORED:
        told, stored = client.send("POST", client.path(_stripped(old)), OPERATOR, _stripped(old))
        if told.is_refused:
            return Told(False)
        metadata = {**_stripped(new)["metadata"], "resourceVersion": stored["metadata"]["resourceVersion"]}
        place = client.path(stored, stored["metadata"]["name"])
        told, _ = client.send("PUT", place + "?dryRun=All", user, {**_stripped(new), "metadata": metadata})
        client.send("DELETE", place, OPERATOR)
        return told


def _stripped(manifest: Manifest) -> Manifest:
    """The manifest as a file has it: in the default namespace, whatever the case says, for no other exists."""
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in SERVERS}
    return {**manifest, "metadata": metadata}


def _as(user: str) -> list[str]:
    return [f"--as={user}", "--as-group=system:masters"]


def _name(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], (manifest.get("metadata") or {}).get("name") or ""


ONE_ERROR = re.compile(r'The (request|\w+ "[^"]*") is invalid: ')


def printed_errors(text: str) -> frozenset[str]:
    """The errors in kubectl's text, each with its field."""
    lines = [line for line in text.splitlines() if not line.startswith("Warning: ")]
    several = frozenset(line.removeprefix("* ") for line in lines if line.startswith("* "))
    return several or frozenset(ONE_ERROR.sub("", line) for line in lines if ONE_ERROR.match(line))


def printed_warnings(text: str) -> frozenset[str]:
    return frozenset(line.removeprefix("Warning: ") for line in text.splitlines() if line.startswith("Warning: "))


def expected_errors(one: Tried) -> set[str]:
    return {
        f"{finding.path}: {sentence(finding).removeprefix(finding.path + ': ')}" for finding in one.expected if finding.severity == "error"
    }


def asked_alike(tried: list[Tried]) -> list[Tried]:
    """The cases of which our webhook was asked, in the form in which they are linted."""
    return [one for one in tried if one.by_us and one.case not in OTHERWISE]


def test_what_we_refuse_is_told_by_kubectl_in_the_words_of_lint(tried: list[Tried]) -> None:
    differs = {one.case: (one.told.errors, expected_errors(one)) for one in asked_alike(tried)}
    assert {case: pair for case, pair in differs.items() if pair[0] != pair[1]} == {}


def test_what_we_warn_of_is_told_by_kubectl_in_the_words_of_lint(tried: list[Tried]) -> None:
    differs = {}
    for one in asked_alike(tried):
        warnings = {sentence(finding)[: MAX_WARNING_LENGTH - 1] for finding in one.expected if finding.severity == "warning"}
        told = {text[: MAX_WARNING_LENGTH - 1] for text in one.told.warnings}
        if not warnings <= told:
            differs[one.case] = warnings - told
    assert differs == {}


def test_what_the_server_refuses_itself_lint_refuses_too(tried: list[Tried]) -> None:
    assert [one.case for one in tried if not one.by_us and one.told.is_refused and not expected_errors(one)] == []


def test_most_cases_come_to_us(tried: list[Tried]) -> None:
    assert sum(one.by_us for one in tried) > len(tried) * 0.6


def test_kubectl_prints_what_we_take_for_told(asking_plane: Asked, tried: list[Tried]) -> None:
    """Of a few cases that are told something, with one error, with several, and with warnings."""
    new = [one for one in asked_alike(tried) if not read_case(PATHS[one.case]).old and not read_case(PATHS[one.case]).head.get("snapshot")]
    kinds = (
        [one for one in new if len(one.told.errors) == 1],
        [one for one in new if len(one.told.errors) > 1],
        [one for one in new if one.told.warnings],
    )
    for one in (case for cases in kinds for case in cases[:3]):
        text = json.dumps(_stripped(read_case(PATHS[one.case]).documents[0].value))
        options = (f"--as={one.case.replace('/', '-')}", "--as-group=system:masters", "--dry-run=server")
        printed = asking_plane.plane.kubectl("create", "-f", "-", *options, input=text, check=False).stderr
        assert (printed_errors(printed), printed_warnings(printed)) == (one.told.errors, one.told.warnings), one.case
    assert all(kinds)
