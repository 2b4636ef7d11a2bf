"""Rule files: ids, replacing, disabling, order, and the form of every key."""

from __future__ import annotations

import pytest

from grove_compiler.engine.codegen.build import build
from grove_compiler.engine.language.keys import COMMON_KEYS, VERB_KEYS, RuleKey
from grove_compiler.engine.language.rule_schema import article, keys_of
from grove_compiler.engine.sources import InvalidRules, RuleSource
from tests.suite.rows import rows

from .bookshop import BOX, BOX_RULE, CARD, CARD_RULE, VOCABULARY, mistakes, program, shop, sources

VALID = {
    "default": "rule: a\ndoc: A.\ndefault: spec.x\nof: Thing\nvalue: 1\n",
    "validate": "rule: a\ndoc: A.\nvalidate: create\nassert: true\npath: spec\nmessage: wrong\n",
    "generate": "rule: a\ndoc: A.\ngenerate: box.yaml\nforEach: {shelf: shelves}\n",
    "decide": "rule: a\ndoc: A.\ndecide: loan_days\nvalue: pages // 10\n",
    "patch": "rule: a\ndoc: A.\npatch: Box\ndo: [{op: add, path: /spec, value: 1}]\n",
    "status": "rule: a\ndoc: A.\nstatus: status/box.yaml\nforEach: {shelf: shelves}\nof: shelf.ref\n",
    "event": "rule: a\ndoc: A.\nevent: Normal\nforEach: {shelf: shelves}\nof: shelf.ref\nreason: A\nmessage: b\n",
    "requeue": "rule: a\ndoc: A.\nrequeue: now + 1\n",
    "delete": "rule: a\ndoc: A.\ndelete: shelf.ref\nforEach: {shelf: shelves}\nreason: A\n",
    "wait": "rule: a\ndoc: A.\nwait: Example\nforEach: {shelf: shelves}\nof: shelf.ref\nmessage: b\n",
    "condition": (
        "rule: a\ndoc: A.\ncondition: Ready\nforEach: {shelf: shelves}\nof: shelf.ref\ncases: [{status: 'True', reason: A, message: b}]\n"
    ),
}


def mistakes_of(rule: str) -> list[str]:
    """What is wrong with one rule beside a rule that makes boxes."""
    return [finding.message for finding in mistakes([rule, BOX_RULE], **{"box": BOX, "status/box": "full: true\n"})]


@rows("rule", VALID.values(), ids=VALID.keys())
def test_a_rule_of_each_verb_loads(rule: str) -> None:
    assert mistakes_of(rule) == []


@rows(("verb", "key"), [(verb, key) for verb in VERB_KEYS for key in keys_of(verb)])
@rows("value", ["5", "-1.5", "true", "null", "[]", "{}", "''", "text", "[1]", "[[a]]", "{a: b}", "{a: {b: c}}", "[{}]"])
def test_a_value_of_any_kind_under_any_key_is_accepted_or_reported(verb: str, key: str, value: str) -> None:
    lines = [line for line in VALID[verb].split("\n") if not line.startswith(f"{key}:")]
    mistakes_of("\n".join([*lines, f"{key}: {value}"]))


@rows(
    ("rule", "now"),
    [(VALID["requeue"].replace("requeue:", "again:"), "requeue"), (VALID["event"] + "once: shelf.name\n", "dedupKey")],
    ids=["again", "once"],
)
def test_a_key_of_an_earlier_release_is_told_its_new_name(rule: str, now: str) -> None:
    assert now in [finding.nearest for finding in mistakes([rule, BOX_RULE], box=BOX)]


WRONG_FORMS = {
    "rule": ("5", "`rule` is a word; found a number"),
    "doc": ("[1]", "`doc` is a line of text; found a list"),
    "when": ("{a: b}", "`when` is an expression, or a list of expressions; found a map"),
    "let": ("[a]", "`let` is a map of names to expressions; found a list"),
    "forEach": ("5", "`forEach` is a map of names to expressions; found a number"),
    "with": ("text", "`with` is a map of names to expressions; found text"),
    "owner": ("[a]", "`owner` is an expression; found a list"),
    "after": ("{a: b}", "`after` is a word, or a list of words; found a map"),
    "policy": ("[a]", "`policy` is a map; found a list"),
    "generate": ("{a: b}", "`generate` is a word; found a map"),
}


@rows(("key", "case"), WRONG_FORMS.items(), ids=WRONG_FORMS.keys())
def test_a_value_of_the_wrong_kind_is_reported_with_what_the_key_takes(key: str, case: tuple[str, str]) -> None:
    lines = [line for line in VALID["generate"].split("\n") if not line.startswith(f"{key}:")]
    assert case[1] in mistakes_of("\n".join([*lines, f"{key}: {case[0]}"]))


MORE_WRONG_FORMS = {
    "default: [1]": ("default", "default", "`default` is a word, or a list of words; found a list"),
    "of: null": ("default", "of", "`of` is a word, or a list of words; found none"),
    "absent: 0": ("default", "absent", "`absent` is a list of values; found a number"),
    "default: a..b": ("default", "default", "'a..b' is not a path such as `spec.cliques[*].{containers,initContainers}[*].name`"),
    "default: 'a[*]'": ("default", "default", "the path 'a[*]' must end with a field"),
    "forEach: {a: shelves}": ("default", "forEach", "a default rule has no key 'forEach'; there are"),
    "validate: 7": ("validate", "validate", "`validate` is a word, or a list of words; found a number"),
    "validate: [create, delete]": ("validate", "validate", "`validate` is one of create, update; found 'delete'"),
    "severity: warn": ("validate", "severity", "`severity` is one of error, warning; found 'warn'"),
    "type: Invalid": ("validate", "type", "`type` is one of Invalid value, Required value"),
    "assert: []": ("validate", "assert", "`assert` is an expression, or a list of expressions; found nothing in it"),
    "message: {a: b}": ("validate", "message", "`message` is text, with expressions in {{ }}; found a map"),
    "known: [a]": ("validate", "known", "`known` is an expression; found a list"),
    "do: {}": ("patch", "do", "`do` is a list of maps; found nothing in it"),
    "do: [a]": ("patch", "do", "`do` is a list of maps; found a list"),
    "do: [{}]": ("patch", "do", "an operation needs the key `op`: a word"),
    "do: [{op: ad, path: /a}]": ("patch", "do", "`op` is one of add, replace, remove, test, merge; found 'ad'"),
    "do: [{op: [add], path: /a}]": ("patch", "do", "`op` is a word; found a list"),
    "do: [{op: add, path: /a}]": ("patch", "do", "`add` needs a `value`"),
    "do: [{op: add, path: a, value: 1}]": ("patch", "do", "`path` is a JSON pointer and begins with `/`"),
    "do: [{op: add, path: 5, value: 1}]": ("patch", "do", "`path` is a JSON pointer and begins with `/`"),
    "do: [{op: add, path: [a], value: 1}]": ("patch", "do", "`path` is text, with expressions in {{ }}; found a list"),
    "do: [{op: add, path: /a, vaule: 1}]": ("patch", "do", "an operation has no key 'vaule'; there are forEach, op, path, value, when"),
    "do: [{op: add, path: /a, value: 1, forEach: 5}]": ("patch", "do", "`forEach` is a map of names to expressions; found a number"),
    "do: [{op: add, path: /a, value: 1, when: {}}]": ("patch", "do", "`when` is an expression, or a list of expressions; found nothing"),
    "patch: {a: b}": ("patch", "patch", "`patch` is a word, or a list of words; found a map"),
    "cases: 3": ("condition", "cases", "`cases` is a list of maps; found a number"),
    "cases: []": ("condition", "cases", "`cases` is a list of maps; found nothing in it"),
    "cases: [a]": ("condition", "cases", "`cases` is a list of maps; found a list"),
    "cases: [{status: 'True'}]": ("condition", "cases", "a case needs the key `reason`: text, with expressions in {{ }}"),
    "cases: [{status: Maybe, reason: A, message: b}]": ("condition", "cases", "`status` is one of True, False, Unknown; found 'Maybe'"),
    "cases: [{status: 'True', reason: A, message: b}, {status: 'True', reason: A, message: b}]": (
        "condition",
        "cases",
        "a case without `when` always holds, so the cases after it are never reached",
    ),
    "policy: {create: never}": ("generate", "policy", "`create` is one of only; found 'never'"),
    "policy: {adop: true}": (
        "generate",
        "policy",
        "`policy` has no key 'adop'; there are adopt, create, follow, operator, optional, part, recreate, yield",
    ),
    "policy: {yield: spec.size}": ("generate", "policy", "`yield` is a JSON pointer, as `/spec/replicas`, or a list of them; found text"),
    "policy: {optional: [/spec/size, size]}": ("generate", "policy", "`optional` is a JSON pointer, as `/spec/replicas`, or a list"),
    "policy: {adopt: 1}": ("generate", "policy", "`adopt` is true or false; found a number"),
    "with: {a-b: 1}": ("generate", "with", "'a-b' is not a name"),
    "with: {omit: 1}": ("generate", "with", "'omit' is not a name"),
    "with: {y: 1}": ("generate", "with", "(YAML reads y, n, on and off as booleans)"),
    "with: {ﬁ: 1}": ("generate", "with", "'ﬁ' is not a name"),
    "with: {a: [1]}": ("generate", "with", "'a' is an expression; found a list"),
    "with: {a: }": ("generate", "with", "'a' is an expression; found none"),
    "forEach: {shop: shelves}": ("generate", "forEach", "the loop's name 'shop' hides a name that is already in use"),
    "forEach: {a: shop}": ("generate", "forEach", "cannot loop over `shop`: it is not a list"),
    "forEach: {a: omit}": ("generate", "forEach", "`omit` can be what a whole expression gives"),
    "owner: omit": ("generate", "owner", "`omit` can be what a whole expression gives"),
}


@rows(("line", "case"), MORE_WRONG_FORMS.items(), ids=MORE_WRONG_FORMS.keys())
def test_what_stands_under_a_key_is_checked(line: str, case: tuple[str, str, str]) -> None:
    verb, key, said = case
    lines = [former for former in VALID[verb].split("\n") if not former.startswith(f"{key}:")]
    assert any(said in message for message in mistakes_of("\n".join([*lines, line])))


REQUIRED = [(verb, word) for verb, keys in VERB_KEYS.items() for word, key in {**COMMON_KEYS, **keys}.items() if key.required]


@rows(("verb", "word"), REQUIRED)
def test_a_key_that_is_missing_is_reported(verb: str, word: str) -> None:
    lines = [line for line in VALID[verb].split("\n") if not line.startswith(f"{word}:")]
    assert any(message.startswith(f"{article(verb)} {verb} rule needs the key `{word}`") for message in mistakes_of("\n".join(lines)))


@rows("verb", VALID)
def test_an_unknown_key_is_reported_with_the_nearest(verb: str) -> None:
    (found,) = mistakes([VALID[verb] + "docs: true\n", BOX_RULE], **{"box": BOX, "status/box": "full: true\n"})
    assert (found.nearest, found.line, found.file) == ("doc", VALID[verb].count("\n") + 1, "rules/shop.yaml")


MISSPELT = {"genrate": "generate", "Validate": "validate", "pach": "patch", "conditon": "condition", "dft": ""}


@pytest.mark.parametrize(("word", "meant"), MISSPELT.items())
def test_a_misspelt_verb_is_reported_at_its_line_with_the_nearest(word: str, meant: str) -> None:
    (found,) = mistakes(f"rule: a\ndoc: A.\nwhen: true\n{word}: box.yaml\n")
    has = repr(word) if meant else "none"
    assert (found.message.endswith(f"this one has {has}"), found.nearest, found.line) == (True, meant, 4 if meant else 1)


@rows("id", ["A", "a b", "a_b", "a//b", "/a", "a/", "ä", "a-", "x" * 10 + "!"])
def test_an_id_is_lower_case_words(id: str) -> None:
    assert any("an id is lower-case words" in message for message in mistakes_of(VALID["default"].replace("rule: a", f"rule: '{id}'")))


NO_RULES = {
    "rule: a\ndoc: A.\n": "has none",
    VALID["default"] + "validate: create\n": "this one has default and validate",
    "[]": "a rule is a map",
    "5": "a rule is a map",
    "text": "a rule is a map",
}


@pytest.mark.parametrize(("text", "said"), NO_RULES.items())
def test_a_document_that_is_no_rule_is_reported(text: str, said: str) -> None:
    assert any(said in message for message in mistakes_of(text))


@pytest.mark.parametrize("text", ["", "# nothing", "---\n---\n", "null"])
def test_a_file_without_rules_is_no_mistake(text: str) -> None:
    assert build([RuleSource("rules/a.yaml", text, "grove")], VOCABULARY).rules == ()


def test_yaml_that_is_wrong_is_reported_with_its_place() -> None:
    (found,) = mistakes("rule: [a\n")
    assert (found.file, found.line > 0) == ("rules/shop.yaml", True)


def test_a_duplicate_key_is_reported() -> None:
    assert any("duplicate" in message or "twice" in message for message in mistakes_of(VALID["default"] + "doc: B.\n"))


def test_two_rules_of_one_id_in_one_place_are_a_mistake_that_names_the_other() -> None:
    (found,) = mistakes([BOX_RULE.strip(), BOX_RULE.strip()], box=BOX)
    assert (found.message, found.line) == ("the id 'box/shelf' is taken by a rule in rules/shop.yaml:1", 6)


def test_a_rule_of_the_user_replaces_one_of_the_same_id_where_it_stood() -> None:
    shipped = sources([BOX_RULE, CARD_RULE], {"box": BOX, "card": CARD})
    mine = sources(BOX_RULE.replace("forEach: {shelf: shelves}", "forEach: {shelf: 'shelves[:1]'}"), origin="mine")
    made = build([*shipped, *mine], VOCABULARY)
    assert [(rule.id, rule.origin) for rule in made.rules] == [("box/shelf", "mine"), ("card/book", "grove")]
    assert [node.id for node in made.generate(shop(), 9) if node.rule == "box/shelf"] == ["Box/north"]


def test_a_template_of_the_user_replaces_one_of_the_same_name() -> None:
    shipped = sources(BOX_RULE, {"box": BOX})
    mine = sources("", {"box": BOX.replace("kind: Box", "kind: Crate")}, origin="mine")
    assert build([*shipped, *mine], VOCABULARY).generate(shop(), 9)[0].id == "Crate/north"


def test_a_rule_with_a_new_id_adds() -> None:
    shipped = sources(BOX_RULE, {"box": BOX})
    mine = sources(CARD_RULE, {"card": CARD}, origin="mine")
    assert [rule.id for rule in build([*shipped, *mine], VOCABULARY).rules] == ["box/shelf", "card/book"]


@pytest.mark.parametrize("text", ["disable: [box/shelf]", "disable: box/shelf\ndoc: No boxes here."])
def test_a_disabled_rule_is_gone(text: str) -> None:
    shipped = sources([BOX_RULE, CARD_RULE], {"box": BOX, "card": CARD})
    made = build([*shipped, *sources(text, origin="mine")], VOCABULARY)
    assert [rule.id for rule in made.rules] == ["card/book"]


def test_a_disabled_rule_may_be_named_by_after_and_by_patches() -> None:
    rules = [
        BOX_RULE,
        CARD_RULE + "after: [box/shelf, box/*]\n",
        "rule: p\ndoc: P.\npatch: [box/shelf, Box]\ndo: [{op: remove, path: /a}]",
        "disable: [box/shelf]",
    ]
    assert [rule.id for rule in program(rules, box=BOX, card=CARD).rules] == ["card/book", "p"]


DISABLES = {
    "disable: [box/shelv]": ("there is no rule 'box/shelv' to disable", "box/shelf"),
    "disable: 5": ("`disable` is a word, or a list of words; found a number", ""),
    "disable: [5]": ("`disable` is a word, or a list of words; found a list", ""),
    "disable: {}": ("`disable` is a word, or a list of words; found nothing in it", ""),
    "disable: [box/shelf]\ndco: because": ("a `disable` document has no key 'dco'; there are disable, doc", "doc"),
}


@pytest.mark.parametrize(("text", "said"), DISABLES.items())
def test_a_wrong_disable_is_reported(text: str, said: tuple[str, str]) -> None:
    (found,) = mistakes([BOX_RULE, text], box=BOX)
    assert (found.message, found.nearest) == said


REFERENCES = {
    "generate: boxx.yaml": ("there is no template 'boxx.yaml'", "box.yaml"),
    "patch: Bos": ("no rule generates 'Bos'; there are the kinds Box, and ids of rules", "Box"),
    "patch: box/shelv": ("no rule generates 'box/shelv'", "box/shelf"),
    "patch: [Box, Bos]": ("no rule generates 'Bos'", "Box"),
}


@pytest.mark.parametrize(("line", "said"), REFERENCES.items())
def test_a_word_that_means_nothing_is_reported_with_the_nearest(line: str, said: tuple[str, str]) -> None:
    verb = line.partition(":")[0]
    lines = [former for former in VALID[verb].split("\n") if not former.startswith(f"{verb}:")]
    (found,) = mistakes(["\n".join([*lines, line]), BOX_RULE], box=BOX)
    assert (said[0] in found.message, found.nearest) == (True, said[1])


def test_everything_that_is_wrong_is_reported_at_once_in_the_order_of_the_files() -> None:
    rules = [
        CARD_RULE + "wehn: true\n",  # form
        BOX_RULE + "when: shelv\n",  # expression
        VALID["patch"].replace("Box", "Bos"),  # reference
        "disable: [nothing/here]",
    ]
    found = mistakes(rules, card=CARD + "spec: {$fi: 1}", box=BOX + "spec: '{{ sho }}'")
    assert [(finding.file, finding.nearest) for finding in found] == [
        ("rules/shop.yaml", "when"),
        ("rules/shop.yaml", "shelves"),
        ("rules/shop.yaml", "Box"),
        ("rules/shop.yaml", ""),
        ("templates/box.yaml", "shop"),
        ("templates/card.yaml", "$if"),
    ]


def test_the_message_of_the_exception_holds_every_place() -> None:
    with pytest.raises(InvalidRules, match=r"rules/shop.yaml:6: a generate rule has no key 'wehn'"):
        program(BOX_RULE + "wehn: 1", box=BOX)


def test_a_rule_says_where_it_stands_and_what_it_is() -> None:
    (rule,) = program(BOX_RULE + "policy: {create: only}", box=BOX).rules
    assert (rule.id, rule.doc, rule.verb, rule.origin, rule.file, rule.line) == (
        "box/shelf",
        "A shelf is a box.",
        "generate",
        "grove",
        "rules/shop.yaml",
        2,
    )
    assert rule.details == {
        "template": "box.yaml",
        "patches": [],
        "kind": "Box",
        "policy": {"create": "only"},
        "keeping": {"create": "only"},
        "about": ["Shop"],
        "sliced": False,
    }
    assert rule.loops == (("shelf", "shelves"),)


@pytest.mark.parametrize("levels", [21, 40])
def test_more_loops_than_python_nests_are_reported_for_their_rule_alone(levels: int) -> None:
    loops = ", ".join(f"a{number}: shelves" for number in range(levels))
    (found,) = mistakes(
        [BOX_RULE, CARD_RULE.replace("{shelf: shelves, book: shelf.books}", f"{{{loops}}}")], box=BOX, card=BOX.replace("shelf", "a0")
    )
    assert ("'card/book'" in found.message, "nested too deeply" in found.message) == (True, True)


def test_a_template_that_is_nested_too_deeply_for_python_is_reported() -> None:
    body = "".join("  " * depth + f"a{depth}: \n" for depth in range(90)) + "  " * 90 + "a: '{{ " + "[" * 60 + "]" * 60 + " }}'\n"
    (found,) = mistakes(BOX_RULE, box=BOX + body)
    assert "nested too deeply" in found.message


def test_guards_inside_guards_that_are_nested_too_deeply_are_reported() -> None:
    body = "".join("  " * depth + f"a{depth}:\n" + "  " * (depth + 1) + "$if: shelf.name\n" for depth in range(98))
    (found,) = mistakes(BOX_RULE, box=BOX + body)
    assert "nested too deeply" in found.message


def test_a_key_of_the_language_says_what_it_is_for() -> None:
    keys: list[RuleKey] = [*COMMON_KEYS.values(), *(key for of_verb in VERB_KEYS.values() for key in of_verb.values())]
    assert all(key.doc for key in keys)


WRONG_IN_MANY_WAYS = """
rule: my/twice
doc: Has an unknown key, and an unknown attribute.
generate: box.yaml
forEach: {shelf: shelves}
when: shelf.nonsense
colour: red
---
rule: my/twice
doc: Has an id that is taken, and names no template.
generate: bx.yaml
---
rule: my/third
generate: box.yaml
forEach: {shelf: shelves}
when: "shelf.books["
"""
EACH = (
    "no key 'colour'",
    "no attribute 'nonsense'",
    "'my/twice' is taken",
    "no template 'bx.yaml'",
    "needs the key `doc`",
    "not an expression",
)


def test_all_mistakes_of_rules_are_told_at_once() -> None:
    found = "\n".join(mistakes_of(WRONG_IN_MANY_WAYS))
    assert [each for each in EACH if each not in found] == [], found


def test_names_are_not_unknown_only_because_loops_are_misspelt() -> None:
    rule = "rule: my/loop\ndoc: Has a misspelt loop.\ngenerate: box.yaml\nforEch: {shelf: shelves}\nwhen: shelf.books\n"
    assert "unknown name" not in "\n".join(mistakes_of(rule))
