"""What looks like text and is not: words that YAML 1.1 reads as true and false, and templates that nobody rendered."""

from __future__ import annotations

import pytest

from grove_compiler.source.yaml_reader import read_yaml


@pytest.mark.parametrize(("word", "key"), [("on", "true"), ("y", "true"), ("Yes", "true"), ("off", "false"), ("n", "false")])
def test_a_word_that_reads_as_true_or_false_is_named_where_it_is_a_key(word: str, key: str) -> None:
    documents, (finding,) = read_yaml(f"{word}: a", "set.yaml")
    assert documents[0].value == {key: "a"}
    assert (finding.code, finding.severity) == ("yaml/truth-key", "warning")
    assert f"the key {word} reads as {key}" in finding.message


@pytest.mark.parametrize("text", ["'on': a", '"y": a', "True: a", "FALSE: a", "only: a"])
def test_a_key_that_is_text_or_says_true_or_false_itself_is_no_finding(text: str) -> None:
    assert read_yaml(text, "set.yaml")[1] == []


@pytest.mark.parametrize("text", ["name: {{ .Release.Name }}", "a:\n  b: {{ x }}\n", "- {{ x }}"])
def test_an_unrendered_template_without_quotes_is_called_one(text: str) -> None:
    assert "render the template first" in read_yaml(text, "set.yaml")[1][0].message
