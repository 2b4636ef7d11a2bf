"""A real server as the judge of our decisions: what it says to a dry run of the same apply."""

from __future__ import annotations

import copy
import http.client
import json
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from applier.decision import Decision, Schemas, Type, Verdict, decide, hide_secrets, merged, read_openapi
from applier.decision.intent import revealed
from applier.errors import ApiError
from applier.ref import Kind
from applier.testing.control_plane import ControlPlane
from kube_objects.manifest import without_managed_fields

from .manifests import GADGET_DEFINITION, GADGET_GROUP, KINDS, Manifest, Some

_DOCUMENTS = (
    "api/v1",
    "apis/apps/v1",
    "apis/autoscaling/v2",
    "apis/networking.k8s.io/v1",
    "apis/rbac.authorization.k8s.io/v1",
    f"apis/{GADGET_GROUP}/v1",
)
US = "us"
_OTHERS = ("them", "others")


class Reply(NamedTuple):
    status: int
    body: Any


class Server:
    """The few requests that a judge needs, on one connection."""

    def __init__(self, plane: ControlPlane) -> None:
        address = urlsplit(plane.url)
        context: ssl.SSLContext = plane.tls
        self._line = http.client.HTTPSConnection(address.hostname or "", address.port, context=context, timeout=60)
        self._token = plane.token
        self._served: dict[Kind, Any] = {}
        self._schemas: dict[str, Schemas] = {}

    def ask(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Reply:
        data = None if body is None else json.dumps(body)
        self._line.request(method, path, data, {"Authorization": f"Bearer {self._token}", "Content-Type": content_type})
        answer = self._line.getresponse()
        text = answer.read()
        return Reply(answer.status, json.loads(text) if text.startswith(b"{") else {})

    def apply(self, path: str, manifest: Manifest, manager: str, *, force: bool = False, dry_run: bool = False) -> Reply:
        query = f"?fieldManager={manager}" + "&force=true" * force + "&dryRun=All" * dry_run
        return self.ask("PATCH", path + query, manifest, "application/apply-patch+yaml")

    def merge(self, path: str, patch: Manifest, manager: str) -> Reply:
        return self.ask("PATCH", f"{path}?fieldManager={manager}", patch, "application/merge-patch+json")

    def schemas(self) -> Schemas:
        """Those of every kind that is tried here; the definition of the custom one is made, and waited for, first."""
        self.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", GADGET_DEFINITION)
        until = time.monotonic() + 60
        while True:
            documents = [self.ask("GET", f"/openapi/v3/{name}").body for name in _DOCUMENTS]
            schemas = Schemas.joined(map(read_openapi, documents))
            if schemas.get(Kind(GADGET_GROUP, "v1", "Gadget")) is not None or time.monotonic() > until:
                return schemas
            time.sleep(0.2)

    def get(self, kind: Kind) -> Type:
        """The schema of one kind, from the document of its group and version."""
        start = _start(kind)
        if start not in self._schemas:
            self._schemas[start] = read_openapi(self.ask("GET", f"/openapi/v3{start}").body)
        found = self._schemas[start].get(kind)
        assert found is not None, f"{kind} is not described by the server"
        return found

    def serves(self, kind: Kind) -> bool:
        """Whether the server has this kind at all, in this version."""
        return any(one["kind"] == kind.kind for one in self.ask("GET", _start(kind)).body.get("resources", ()))

    def path_of(self, manifest: Manifest, namespace: str) -> str:
        """The URL path of an object; one without a namespace of its own is in the one that is given."""
        kind = Kind.of(manifest)
        if kind not in self._served:
            resources = self.ask("GET", _start(kind)).body["resources"]
            self._served[kind] = next(one for one in resources if one["kind"] == kind.kind and "/" not in one["name"])
        served, place = self._served[kind], manifest["metadata"].get("namespace", namespace)
        return _start(kind) + (f"/namespaces/{place}" if served["namespaced"] else "") + f"/{served['name']}/{manifest['metadata']['name']}"


def _start(kind: Kind) -> str:
    return f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"


class Pair(NamedTuple):
    """A live object and what we want of it."""

    live: Manifest
    intent: Manifest
    path: str
    force: bool


@dataclass(slots=True)
class Tally:
    """What came out: how often each verdict was right, and every pair on which we and the server disagree."""

    right: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def count(self, word: str) -> None:
        self.right[word] = self.right.get(word, 0) + 1

    def left_to_server(self) -> float:
        """The share of pairs that only the server could decide, although it refuses none of them."""
        return self.right.get(Verdict.UNKNOWN, 0) / max(1, sum(self.right.values()) + len(self.wrong))


def pairs(server: Server, namespace: str, seed: int, tries: int, kinds: tuple[str, ...] = tuple(KINDS)) -> Any:
    """Random pairs: objects that several managers have written, each with `tries` intents for us."""
    random = Random(seed)
    make = KINDS[kinds[seed % len(kinds)]]
    name = f"{make.__name__.replace('_', '-')}-{seed}"

    def fresh() -> Manifest:
        return make(Some(random), name)

    last = _history(server, namespace, random, fresh)
    path = server.path_of(last, namespace)
    live = server.ask("GET", path).body
    if live.get("kind") == "Status":
        return
    for _ in range(tries):
        yield Pair(live, _intent(random, last, fresh), path, random.random() < 0.3)
    server.merge(path, {"metadata": {"finalizers": None}}, US)
    server.ask("DELETE", path)


def _history(server: Server, namespace: str, random: Random, fresh: Any) -> Manifest:
    """Writes an object as several managers, in random order; gives what we applied last, or would have."""
    last: Manifest = fresh()
    for _ in range(random.randint(1, 4)):
        manifest = fresh()
        path = server.path_of(manifest, namespace)
        way = random.random()
        if way < 0.5:
            if server.apply(path, manifest, US, force=True).status < 300:
                last = manifest
        elif way < 0.7:
            server.apply(path, manifest, random.choice(_OTHERS), force=True)
        elif way < 0.8:
            server.merge(
                path, {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind")}, random.choice((US, "editor"))
            )
        elif way < 0.9:
            server.merge(path + "/scale", {"spec": {"replicas": random.choice((1, 4))}}, "scaler")
        else:
            server.ask("POST", path.rpartition("/")[0] + "?fieldManager=creator", manifest)
    return last


def _intent(random: Random, last: Manifest, fresh: Callable[[], Manifest]) -> Manifest:
    """What we applied last, that with some parts changed, or something else."""
    way = random.random()
    if way < 0.3:
        return last
    if way < 0.4:
        return fresh()
    intent, other = copy.deepcopy(last), fresh()
    for _ in range(random.randint(1, 3)):
        _mutate(random, intent, other)
    return intent


def _mutate(random: Random, intent: Any, other: Any) -> None:
    """Takes one part away, or takes it over from another manifest, or turns a list around."""
    for key in random.sample(sorted(intent), len(intent)):
        mine, theirs = intent[key], other.get(key) if isinstance(other, dict) else None
        if key in ("apiVersion", "kind", "name", "selector", "serviceName"):
            continue
        if isinstance(mine, dict) and mine and random.random() < 0.8:
            return _mutate(random, mine, theirs)
        if isinstance(mine, list) and mine and isinstance(mine[0], dict) and random.random() < 0.6:
            return _mutate(random, random.choice(mine), theirs[0] if isinstance(theirs, list) and theirs else None)
        if isinstance(mine, list) and random.random() < 0.4:
            mine.reverse()
        elif theirs is not None:
            intent[key] = copy.deepcopy(theirs)
        elif key not in ("image", "metadata", "spec", "containers"):
            del intent[key]
        return None
    return None


def judge(server: Server, pair: Pair, schemas: Schemas | Server, tally: Tally) -> None:
    """Decides a pair here and has the server decide it, and notes whether the two agree.

    Where controllers run, the object may have moved on in between: then the pair is judged again as it is now.
    """
    for _ in range(5):
        word, complaint = _judged(server, pair, schemas)
        if complaint:
            live = server.ask("GET", pair.path).body
            if live.get("kind") == "Status":
                return
            if live["metadata"]["resourceVersion"] != pair.live["metadata"]["resourceVersion"]:
                pair = pair._replace(live=live)
                continue
            tally.wrong.append(f"{complaint}\nintent {json.dumps(pair.intent)}\nlive {json.dumps(pair.live)}\nforce {pair.force}")
        else:
            tally.count(word)
        return


def _judged(server: Server, pair: Pair, schemas: Schemas | Server) -> tuple[str, str]:
    """The word to count an agreement under, and the complaint where there is none."""
    schema = schemas.get(Kind.of(pair.intent))
    force = ("*",) if pair.force else ()
    decision = decide(pair.intent, pair.live, schema, manager=US, force=force)
    reply = server.apply(pair.path, revealed(decision.intent, pair.intent), US, force=decision.force, dry_run=True)
    complaint = _complaint(decision, reply, pair)
    if not complaint and schema is not None and reply.status in (200, 409):
        complaint = _other_owners(decision, reply, pair, schema)
    return decision.verdict if reply.status in (200, 409) else f"refused, {decision.verdict}", complaint


def _complaint(decision: Decision, reply: Reply, pair: Pair) -> str:
    verdict, why = decision.verdict, f"{decision.reason} {[(change.path, change.old, change.new) for change in decision.changes]}"
    if reply.status == 409:
        if verdict is Verdict.CONFLICT:
            return ""
        return f"we say {verdict} ({why}), the server has a conflict: {reply.body.get('message')}"
    if reply.status != 200 and "parameters: Forbidden" in str(reply.body.get("message")):
        return ""  # validation of a StorageClass tells an empty map from none, although it stores none for both: there is nothing to write
    if reply.status != 200:
        return f"we say {verdict}, the server refuses: {reply.body.get('message')}" if verdict is Verdict.SAME else ""
    changed = _without_times(reply.body) != _without_times(pair.live)
    if verdict is Verdict.UNKNOWN or (verdict is Verdict.CHANGE and changed) or (verdict is Verdict.SAME and not changed):
        return ""
    return f"we say {verdict} ({why}), the server {'changes' if changed else 'does not change'} it:\nserver {json.dumps(reply.body)}"


def _without_times(manifest: Manifest) -> Manifest:
    metadata = manifest["metadata"]
    entries = [{key: value for key, value in entry.items() if key != "time"} for entry in metadata.get("managedFields", ())]
    ordered = sorted(entries, key=lambda entry: json.dumps(entry, sort_keys=True))
    kept = {key: value for key, value in metadata.items() if key not in ("managedFields", "resourceVersion", "generation")}
    return {**manifest, "metadata": {**kept, "managedFields": ordered}}


def _causes(reply: Reply) -> list[tuple[str, str, str]]:
    found = (reply.body.get("details") or {}).get("causes") or ()
    return [(cause.get("reason", ""), cause.get("field", ""), cause.get("message", "")) for cause in found]


def _other_owners(decision: Decision, reply: Reply, pair: Pair, schema: Any) -> str:
    """Whether our merged object has other owners than the server's."""
    try:
        sent = revealed(decision.intent, pair.intent)
        ours = merged(sent, pair.live, schema, manager=US, force=decision.force, now="2026-01-01T00:00:00Z")
    except ApiError as error:
        here, there = (sorted((cause[1], cause[2].partition(" at ")[0]) for cause in causes) for causes in (error.causes, _causes(reply)))
        return "" if here == there and reply.status == 409 else f"other conflicts: {error}\nserver {json.dumps(reply.body)}"
    if not pair.live["metadata"].get("managedFields"):
        return ""  # who owned it before is the server's guess, made of Go's zero values, which no document describes
    here, there = (_without_times(one)["metadata"]["managedFields"] for one in (ours, reply.body))
    return "" if here == there else f"other owners:\nours {json.dumps(here)}\nserver {json.dumps(there)}"


__all__ = ["Pair", "Server", "Tally", "hide_secrets", "judge", "pairs", "without_managed_fields"]
