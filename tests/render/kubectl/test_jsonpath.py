"""JSONPath in kubectl's dialect. What is expected was printed by kubectl 1.32 for the same object, where a comment says nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from grove_cli.render.kubectl.jsonpath import JsonPathTemplate, relaxed
from grove_cli.render.kubectl.values import InvalidExpression
from tests.suite.rows import rows

OBJECT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "labels": {"app.kubernetes.io/x": "1<2&3", "x": "yy"}},
    "list": [
        {"metadata": {"name": "n1", "k": 3}, "c": [{"t": "Ready", "s": "True"}, {"t": "B", "s": "F"}]},
        {"metadata": {"name": "n2", "k": 10}, "c": []},
        {"metadata": {"name": "n3", "x": 1.5, "b": True, "z": None, "big": 12345678901}},
    ],
    "e": {},
    "el": [],
}

PRINTED = {
    "{.metadata.name}": "a",
    "{$.metadata.name}": "a",
    "{ .metadata.name }": "a",
    "{['metadata'].name}": "a",
    "hello": "hello",
    ".metadata.name": ".metadata.name",
    "}a": "}a",
    "{.metadata.labels}": '{"app.kubernetes.io/x":"1\\u003c2\\u00263","x":"yy"}',
    "{.metadata.labels.app\\.kubernetes\\.io/x}": "1<2&3",
    "{.metadata.labels['app\\.kubernetes\\.io/x']}": "1<2&3",
    "{.metadata.labels['app.kubernetes.io/x']}": "",
    "{.metadata.name.x}": "",
    "{.list.metadata}": "",
    "{.e}{.el}{.nothing}|": "{}[]|",
    "{.el[*]}|": "|",
    "{.list[*].metadata.name}": "n1 n2 n3",
    "{.list[].metadata.name}": "n1",
    "{.list[0,1].metadata.name}": "n1 n2",
    "{.list[*].metadata['name','k']}": "n1 n2 n3 3 10",
    "{.list[-1].metadata.name}": "n3",
    "{.list[-1:].metadata.k}": "",
    "{.list[0:2].metadata.name}": "n1 n2",
    "{.list[::2].metadata.name}": "n1 n3",
    "{.list[1:].metadata.name}": "n2 n3",
    "{.list[*].c[*].t}": "Ready B",
    "{.list[2].metadata.x} {.list[2].metadata.b} [{.list[2].metadata.z}] {.list[2].metadata.big}": "1.5 true [null] 12345678901",
    "{.list[0].c}": '[{"s":"True","t":"Ready"},{"s":"F","t":"B"}]',
    "{.metadata..x}": "yy",
    "{..t}": "Ready B",
    "{.metadata.labels.*}": "1<2&3 yy",
    '{range .list[*]}{.metadata.name}{"\\t"}{.c[?(@.t=="Ready")].s}{"\\n"}{end}done': "n1\tTrue\nn2\t\nn3\t\ndone",
    "{range .list[*]}{range .c[*]}{.t}{end};{end}": "ReadyB;;;",
    "{range .list[*]}{.metadata.name}{end}{range .list[*]}{.metadata.k}{end}": "n1n2n3310",
    "{range .nothing[*]}{.x}{end}after": "after",
    "{.list[?(@.metadata.k>5)].metadata.name}": "n2",
    "{.list[?(@.metadata.k <= 3)].metadata.name}": "n1",
    "{.list[?(3 == @.metadata.k)].metadata.name}": "n1",
    "{.list[?(@.metadata.k)].metadata.name}": "n1 n2",
    "{.list[?(@.metadata.name!='n1')].metadata.name}": "n2 n3",
    '{.list[?(@.metadata.name>"n1")].metadata.name}': "n2 n3",
    "{.list[?(@.metadata.x==1.5)].metadata.name}": "n3",
    "{.list[?(@.metadata.b==true)].metadata.name}": "n3",
    '{"a\\"b"}{\'c\'}{5}{-3}{1.5}{true}': 'a"bc5-31.5true',
    '{"\\u0041\\x42\\n"}': "AB\n",
    "é{.metadata.name}ü": "éaü",
    "{.list[?(@.metadata.x>1)].metadata.name}": "n3",  # kubectl compares no integer with a fraction
}
PARSED = {
    "": "template format specified but no template given",
    "{.list[": "error parsing jsonpath {.list[, unterminated array",
    "{.a": "error parsing jsonpath {.a, unclosed action",
    "{.list[x]}": "error parsing jsonpath {.list[x]}, invalid array index x",
    "{....}": "error parsing jsonpath {....}, invalid multiple recursive descent",
    '{.list[?(@.name=="n1"}': 'error parsing jsonpath {.list[?(@.name=="n1"}, unterminated filter',
    '{.list[?(@.name=="n1")}': 'error parsing jsonpath {.list[?(@.name=="n1")}, unclosed array expect ]',
    '{"open}': 'error parsing jsonpath {"open}, unterminated quoted string',
    "{5.5.5}": "error parsing jsonpath {5.5.5}, cannot parse number 5.5.5",
    "{%}": "error parsing jsonpath {%}, unrecognized character in action: U+0025 '%'",
    "{{.a}}": "error parsing jsonpath {{.a}}, unrecognized character in action: U+007B '{'",
    "{end}": "error parsing jsonpath {end}, not in range, nothing to end",
    "{foo}": "error parsing jsonpath {foo}, unrecognized identifier foo",
    "{.list[-]}": "error parsing jsonpath {.list[-]}, array index - is not a number",
    "{.list[?(@.a=~3)]}": "error parsing jsonpath {.list[?(@.a=~3)]}, unrecognized filter operator =~",
}
EXECUTED = {
    "{.list[5].a}": "array index out of bounds: index 5, length 3",
    "{.list[-4].a}": "array index out of bounds: index -1, length 3",
    "{.list[0:5].a}": "array index out of bounds: index 4, length 3",
    "{.list[2:1].a}": "starting index 2 is greater than ending index 1",
    "{.metadata.name[0]}": "string is not array or slice",
    "{.metadata[?(@.x)]}": "map[string]interface {} is not array or slice and cannot be filtered",
    "{.list[?(@.metadata.k>'n1')].a}": "incompatible types for comparison",
    "{.list[?(@.metadata.b<true)].a}": "invalid type for comparison",
    "{.list[?(@.c[*].t=='Ready')].a}": "can only compare one element at a time",
}


@rows(("template", "text"), PRINTED.items(), ids=PRINTED)
def test_a_template_prints_what_it_selects(template: str, text: str) -> None:
    assert JsonPathTemplate(template).rendered(OBJECT) == text


@rows(("template", "told"), PARSED.items(), ids=PARSED)
def test_a_template_that_cannot_be_parsed_says_where_it_goes_wrong(template: str, told: str) -> None:
    with pytest.raises(InvalidExpression) as error:
        JsonPathTemplate(template)
    assert str(error.value) == told


@pytest.mark.parametrize(("template", "told"), EXECUTED.items(), ids=EXECUTED)
def test_a_template_that_does_not_fit_an_object_says_why(template: str, told: str) -> None:
    with pytest.raises(InvalidExpression) as error:
        JsonPathTemplate(template).rendered(OBJECT)
    assert str(error.value) == f'error executing jsonpath "{template}": {told}'


@pytest.mark.parametrize("path", ["metadata.name", ".metadata.name", "{metadata.name}", "{.metadata.name}"])
def test_a_path_alone_may_lack_braces_and_the_first_dot(path: str) -> None:
    assert relaxed(path).rendered(OBJECT) == "a"


@pytest.mark.parametrize("path", ["", "{}", "{.a", "a}{b"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidExpression, match="unexpected path string"):
        relaxed(path)
