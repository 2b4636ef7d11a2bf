"""The examples of the annotation design: what it prints is what we make, to the letter in the fields that it prints."""

from __future__ import annotations

import re

import pytest

from tests.suite.rows import rows

from .compiling import Objects, names_of, objects_of, owners_of
from .pages import Manifest, Section, not_shown_alike, read_page

PAGE = read_page("mnnvl-annotations-webhooks.md")
EXAMPLES = [section.title for section in PAGE if section.title.startswith("Example ")]
TOTAL = re.compile(r"Resulting (\w+)s \((\d+) total")


def parts(example: str) -> list[Section]:
    return [section for section in PAGE if example in section.above]


def input_of(example: str) -> Manifest:
    [found] = [manifest for section in parts(example) if section.title.startswith("Input") for manifest in section.manifests]
    return found


def printed(example: str) -> list[Manifest]:
    return [manifest for section in parts(example) if section.title.startswith("Resulting") for manifest in section.manifests]


PRINTED = [
    pytest.param(example, shown, id=f"{shown['kind']}-{shown['metadata']['name']}") for example in EXAMPLES for shown in printed(example)
]


@pytest.fixture(scope="module")
def made() -> dict[str, Objects]:
    return {example: objects_of(input_of(example)) for example in EXAMPLES}


@rows(("example", "shown"), PRINTED)
def test_an_object_that_the_design_prints_is_ours(example: str, shown: Manifest, made: dict[str, Objects]) -> None:
    ours = made[example][shown["kind"], shown["metadata"]["name"]]
    assert not_shown_alike(shown, ours) == []


def test_all_that_is_printed_was_read() -> None:
    kinds = [shown.values[1]["kind"] for shown in PRINTED]  # type: ignore[index]
    assert {kind: kinds.count(kind) for kind in kinds} == {"ComputeDomain": 7, "ResourceClaim": 7, "PodClique": 8}


@pytest.mark.parametrize("example", EXAMPLES)
def test_there_are_as_many_as_the_design_counts(example: str, made: dict[str, Objects]) -> None:
    counted = {match[1]: int(match[2]) for section in parts(example) if (match := TOTAL.match(section.title))}
    assert counted
    assert {kind: len(names_of(made[example], kind)) for kind in counted} == counted


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_clique_that_is_printed_without_claims_has_none(example: str, made: dict[str, Objects]) -> None:
    bare = [shown["metadata"]["name"] for shown in printed(example) if "resourceClaims" not in str(shown) and shown["kind"] == "PodClique"]
    found = [name for name in bare if "laims" in str(made[example]["PodClique", name]["spec"])]
    assert (found, bool(bare)) == ([], "Example 2" in example)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_gangs_of_the_pictures_own_what_they_own_there(example: str, made: dict[str, Objects]) -> None:
    [picture] = [section.text for section in parts(example) if section.title == "Resource Topology"]
    gangs = re.split(r"PodGang: ", picture)[1:]
    for text in gangs:
        gang = text.split("\n")[0].strip()
        owned = re.search(r"owns:(.*?)PodClique: ", text, re.DOTALL)
        assert owned is not None
        names = re.findall(r"[a-z0-9-]+-(?:cd|mnnvl-claim)\b", owned[1])
        ours = [name for (_, name), manifest in made[example].items() if ("PodGang", gang) in owners_of_any(manifest)]
        assert sorted(name for name in ours if any(name.endswith(short) for short in names)) == sorted(ours)
        assert len(names) == len(ours)


def owners_of_any(manifest: Manifest) -> list[tuple[str, str]]:
    return owners_of(manifest) if manifest["metadata"].get("ownerReferences") else []


def test_all_cliques_of_a_printed_replica_say_the_same_claim(made: dict[str, Objects]) -> None:
    cliques = {name: manifest for (kind, name), manifest in made[EXAMPLES[0]].items() if kind == "PodClique"}
    claims = {name: manifest["spec"]["podSpec"]["resourceClaims"][0]["resourceClaimName"] for name, manifest in cliques.items()}
    assert claims == {name: f"distributed-training-{name.split('-')[2]}-mnnvl-claim" for name in cliques}
