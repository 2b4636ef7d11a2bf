"""How texts are quoted: over a corpus of awkward ones, no reader of YAML 1.1 or 1.2 may read anything but the text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.source.quoting import is_literal, is_plain, literal, on_one_line, quoted
from grove_compiler.source.yaml_reader import read_yaml
from grove_compiler.source.yaml_writer import write_yaml
from tests.suite.rows import rows

AWKWARD: list[str] = json.loads((Path(__file__).parent / "cases" / "awkward_strings.json").read_text())

# YAML 1.2.2 §10.3.2, the core schema's tags for plain scalars.
CORE_NOT_TEXT = re.compile(
    r"""(?x) null | Null | NULL | ~ |
    true | True | TRUE | false | False | FALSE |
    [-+]? [0-9]+ | 0o [0-7]+ | 0x [0-9a-fA-F]+ |
    [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? |
    [-+]? ( \.inf | \.Inf | \.INF ) | \.nan | \.NaN | \.NAN |
    """
)
# YAML 1.1's types https://yaml.org/type/: bool, float, int, merge, null, timestamp, value, in the widest reading of each.
OLD_NOT_TEXT = re.compile(
    r"""(?xi) y | n | yes | no | on | off | true | false | null | ~ | << | = |
    [-+]? 0b [01_]+ | [-+]? 0x [0-9a-f_]+ | [-+]? [0-9] [0-9_,]* | [-+]? [0-9] [0-9_]* ( : [0-5]? [0-9] )+ ( \. [0-9_]* )? |
    [-+]? ( [0-9] [0-9_]* )? \. [0-9_.]* ( e [-+]? [0-9]+ )? | [-+]? \. inf | \. nan |
    [0-9]{4} - [0-9]{1,2} - [0-9]{1,2} ( ( t | [ \t]+ ) .* )?
    """
)
# §7.3.3: a plain scalar begins with no indicator, unless '-', '?' or ':' has a safe character behind it, and holds no ': ' or ' #'.
INDICATOR = re.compile(r"""[,\[\]{}#&*!|>'"%@`] | [-?:](?=\s|$)""", re.VERBOSE)


def is_plain_text_in_every_yaml(text: str) -> bool:
    """An independent reading of the two specifications, for the quotes that a writer leaves out."""
    if not text or text != text.strip() or not text.isprintable() or text.startswith(("---", "...")):
        return False
    if INDICATOR.match(text) or ": " in text or " #" in text or text.endswith(":"):
        return False
    return not CORE_NOT_TEXT.fullmatch(text) and not OLD_NOT_TEXT.fullmatch(text)


PLACES: dict[str, Callable[[str], Any]] = {
    "value": lambda text: {"a": {"b": text, "c": 1}},
    "key": lambda text: {text: {text: [text]}},
    "item": lambda text: [text, 1],
    "inner item": lambda text: [[text], {"a": [text]}],
    "document": lambda text: text,
}


def test_the_corpus_has_at_least_186_texts() -> None:
    assert len(set(AWKWARD)) >= 186


@rows("text", AWKWARD)
def test_an_awkward_text_that_stays_plain_is_text_for_every_reader(text: str) -> None:
    assert not is_plain(text) or is_plain_text_in_every_yaml(text)


@rows("text", AWKWARD)
@rows("place", PLACES)
def test_an_awkward_text_is_read_back_wherever_it_stands(text: str, place: str) -> None:
    value: Any = PLACES[place](text)
    written = write_yaml([value, {"next": 1}])
    documents, found = read_yaml(written, "")
    assert ([document.value for document in documents], found) == ([value, {"next": 1}], [])


@rows("text", AWKWARD)
@rows("loader", [yaml.CSafeLoader, yaml.SafeLoader])
def test_an_awkward_text_is_what_yaml_1_1_reads(text: str, loader: Any) -> None:
    value = {"a": [text, {text: text}]}
    assert yaml.load(write_yaml([value]), Loader=loader) == value


PLAIN = ["a", "Pod", "grove.io/podgang", "nvcr.io/nvidia/x:24.01", "--model", "-c", "--flag=1", "http://x:80/y?z=1", "100m", "2Gi", "30s"]
PLAIN += ["v1", "v1.28.0", "a b", "/bin/sh", "_a", "$(VAR)", "(a)", "a - b", "a's", "1h30m", "sha256:abc", "metadata.name", "a@b", "-name"]


@rows("text", PLAIN)
def test_ordinary_texts_of_manifests_stay_plain(text: str) -> None:
    assert on_one_line(text) == text


QUOTED = {
    "": '""',
    "yes": '"yes"',
    "-y": '"-y"',
    "12": '"12"',
    "12:30:45": '"12:30:45"',
    "2024-01-01": '"2024-01-01"',
    "a: b": '"a: b"',
    "a #b": '"a #b"',
    " a": '" a"',
    "=": '"="',
    'say "x"': '"say \\"x\\""',
    '"': '"\\""',
    "\\": '"\\\\"',
    "\t": '"\\t"',
    "a\nb": '"a\\nb"',
    "\r": '"\\r"',
    "\0": '"\\0"',
    "\x1b": '"\\e"',
    "\x07": '"\\x07"',
    "\x85": '"\\x85"',
    "\xa0": '"\\xA0"',
    "\u2028": '"\\u2028"',
    "\ufeff": '"\\uFEFF"',
    "\u202e": '"\\u202E"',
    "\U000e0041": '"\\U000E0041"',
    "é": '"é"',
    "😀": '"😀"',
    "👨\u200d👩": '"👨\u200d👩"',
    "\ud800": '"\N{REPLACEMENT CHARACTER}"',
}


@rows(("text", "written"), [item for item in QUOTED.items() if item[0] != 'say "x"'])
def test_other_texts_are_quoted(text: str, written: str) -> None:
    assert on_one_line(text) == written


@rows(("text", "written"), QUOTED.items())
def test_quotes_escape_what_cannot_be_seen(text: str, written: str) -> None:
    assert quoted(text) == written


LITERALS = {
    "a\nb": "|-\n  a\n  b",
    "a\nb\n": "|\n  a\n  b",
    "a\n\n": "|+\n  a\n",
    "a\n\n\n": "|+\n  a\n\n",
    "a\n\nb": "|-\n  a\n\n  b",
    "a\n  b\n": "|\n  a\n    b",
    "\na\n": "|\n\n  a",
    "#!/bin/sh\n\techo\n": "|\n  #!/bin/sh\n  \techo",
}


@rows(("text", "written"), LITERALS.items())
def test_lines_of_text_are_a_literal_block(text: str, written: str) -> None:
    assert (is_literal(text), literal(text, 2)) == (True, written)


NO_LITERALS = ["\n", "\n\n", " a\nb", "\ta\nb", "\n a", "a\r\nb", "a\n\x00", "a\n\x85", "a\n\u2028", "a\n\ufeff", "a\n\ud800", "a\n\xa0"]


@rows("text", NO_LITERALS)
def test_what_a_literal_block_cannot_hold_is_not_one(text: str) -> None:
    assert not is_literal(text)


@given(st.text() | st.from_regex(CORE_NOT_TEXT, fullmatch=True) | st.from_regex(OLD_NOT_TEXT, fullmatch=True))
def test_any_text_that_stays_plain_is_text_for_every_reader(text: str) -> None:
    assert not is_plain(text) or is_plain_text_in_every_yaml(text)


@given(st.text(alphabet="0123456789.eE+-_xXob:,ynaftT ", max_size=8))
def test_any_text_that_resembles_a_number_stays_plain_only_if_none_reads_one(text: str) -> None:
    assert not is_plain(text) or is_plain_text_in_every_yaml(text)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_any_quoted_text_is_read_back(text: str) -> None:
    assert yaml.load(quoted(text), Loader=yaml.CSafeLoader) == text
