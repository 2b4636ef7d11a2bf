"""Every example on the pages for rule authors, run as it is shown."""

from __future__ import annotations

import re

import pytest
import yaml

from grove_cli.golden.expected_findings import compare_findings
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.language.keys import VERB_KEYS
from grove_compiler.engine.sources import InvalidRules
from grove_compiler.graph.diagnostic import has_errors
from tools.generate_lives import page as lives_page

from .pages import DOCS, Section, is_part, objects_in, program_of, sections

PAGES = ("rule-authors.md", "from-helm-and-kustomize.md", "training.md", "mnnvl.md")
SECTIONS = [section for page in PAGES for section in sections(page)]
KINDS = {
    "set": "Pod",
    "config": "Pod",
    "settings": "Pod",
    "replica": "Pod",
    "clique": "Pod",
    "pod": "Pod",
    "group": "PodCliqueScalingGroup",
    "gang": "PodGang",
}
ROOTS = "|".join(KINDS)
NAMES = re.findall(rf"^\| `((?:{ROOTS})\.[\w.]+|\w+\((?:{ROOTS})\))` \|", (DOCS / "rule-authors.md").read_text(), re.MULTILINE)
MNNVL_FILES = ("rules/mnnvl.yaml", "rules/scoped-domains.yaml", "rules/validation/mnnvl.yaml")
TRAINING_FILES = (
    "rules/training/defaults.yaml",
    "rules/training/pods.yaml",
    "rules/validation/training.yaml",
    "rules/validation/workload-type.yaml",
    "rules/lives/training.yaml",
)


def root_of(name: str) -> str:
    """The root of `clique.name` or of `pods(clique)`."""
    return name.partition("(")[2].rstrip(")") or name.partition(".")[0]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_what_a_section_shows_comes_out(section: Section) -> None:
    result = section.compiled()
    if section.finds:
        expected = [entry for text in section.finds for entry in yaml.load(text, yaml.CSafeLoader)]
        assert [(one.subject, one.path, one.change) for one in compare_findings(expected, result.diagnostics)] == []
    else:
        assert not has_errors(result.diagnostics), result.diagnostics
    made = [node.object for node in result.graph.nodes]
    missing = [shown for shown in objects_in(section.becomes) if not any(is_part(shown, object) for object in made)]
    assert missing == []


def of_authors(title: str) -> Section:
    return next(section for section in SECTIONS if section.page == "rule-authors.md" and section.title == title)


def test_the_page_for_authors_has_examples_of_every_verb() -> None:
    rules = "".join(text for section in SECTIONS if section.page == "rule-authors.md" for text in section.files.values())
    verbs = [verb for verb in VERB_KEYS if verb != "decide" or VOCABULARY.decisions]
    assert [verb for verb in verbs if f"\n{verb}: " not in rules] == []


def test_a_budget_waits_for_the_cliques_of_its_replica() -> None:
    graph = of_authors("An object for each of something").compiled().graph
    (budget,) = [node for node in graph.nodes if node.id == "PodDisruptionBudget/inference/chat-0-worker"]
    assert {node.id for node in graph.dependencies(budget)} == {"PodClique/inference/chat-0-router", "PodClique/inference/chat-0-worker"}


def test_a_rule_that_is_taken_out_makes_nothing() -> None:
    kinds = {node.object["kind"] for node in of_authors("In the place of ours").compiled().graph.nodes}
    assert (kinds & {"ServiceAccount", "Role", "RoleBinding", "Secret"}, "PodClique" in kinds) == (set(), True)


def test_every_page_shows_something() -> None:
    assert {section.page for section in SECTIONS} == set(PAGES)


MISTAKES = [(section.name, *mistake) for section in SECTIONS for mistake in section.mistakes]


@pytest.mark.parametrize(("where", "file", "text", "said"), MISTAKES, ids=[file for _, file, _, _ in MISTAKES])
def test_a_mistake_is_told_in_the_words_of_the_page(where: str, file: str, text: str, said: str) -> None:
    with pytest.raises(InvalidRules) as invalid:
        program_of({file: text})
    assert {(said in finding.message, finding.file, finding.line > 1) for finding in invalid.value.diagnostics} == {(True, file, True)}


def test_the_names_that_the_page_lists_are_known() -> None:
    rule = "rule: page/name-{}\ndoc: x\npatch: {}\nwhen: {} is defined\ndo: [{{op: remove, path: /status}}]\n"
    rules = [rule.format(number, KINDS[root_of(name)], name) for number, name in enumerate(NAMES)]
    known = {rule.id for rule in program_of({"rules/page.yaml": "---\n".join(rules)}).rules}
    assert {f"page/name-{number}" for number in range(len(NAMES))} <= known


def test_the_page_lists_names_of_every_scope() -> None:
    assert {root_of(name) for name in NAMES} == set(KINDS)


def test_the_page_on_training_lists_its_rules_and_no_others() -> None:
    listed = set(re.findall(r"`((?:default|training|validate)/[\w-]+)`", (DOCS / "training.md").read_text()))
    assert listed == {rule.details.get("life", rule.id) for rule in program_of({}).rules if rule.file in TRAINING_FILES}


def test_the_page_of_lives_is_that_of_the_rules() -> None:
    assert (DOCS / "lives.md").read_text(encoding="utf-8") == lives_page(), "run `python -m tools.generate_lives`"


def test_the_page_on_mnnvl_lists_its_rules_and_no_others() -> None:
    listed = set(re.findall(r"`((?:default|validate|mnnvl)/[\w/-]+)`", (DOCS / "mnnvl.md").read_text()))
    elsewhere = {"validate/generated-names", "validate/name-collisions"}
    assert listed - elsewhere == {rule.id for rule in program_of({}).rules if rule.file in MNNVL_FILES}
