"""What a case may say beside its manifests."""

from __future__ import annotations

import pytest

from grove_cli.golden.options import CaseOptions, read_options
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.source.reader import read_text
from tests.suite.rows import rows


def read(text: str) -> tuple[CaseOptions, list[Diagnostic]]:
    documents, findings = read_text(text, "options.yaml")
    assert findings == []
    return read_options(documents)


def test_every_option_is_read() -> None:
    options, problems = read(
        'namespace: team\nkubeVersion: "v1.34"\npods: true\nmaxObjects: 7\nmnnvlShape: driver\n'
        "strict: true\nrules: [../rules, more]\nkinds: [Pod, Service]\n"
    )
    settings = options.settings
    assert problems == []
    assert (settings.namespace, settings.kube_version, settings.pods, settings.max_objects) == ("team", "1.34", True, 7)
    assert settings.mnnvl_shape == "driver"
    assert (options.strict, options.rules, options.kinds) == (True, ["../rules", "more"], ["Pod", "Service"])


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}"])
def test_without_options_everything_is_as_for_the_command(text: str) -> None:
    options, problems = read(text)
    assert problems == []
    assert (options.settings.namespace, options.settings.pods, options.rules, options.kinds, options.strict) == (
        "default",
        False,
        [],
        [],
        False,
    )


@rows(
    ("text", "said", "nearest"),
    [
        ("[a]", "expected a map with namespace", ""),
        ("pod: true", "unknown option 'pod'", "pods"),
        ("kube-version: x", "unknown option 'kube-version'", "kubeVersion"),
        ("pods: 1", "pods is true or false", ""),
        ("strict: 'yes'", "strict is true or false", ""),
        ("namespace: No_Name", "namespace is the namespace of manifests", ""),
        ("namespace: 5", "namespace is the namespace of manifests", ""),
        ("kubeVersion: 1.34", "kubeVersion is the version of Kubernetes as text", ""),
        ("kubeVersion: newest", "kubeVersion is the version", ""),
        ("mnnvlShape: design", "mnnvlShape is as-proposed or driver", ""),
        ("maxObjects: 0", "maxObjects is a number greater than 0", ""),
        ("maxObjects: true", "maxObjects is a number greater than 0", ""),
        ("rules: ../rules", "rules is a list of directories", ""),
        ("kinds: [1]", "kinds is a list of the kinds", ""),
        ("pods: true\n---\npods: false", "a second document", ""),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, said: str, nearest: str) -> None:
    _, problems = read(text)
    assert [(said in problem.message, problem.nearest, problem.file, problem.line > 0) for problem in problems] == [
        (True, nearest, "options.yaml", True)
    ]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    _, problems = read("pod: true\nstrict: 1\nnamespace: ok\n")
    assert [(problem.path, problem.line) for problem in problems] == [("pod", 1), ("strict", 2)]
