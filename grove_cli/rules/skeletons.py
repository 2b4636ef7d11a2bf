"""Implements `grove rules new`: writes valid rules, templates and cases with a comment for every key."""

from __future__ import annotations

import os
import re

from grove_compiler.engine.language.keys import FORMS, VERB_KEYS, RuleKey
from grove_compiler.engine.language.rule_schema import article, keys_of

_LANGUAGE_SERVER = """\
# yaml-language-server: $schema={}.schema.json
# (written by `grove rules schema {} > {}.schema.json`; editors then complete and check)
"""

_RULES: dict[str, dict[str, str]] = {
    "default": {"default": "metadata.annotations[example.com/team]", "of": "PodCliqueSet", "value": "nobody"},
    "validate": {
        "validate": "[create, update]",
        "forEach": "{clique: set.cliques}",
        "assert": "clique.name | length <= 20",
        "path": '"{{ clique.path }}.name"',
        "message": '"must have at most 20 characters, not {{ clique.name | length }}"',
        "severity": "warning",
    },
    "generate": {
        "generate": "{name}.yaml",
        "forEach": "{replica: set.replicas}",
        "when": "replica.index == 0",
        "owner": "set.ref",
    },
    "patch": {
        "patch": "PodClique",
        "do": '\n  - op: add\n    path: /metadata/labels/example.com~1team  # `~1` is a `/` inside a key\n    value: "{{ set.name }}"',
    },
    "condition": {
        "condition": "Example",
        "of": "set.ref",
        "cases": '\n  - {when: "set.cliques | length > 1", status: "True", reason: SeveralCliques, message: "it has several cliques"}'
        '\n  - {status: "False", reason: OneClique, message: "it has one clique"}',
    },
    "event": {
        "event": "Normal",
        "of": "set.ref",
        "when": "set.cliques | length > 20",
        "reason": "ManyCliques",
        "message": '"the set has {{ set.cliques | length }} cliques"',
    },
    "requeue": {"requeue": "now + 300", "when": "false"},
    "delete": {"delete": "set.ref", "when": "false", "reason": "Example"},
    "wait": {"wait": "Example", "of": "set.ref", "when": "false", "message": "waits for what"},
    "status": {"status": "status/{name}.yaml", "of": "set.ref", "when": "false"},
}
"""Examples of the keys by verb. `decide` has none: decisions are replaced, and `grove rules ID` prints their source."""

_LIFE = """\
# A life says what changes over time: of the transitions, the first one that fires is taken, and no other. Effects are rules without an id,
# with the verbs status, condition, event, requeue and delete. `grove rules lives my/{name} -o mermaid` draws it. See docs/lives.md.
life: my/{name}
doc: Says in one line what changes over time here, and what requires it.
of: set.ref
# forEach: {replica: set.replicas}  # one life for each item
# when: set.is_training  # where there is one
let: {until: "time(set.annotations['example.com/until'])"}
state: "'Waiting' if until is not none else 'Idle'"
states:
  Idle: Nobody has set the annotation.
  Waiting:
    doc: The time has not come.
    # while: []  # effects of every step in this state
  Over: {doc: The time has come., final: true}
transitions:
  - {observed: somebody sets the annotation, from: Idle, to: Waiting}  # made by the cluster: only words
  - name: TimeHasCome
    from: Waiting
    to: Over
    at: until  # there is a step at that time
    # when: []  # further conditions
    then:
      - {event: Normal, reason: TimeHasCome, message: the time has come}
# always: []  # effects of every step
"""

_TEMPLATE = """\
# A template is the object as YAML. A scalar that is one whole expression keeps its type; text around it makes a string; `omit` leaves
# a key out. In lists: `$for: name in expression`, `$if`; in maps: `$merge`, `$include`, `$let`. See docs/rules-language.md.
apiVersion: v1
kind: ConfigMap
metadata:
  name: "{{ replica.name }}-{name}"
  namespace: "{{ set.namespace }}"
data:
  replica: "{{ replica.index | string }}"
"""

_STATUS = "# The `status` of the object that the rule names.\nobservedGeneration: 1\n"

_INPUT = """\
# The input. Replace it by a minimal set of yours that shows the behaviour.
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: example, namespace: default}
spec:
  replicas: 1
  template:
    cliques:
      - name: worker
        spec:
          roleName: worker
          replicas: 2
          podSpec:
            containers: [{name: main, image: example.com/worker:1}]
"""

_ASSERTS = """\
# Assertions about the result. Only what is written here is compared: see docs/rule-authors.md, "Testing rules".
- object: PodClique/default/example-0-worker
  has:
    spec: {replicas: 2}
- count: {kind: PodClique}
  is: 1
- absent: {kind: HorizontalPodAutoscaler}
"""

WORDS = (*_RULES, "life", "template", "case")


class SkeletonRefused(Exception):
    """Nothing was written. The message has the reason."""


def new(what: str, target: str) -> list[str]:
    """Writes `FOLDER/NAME` as a rule with this verb, as a life, as a template with its rule, or as a case, and returns the files.

    Raises `SkeletonRefused` for other words, for names that no rule can have, and for files that are there: nothing is replaced.
    """
    if what == "decide":
        raise SkeletonRefused("a decision is made by exactly one rule: replace a built-in one, whose text `grove rules ID` shows")
    if what not in WORDS:
        raise SkeletonRefused(f"unknown skeleton {what!r}; the skeletons are {', '.join(WORDS)}")
    folder, name = os.path.split(os.path.normpath(target))
    if not folder or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise SkeletonRefused(f"a skeleton is FOLDER/NAME, with a name of a-z, 0-9 and `-`, as in my-rules/team-label; found {target!r}")
    files = _files("generate" if what == "template" else what, folder, name)
    there = [path for path in files if os.path.lexists(path)]
    if there:
        raise SkeletonRefused(f"{', '.join(there)}: already exists, and nothing is overwritten")
    for path, text in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as stream:
            stream.write(text)
    return list(files)


def _files(what: str, folder: str, name: str) -> dict[str, str]:
    if what == "case":
        case = os.path.join(folder, name)
        return {os.path.join(case, "input.yaml"): _INPUT, os.path.join(case, "asserts.yaml"): _header("asserts") + _ASSERTS}
    rule = _header("rule") + _LIFE.replace("{name}", name) if what == "life" else _rule(what, name)
    files = {os.path.join(folder, "rules", f"{name}.yaml"): rule}
    if what == "generate":
        files[os.path.join(folder, "templates", f"{name}.yaml")] = _header("template") + _TEMPLATE.replace("{name}", name)
    if what == "status":
        files[os.path.join(folder, "templates", "status", f"{name}.yaml")] = _header("part") + _STATUS
    return files


def _header(schema: str) -> str:
    return _LANGUAGE_SERVER.format(schema, schema, schema)


def _rule(verb: str, name: str) -> str:
    """Returns a rule with an example for some keys, and a comment for each other key of its verb."""
    keys = keys_of(verb)  # type: ignore[arg-type]  # one of the words above
    given = {key: value.replace("{name}", name) for key, value in _RULES[verb].items()}
    lines = [f"rule: my/{name}", f"doc: Says in one line why {article(verb)} {verb} rule is needed here, and what requires it."]
    for word in (*VERB_KEYS[verb], *(word for word in keys if word not in VERB_KEYS[verb])):  # type: ignore[index]
        if word in ("rule", "doc"):
            continue
        lines += ["", f"# {_explained(keys[word])}"]
        value = given.get(word)
        lines.append(f"# {word}:" if value is None else f"{word}:{'' if value.startswith(chr(10)) else ' '}{value}")
    return _header("rule") + "\n".join(lines) + "\n"


def _explained(key: RuleKey) -> str:
    words = f": {', '.join(key.choices)}" if key.choices else ""
    return f"{FORMS[key.form]}{' (required)' if key.required else ''}: {key.doc}{words}"
