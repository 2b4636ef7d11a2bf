"""No line and no value of a Secret is printed, whatever is wrong with it and however it is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_compiler.source.secrets import SecretParts
from tests.suite.effort import runs
from tests.suite.rows import rows

from .cluster.in_memory import Bench

VALUE = "hunter2"
HEAD = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n"
NAMELESS = f"metadata: {{}}\nstringData:\n  password: {VALUE}\n"
PLAIN = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  shown: one two\n"
LIST = json.dumps({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Secret", "stringData": {"p": VALUE}}]})

SHAPES = {
    "an unclosed quote": HEAD + f'  password: "{VALUE}\n',
    "an unclosed quote before its kind": f'stringData:\n  password: "{VALUE}\nkind: Secret\n',
    "a doubled key": HEAD + f"  password: {VALUE}\n  password: {VALUE}\n",
    "a doubled key in one line": HEAD.rstrip("\n") + f" {{password: {VALUE}, password: {VALUE}}}\n",
    "a missing name": f"apiVersion: v1\nkind: Secret\n{NAMELESS}",
    "a missing name in one line": f"{{apiVersion: v1, kind: Secret, metadata: {{}}, stringData: {{password: {VALUE}}}}}\n",
    "a missing apiVersion": f"kind: Secret\n{NAMELESS}",
    "a missing kind": f"apiVersion: v1\n{NAMELESS}",
    "an alias": HEAD + f"  password: *{VALUE}\n",
    "a tag": HEAD + f"  password: !{VALUE} x\n",
    "a tag that does not fit": HEAD + f"  password: !!int {VALUE}\n",
    "a timestamp": HEAD + f"  password: !!timestamp {VALUE}\n",
    "a template": HEAD + f"  password: {{{{ {VALUE} }}}}\n",
    "a colon": HEAD + f"  password: {VALUE}: x\n",
    "a tab": HEAD + f"\tpassword: {VALUE}\n",
    "an indentation": HEAD + f"  a: b\n password: {VALUE}\n",
    "a reserved character": HEAD + f"  password: @{VALUE}\n",
    "a control character": HEAD + f"  password: {VALUE}\x01\n",
    "a number": HEAD + f"  password: .inf # {VALUE}\n",
    "a value that lost its indentation": HEAD + f"  key: |\n---\n{VALUE}: [\n",
    "a value that is a list": HEAD + f"  key: [{VALUE}\n",
    "windows line ends": (HEAD + f'  password: "{VALUE}\n').replace("\n", "\r\n"),
    "old line ends": (HEAD + f'  password: "{VALUE}\n').replace("\n", "\r"),
    "a quoted kind": HEAD.replace("Secret", "'Secret'") + f"  password: @{VALUE}\n",
    "an escaped kind": HEAD.replace("Secret", '"\\u0053ecret"').replace("stringData", "data") + f"  password: @{VALUE}\n",
    "an anchored kind": HEAD.replace("Secret", "&k Secret") + f"  password: @{VALUE}\n",
    "a kind by alias": "a: &k Secret\n" + HEAD.replace("kind: Secret", "kind: *k") + f"  password: @{VALUE}\n",
    "a kind on its own line": HEAD.replace("kind: Secret", "kind:\n  Secret") + f"  password: @{VALUE}\n",
    "a kind in base64": HEAD.replace("Secret", "!!binary U2VjcmV0").replace("stringData", "data") + f"  password: @{VALUE}\n",
    "a misspelt kind": HEAD.replace("Secret", "secrets").replace("stringData", "data") + f"  password: @{VALUE}\n",
    "a list of Secrets": f"apiVersion: v1\nkind: SecretList\nitems:\n- data: {{password: @{VALUE}}}\n",
    "a List": LIST,
    "a List that is cut off": LIST[:-6],
    "a List in YAML": f"apiVersion: v1\nkind: List\nitems:\n- kind: Secret\n  stringData: {{p: {VALUE}}}\n- kind: ConfigMap\n",
    "JSON that is cut off": json.dumps({"kind": "Secret", "data": {"p": VALUE}})[:-1],
    "JSON with a doubled key": f'{{"apiVersion":"v1","kind":"Secret","data":{{"p":"{VALUE}","p":"{VALUE}"}}}}',
    "JSON with an escaped kind": f'{{"kind":"\\u0053ecret","data":{{"p":"{VALUE}"}}',
    "a Secret after others": PLAIN + "---\n" + HEAD + f'  password: "{VALUE}\n',
    "a Secret before others": HEAD + f'  password: "{VALUE}\n---\n' + PLAIN,
    "UTF-16 without a mark": (HEAD + f"  password: {VALUE}\n").encode("utf-16-le").decode("latin-1"),
    "UTF-16 with a mark": "\ufeff" + HEAD + f'  password: "{VALUE}\n',
    "not UTF-8": HEAD + f"  password: {VALUE}\udcff\n",
}


def said(text: str | bytes, folder: Path, *arguments: str, name: str = "all.yaml") -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
    ended = Bench(folder).run(*arguments, str(path))
    return ended.out + ended.err


@rows("shape", SHAPES)
@rows("arguments", [("lint",), ("lint", "-o", "json"), ("compile",), ("apply", "--dry-run")], ids=" ".join)
def test_no_value_is_printed(shape: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    told = said(SHAPES[shape], tmp_path, *arguments)
    assert VALUE not in told
    assert "h.u.n.t" not in told.replace("\\x00", ".").replace("\0", ".")


@rows("shape", [shape for shape in SHAPES if "JSON" in shape or "List" in shape])
def test_no_value_of_a_file_called_json_is_printed(shape: str, tmp_path: Path) -> None:
    assert VALUE not in said(SHAPES[shape], tmp_path, "apply", "--dry-run", name="all.json")


def test_a_finding_in_a_secret_has_its_place_and_says_why_no_line_is_shown(tmp_path: Path) -> None:
    told = said(SHAPES["an unclosed quote"], tmp_path, "apply", "--dry-run")
    assert "all.yaml:6:13: error: the quoted text that begins here is" in told
    assert "    6 | (not shown: it may be a line of a Secret)" in told


@pytest.mark.parametrize("beside", ["", SHAPES["an unclosed quote"].replace('"', "") + "---\n"], ids=["alone", "beside a Secret"])
def test_the_lines_of_other_objects_are_shown(beside: str, tmp_path: Path) -> None:
    assert "one two: three" in said(beside + PLAIN.replace("one two", "one two: three"), tmp_path, "apply", "--dry-run")


POD = "apiVersion: v1\nkind: Pod\nspec:\n  imagePullSecrets: [{name: x}]\n  volumes: [{name: v, secret: {secretName: s}}]\n"


def test_what_only_names_a_secret_is_shown() -> None:
    assert not SecretParts(POD).hide(0)


PASSWORD = f"  password: {VALUE}\n"
PIECES = [PLAIN, "---\n", HEAD + PASSWORD, HEAD + PASSWORD * 2, f"stringData:\n{PASSWORD}", "- x\n", "kind: Secret\n", '"', "'", "{", "\t"]


@settings(max_examples=runs(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_no_mixture_of_broken_documents_prints_a_value(tmp_path: Path, pieces: list[str]) -> None:
    assert VALUE not in said("".join(pieces), tmp_path, "apply", "--dry-run")
