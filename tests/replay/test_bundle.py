"""A bundle: what stands in it, what never does, and what is said of a file that is none."""

from __future__ import annotations

import json
from hashlib import sha256
from random import Random

import pytest

from grove_compiler.replay.bundle import BadBundle, decode, encode
from grove_compiler.source.document import Document
from tests.features.compiling import documents_of, program_with
from tests.replay.kept import cluster, taken, written
from tests.suite.rows import rows

PASSWORD = "hunter2"
SECRET = "rule: own/secret\ndoc: A password.\ngenerate: own.yaml\nowner: set.ref\n"


def test_an_object_stands_in_it_once() -> None:
    objects = json.loads(encode(taken(None)))["objects"]
    names = [(one["kind"], one["metadata"]["name"]) for one in objects]
    assert len(names) == len(set(names))
    assert ("PodCliqueSet", "demo") in names


def test_it_is_the_same_text_each_time() -> None:
    kept = taken()
    assert encode(kept) == encode(kept)


def test_it_holds_what_the_server_said_to_each_write() -> None:
    kept = taken()
    kept.writes = [{"action": "created", "object": "Pod/default/a"}]
    assert written(kept).writes == kept.writes


def test_no_value_of_a_secret_is_in_it_whoever_made_it() -> None:
    template = f"{{apiVersion: v1, kind: Secret, metadata: {{name: own, namespace: a}}, stringData: {{key: {PASSWORD}}}}}"
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": f'{{"data":"{PASSWORD}"}}'}
    live = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "own", "namespace": "default", "uid": "1", "annotations": annotations},
        "data": {"key": PASSWORD},
    }
    kept = taken(None, [*cluster(), live], program=program_with(SECRET, template))
    kept.answers["get", "", "Secret", "default", "own"] = live  # no step asks for one; whoever would is told no value
    text = encode(kept).decode()
    assert '"stringData":{"key":"hidden"}' in text
    assert '"data":{"key":"hidden"}' in text
    assert PASSWORD not in text


def test_no_step_asks_for_a_secret() -> None:
    assert not [question for replica in (None, 0) for question in taken(replica).answers if question[2] == "Secret"]


def test_of_the_configuration_it_holds_no_address_that_a_password_may_stand_in() -> None:
    [config] = documents_of(
        "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nlogLevel: debug\n"
        f"tracing: {{endpoint: 'https://name:{PASSWORD}@collector.example'}}\n"
    )
    kept = taken(config=Document(config.value))
    assert written(kept).config == {key: value for key, value in config.value.items() if key != "tracing"}
    assert PASSWORD not in encode(kept).decode()


def test_it_is_none_wherever_it_ends_too_early() -> None:
    whole = encode(taken())
    for end in [*range(0, len(whole) - 2, 997), len(whole) - 3]:
        with pytest.raises(BadBundle):
            decode(whole[:end])


def test_it_is_none_whatever_byte_is_changed() -> None:
    whole, chance = encode(taken()), Random(1)
    for _ in range(200):
        place = chance.randrange(len(whole.rstrip()) - 1)
        changed = bytes((*whole[:place], whole[place] ^ 1 << chance.randrange(7), *whole[place + 1 :]))
        with pytest.raises(BadBundle):
            decode(changed)


NONE = {
    "": "it is not JSON",
    "[" * 100_000: "it is not JSON",
    "\xff": "it is not JSON",
    "null": "it is not a bundle: expected a file that the operator wrote",
    '{"format":"grove-replay/9"}': "it has the form grove-replay/9, and this release reads grove-replay/1",
    '{\n"format":"grove-replay/1",\n"key":': "it is truncated",
    '{"format":"grove-replay/1"}': "it was changed after it was written: its digest does not match",
}


@rows("text", NONE, ids=[*map(str, range(len(NONE)))])
def test_a_file_that_is_none_is_told_so(text: str) -> None:
    with pytest.raises(BadBundle) as raised:
        decode(text.encode("latin-1"))
    assert str(raised.value).startswith(NONE[text])


def test_one_that_lacks_what_every_bundle_has_is_told_so() -> None:
    body = '{\n"format":"grove-replay/1"'
    with pytest.raises(BadBundle, match="it is not a complete bundle"):
        decode(f'{body},\n"digest":"{sha256(body.encode()).hexdigest()}"\n}}\n'.encode())
