"""Input made to exhaust a reader: each gets a diagnostic, none a stack, a minute or all memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from grove_compiler.source.findings import Limits
from grove_compiler.source.json_reader import read_json
from grove_compiler.source.yaml_reader import read_yaml


def billion_laughs() -> str:
    names = "abcdefghi"
    lines = ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in pairwise(names)]
    return "\n".join(lines)


def growing_merges() -> str:
    return "- &a0 {k: 1}\n" + "".join(f"- &a{i} {{<<: *a{i - 1}, k{i}: 1}}\n" for i in range(1, 5000))


YAML: list[tuple[str, Callable[[], str], str]] = [
    ("a billion laughs", billion_laughs, "yaml/too-large"),
    ("a large text repeated", lambda: f"a: &a {'x' * 1_000_000}\nb: [{'*a, ' * 1000}]", "yaml/too-large"),
    ("mappings that grow by merging", growing_merges, "yaml/too-large"),
    ("aliases that nest deeper than brackets", lambda: f"a: &a {'[' * 60}{']' * 60}\nb: {'[' * 60}*a{']' * 60}", "yaml/too-deep"),
    ("open brackets", lambda: "[" * 100_000, "yaml/too-deep"),
    ("open and closed brackets", lambda: "[" * 100_000 + "]" * 100_000, "yaml/too-deep"),
    ("open braces", lambda: "{a: " * 100_000, "yaml/too-deep"),
    ("braces as keys", lambda: "{" * 100_000, "yaml/too-deep"),
    ("dashes on one line", lambda: "- " * 2_000_000, "yaml/too-deep"),
    ("question marks on one line", lambda: "? " * 2_000_000, "yaml/too-deep"),
    ("growing indentation", lambda: "".join(" " * i + "a:\n" for i in range(3000)), "yaml/too-deep"),
    ("more text than the limit", lambda: "a" * (64 * 1024 * 1024 + 1), "yaml/too-large"),
    ("declared tags", lambda: "".join(f"%TAG !a{i}! tag:x\n" for i in range(20_000)) + "---\na\n", "yaml/too-large"),
    ("a duplicate key very often", lambda: "a: 1\n" * 500_000, "yaml/duplicate-key"),
    ("syntax errors very often", lambda: "---\n[\n" * 500_000, "yaml/syntax"),
    ("control characters", lambda: "\x01" * 1_000_000, "yaml/character"),
    ("an integer of many digits", lambda: "9" * 5000, "yaml/number"),
    ("a hexadecimal integer of many digits", lambda: "0x" + "f" * 100_000, "yaml/number"),
    ("a cycle", lambda: "a: &a [b, *a]", "yaml/cyclic-alias"),
    ("an open quote before much text", lambda: '"' + "a\n" * 1_000_000, "yaml/syntax"),
    ("a tab line of ten megabytes", lambda: "\t" * 10_000_000, "yaml/tab"),
]


@pytest.mark.parametrize(("make", "code"), [case[1:] for case in YAML], ids=[case[0] for case in YAML])
def test_hostile_yaml_gets_a_diagnostic(make: Callable[[], str], code: str) -> None:
    assert read_yaml(make(), "hostile.yaml")[1][0].code == code


JSON: list[tuple[str, Callable[[], str], str]] = [
    ("open brackets", lambda: "[" * 100_000, "json/too-deep"),
    ("open and closed brackets", lambda: "[" * 100_000 + "]" * 100_000, "json/too-deep"),
    ("just too many brackets", lambda: "[" * 101 + "]" * 101, "json/too-deep"),
    ("open braces", lambda: '{"a":' * 100_000, "json/too-deep"),
    ("an integer of many digits", lambda: "9" * 5000, "json/number"),
    ("a duplicate key very often", lambda: "{" + '"a":1,' * 200_000 + '"a":1}', "json/duplicate-key"),
    ("an open quote before much text", lambda: '"' + "a" * 5_000_000, "json/syntax"),
    ("more text than the limit", lambda: "1" * (64 * 1024 * 1024 + 1), "json/too-large"),
]


@pytest.mark.parametrize(("make", "code"), [case[1:] for case in JSON], ids=[case[0] for case in JSON])
def test_hostile_json_gets_a_diagnostic(make: Callable[[], str], code: str) -> None:
    assert read_json(make(), "hostile.json")[1][0].code == code


LARGE: dict[str, Callable[[], str]] = {
    "plain": lambda: "a" * 10_000_000,
    "quoted": lambda: '"' + "a" * 10_000_000 + '"',
    "key": lambda: "? " + "a" * 10_000_000 + "\n: 1",
    "comment": lambda: "#" * 10_000_000 + "\na",
    "anchor": lambda: "&" + "a" * 1_000_000 + " b",
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_one_line_of_ten_megabytes_is_read(make: Callable[[], str]) -> None:
    documents, found = read_yaml(make(), "large.yaml")
    assert (len(documents), found) == (1, [])


def test_more_values_than_the_limit_stop_the_parser_before_the_end() -> None:
    _, (finding,) = read_yaml("- a\n" * 1000, "large.yaml", Limits(nodes=100))
    assert (finding.code, finding.message.startswith("more than 100 values")) == ("yaml/too-large", True)
