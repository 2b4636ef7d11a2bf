"""The schemas of what rule authors write, in the hands of a real YAML language server: what it underlines, and what it offers.

The server comes by npx, from its cache or from the registry of npm; where it cannot be had, these tests are left out.
"""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..running import run

SERVER = "yaml-language-server@1.25.0"
NPX = shutil.which("npx")
SECONDS = 60
"""For the first answer: npx may have to fetch the server."""

pytestmark = pytest.mark.skipif(NPX is None, reason="npx is not here, which brings the YAML language server")


class LanguageServer:
    """Speaks the Language Server Protocol (JSON-RPC with `Content-Length` heads) with a process over its standard streams."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [str(NPX), "--yes", SERVER, "--stdio"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.requests = 0

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while head := stream.readline():
            if head.lower().startswith(b"content-length:"):
                stream.readline()
                self.messages.put(json.loads(stream.read(int(head.partition(b":")[2]))))
        self.messages.put(None)

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def wait_for(self, **wanted: Any) -> dict[str, Any] | None:
        """Returns the next message with these members, and answers what the server asks meanwhile; none when it ends or says nothing."""
        while True:
            try:
                message = self.messages.get(timeout=SECONDS)
            except queue.Empty:
                return None
            if message is None or wanted.items() <= message.items():
                return message
            if "id" in message and "method" in message:
                self.send(id=message["id"], result=None)

    def ask(self, method: str, **params: Any) -> Any:
        """Returns the result of a request."""
        self.requests += 1
        self.send(id=self.requests, method=method, params=params)
        answer = self.wait_for(id=self.requests)
        return answer["result"] if answer else None

    def open(self, name: str, text: str) -> list[dict[str, Any]]:
        """Shows the server a file and returns what it finds wrong."""
        (self.folder / name).write_text(text)
        document = {"uri": (self.folder / name).as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self.send(method="textDocument/didOpen", params={"textDocument": document})
        message = self.wait_for(method="textDocument/publishDiagnostics")
        while message and message["params"]["uri"] != document["uri"]:
            message = self.wait_for(method="textDocument/publishDiagnostics")
        assert message
        found: list[dict[str, Any]] = message["params"]["diagnostics"]
        return found

    def complete(self, name: str, line: int, character: int) -> dict[str, str]:
        """Returns what may stand at a place, counted from 0, with what the server says of each."""
        place = {"line": line, "character": character}
        answer = self.ask("textDocument/completion", textDocument={"uri": (self.folder / name).as_uri()}, position=place)
        items = answer["items"] if isinstance(answer, dict) else answer
        return {item["label"]: str(item.get("documentation")) for item in items}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    folder = tmp_path_factory.mktemp("editor")
    for name in ("rule", "template", "asserts"):
        (folder / f"{name}.schema.json").write_text(run("rules", "schema", name).out)
    server = LanguageServer(folder)
    try:
        if server.ask("initialize", processId=None, rootUri=folder.as_uri(), capabilities={}) is None:
            pytest.skip(f"npx cannot bring {SERVER}")
        server.send(method="initialized", params={})
        yield server
    finally:
        server.process.kill()
        server.process.wait()


RULE = "# yaml-language-server: $schema=rule.schema.json\nrule: team/label\ndoc: Everything says whose it is.\n"
PATCH = RULE + "patch: PodClique\ndo:\n- {op: add, path: /metadata/labels/team, value: search}\n"
TEMPLATE = "# yaml-language-server: $schema=template.schema.json\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def places(found: list[dict[str, Any]]) -> list[int]:
    """The lines of findings, from 1."""
    return [one["range"]["start"]["line"] + 1 for one in found]


def test_what_is_right_is_not_underlined(server: LanguageServer) -> None:
    assert server.open("right.yaml", PATCH) == []
    assert server.open("two.yaml", f"{PATCH}---\ndisable: [service/replica]\n") == []
    assert server.open("template.yaml", TEMPLATE + "data: {$if: set.name, a: '{{ set.name }}'}\n") == []


WRONG = {
    "a misspelt key": ("when.yaml", PATCH + "wehn: set.name\n", 7, "wehn"),
    "a key of another verb": ("of.yaml", PATCH + "message: no\n", 7, "message"),
    "a misspelt operation": ("op.yaml", RULE + "patch: Pod\ndo:\n- {op: ad, path: /a, value: 1}\n", 6, "op"),
    "a template key that is none": ("key.yaml", TEMPLATE + "data: {$fi: set.name}\n", 5, "$fi"),
}


@pytest.mark.parametrize(("name", "text", "line", "word"), WRONG.values(), ids=WRONG.keys())
def test_a_mistake_is_underlined_in_its_line(name: str, text: str, line: int, word: str, server: LanguageServer) -> None:
    found = server.open(name, text)
    assert places(found) == [line], found
    start = found[0]["range"]["start"]["character"]
    assert word in text.splitlines()[line - 1][max(0, start - len(word) - 2) :]


def test_a_misspelt_verb_is_underlined_and_the_verbs_are_named(server: LanguageServer) -> None:
    found = server.open("verb.yaml", RULE + "genrate: own.yaml\n")
    (key,) = [one["message"] for one in found if one["range"]["start"]["line"] == 3]
    (rule,) = [one["message"] for one in found if one["range"]["start"]["line"] != 3]
    assert "genrate" in key
    assert rule.startswith("a rule has exactly one verb of default, validate, ")


def test_verbs_and_keys_are_offered_with_what_they_are_for(server: LanguageServer) -> None:
    server.open("begun.yaml", RULE)
    offered = server.complete("begun.yaml", 3, 0)
    assert {"generate", "patch", "validate", "default", "when", "forEach"} <= offered.keys()
    assert "None" not in {offered["patch"], offered["when"]}


def test_the_operations_of_a_patch_are_offered(server: LanguageServer) -> None:
    server.open("operation.yaml", RULE + "patch: Pod\ndo:\n- op: \n")
    assert {"add", "remove", "replace", "merge"} <= server.complete("operation.yaml", 5, 6).keys()
