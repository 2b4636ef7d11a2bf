"""Defines the keys of the rules language: what each takes and what it is for. Loading checks by these tables, the reference prints them."""

from __future__ import annotations

from typing import Literal, NamedTuple

Verb = Literal["default", "validate", "decide", "generate", "patch", "condition", "status", "event", "requeue", "delete", "wait"]

RENAMED = {"again": "requeue", "once": "dedupKey"}
"""Keys that had another name in earlier releases, with those that they have now."""
RUN_TIME_VERBS = ("condition", "status", "event", "requeue", "delete", "wait")
"""The verbs about what runs. Only they may use `now`: the desired objects must not depend on the time."""

LIFE_VERBS: tuple[Verb, ...] = ("status", "condition", "event", "requeue", "delete")
"""The verbs of a life's effects."""
SLICED_VERBS = ("generate", *RUN_TIME_VERBS)
"""The verbs whose rules can be evaluated for one slice of the input."""

Form = Literal["word", "words", "pointers", "line", "text", "expression", "expressions", "names", "list", "maps", "map", "boolean", "value"]

FORMS: dict[Form, str] = {
    "word": "a word",
    "words": "a word, or a list of words",
    "pointers": "a JSON pointer, as `/spec/replicas`, or a list of them",
    "line": "a line of text",
    "text": "text, with expressions in {{ }}",
    "expression": "an expression",
    "expressions": "an expression, or a list of expressions",
    "names": "a map of names to expressions",
    "list": "a list of values",
    "maps": "a list of maps",
    "map": "a map",
    "boolean": "true or false",
    "value": "any value, with expressions in {{ }} and template keys",
}


class RuleKey(NamedTuple):
    """Describes a key: its form, its meaning, whether it is required, and the allowed words (empty: any)."""

    form: Form
    doc: str
    required: bool = False
    choices: tuple[str, ...] = ()


OPERATIONS_OF_INPUT = ("create", "update")
ERROR_TYPES = ("Invalid value", "Required value", "Duplicate value", "Forbidden", "Not found", "Unsupported value")

COMMON_KEYS = {
    "rule": RuleKey("word", "the rule's id, `topic/name`; a rule of the same id that comes later replaces it", required=True),
    "doc": RuleKey("line", "why the rule exists, and its source", required=True),
    "when": RuleKey("expressions", "conditions; unless all hold, the rule skips this item"),
    "let": RuleKey("names", "names for expressions, evaluated once for each value of the loops that they use"),
}

_FOR_EACH = RuleKey(
    "names", "nested loops, as names and the lists that they iterate over: `{replica: set.replicas, clique: replica.cliques}`"
)

_ABOUT = RuleKey("words", "the kinds of input that the rule applies to; it runs once for each input, with its roots in scope")

_LOOPS = {"about": _ABOUT, "forEach": _FOR_EACH}

_WITH = RuleKey("names", "additional names for the template, besides the roots and the names of loops")

VERB_KEYS: dict[Verb, dict[str, RuleKey]] = {
    "default": {
        "default": RuleKey(
            "words",
            "the paths of the field to default when it is absent; `[*]` matches every item, `{a,b}` either field, `[a.b/c]` that key",
        ),
        "of": RuleKey("words", "the kinds of manifest that it applies to", required=True),
        "value": RuleKey(
            "value",
            "`item` is the map that lacks the field, `parent` the map around that, `object` the manifest; `omit` sets nothing",
            required=True,
        ),
        "absent": RuleKey("list", "further values that count as absent, such as `0`"),
        "warn": RuleKey("line", "a warning about each explicit value that the default replaces; without it there is none"),
    },
    "validate": {
        "validate": RuleKey(
            "words", "the operations that it checks; `update` alone has the old input in scope", choices=OPERATIONS_OF_INPUT
        ),
        **_LOOPS,
        "assert": RuleKey("expressions", "conditions; unless all hold, there is a finding", required=True),
        "path": RuleKey("text", "the invalid field", required=True),
        "at": RuleKey("text", "the field whose line is shown; `path` by default"),
        "message": RuleKey("text", "what is wrong and what would be valid", required=True),
        "type": RuleKey("word", "Kubernetes' type of the error", choices=ERROR_TYPES),
        "value": RuleKey("expression", "the invalid value"),
        "known": RuleKey("expression", "the list of valid values, of which the nearest to `value` is suggested"),
        "hint": RuleKey("text", "how to fix it"),
        "severity": RuleKey(
            "word", "`error` by default; a rule that warns rejects nothing, and the operator's steps skip it", choices=("error", "warning")
        ),
        "holds": RuleKey(
            "word",
            "which sets the operator holds for an error: `all` by default, but for those that have run as they are; with `always`, those "
            "as well, since it is about what others have made; with `updates`, for one of a clique's template, only those with pods of "
            "another template, as the API server rejects new pods with the same error",
            choices=("all", "always", "updates"),
        ),
    },
    "decide": {
        "decide": RuleKey("word", "the decision that it makes, one of those below; its parameters are the names in scope"),
        "value": RuleKey("expression", "what is decided"),
        "cases": RuleKey("maps", "instead of `value`: the first case that holds decides; the last one has no `when`"),
    },
    "generate": {
        "generate": RuleKey("word", "the template to render, once for each item"),
        **_LOOPS,
        "with": _WITH,
        "owner": RuleKey("expression", "the object that owns it"),
        "after": RuleKey(
            "words",
            "ids of rules (`topic/*`: all of a topic) whose objects come first; in loops that both share, only those of the same item",
        ),
        "policy": RuleKey("map", "what an applier may do with an existing object"),
    },
    "patch": {
        "patch": RuleKey("words", "the kinds of objects, or the ids of rules whose objects are changed"),
        "about": RuleKey("words", "the kinds of input whose objects are changed; by default the first one with objects of the kind"),
        "forEach": _FOR_EACH,
        "do": RuleKey("maps", "operations as in RFC 6902", required=True),
    },
    "condition": {
        "condition": RuleKey("word", "the condition's type"),
        **_LOOPS,
        "of": RuleKey("expression", "the object with the condition", required=True),
        "cases": RuleKey("maps", "the first case that holds gives the condition; without one it is omitted", required=True),
    },
    "status": {
        "status": RuleKey("word", "the template of the object's `status`, such as `status/podclique.yaml`"),
        **_LOOPS,
        "of": RuleKey("expression", "the object whose status it is", required=True),
        "with": _WITH,
    },
    "event": {
        "event": RuleKey("word", "the event's type", choices=("Normal", "Warning")),
        **_LOOPS,
        "of": RuleKey("expression", "the object that the event is about", required=True),
        "reason": RuleKey("text", "one word in CamelCase, for programs", required=True),
        "message": RuleKey("text", "a sentence, for users", required=True),
        "dedupKey": RuleKey("text", "identifies an occurrence, of which each is recorded once; the message by default"),
    },
    "requeue": {"requeue": RuleKey("expression", "when to requeue, in seconds since the epoch; none for never"), **_LOOPS},
    "delete": {
        "delete": RuleKey("expression", "the object to delete"),
        **_LOOPS,
        "reason": RuleKey("text", "why, as one word in CamelCase", required=True),
        "attributed": RuleKey("boolean", "`false` does not annotate the object with the reason before its deletion, which saves a write"),
        "despiteFailures": RuleKey(
            "boolean", "`true` deletes the object although others cannot be written: for one that serves nobody, or is in their way"
        ),
        "after": RuleKey("words", "ids of rules (`topic/*`: all of a topic) whose deletions or statuses come first"),
    },
    "wait": {
        "wait": RuleKey("word", "why, as one word in CamelCase, for programs"),
        **_LOOPS,
        "of": RuleKey("expression", "the object that waits", required=True),
        "for": RuleKey("expression", "the object that it waits for, which may itself wait; none if it waits for no object"),
        "since": RuleKey("expression", "since when, in seconds since the epoch; none if unknown"),
        "message": RuleKey("text", "what it waits for, as a sentence for users", required=True),
        "resolve": RuleKey("text", "what a user can do to end a wait that does not end by itself"),
    },
}

OPERATIONS = {
    "add": "sets a key, inserts before an index, or appends with `-`; creates missing parents",
    "replace": "changes an existing value; an absent one is an error",
    "remove": "removes a value; does nothing if it is absent",
    "test": "fails if the value differs",
    "merge": "merges a map into the one at the path (RFC 7386: null removes a key); creates missing parents",
}

OPERATION_KEYS = {
    "op": RuleKey("word", "the operation", required=True, choices=tuple(OPERATIONS)),
    "path": RuleKey("text", "a JSON pointer, as in `/metadata/labels/team`", required=True),
    "value": RuleKey("value", "the new value, or the one to compare with; required except for `remove`"),
    "forEach": _FOR_EACH,
    "when": COMMON_KEYS["when"],
}

CASE_KEYS = {
    "when": RuleKey("expression", "whether the case holds; optional for the last case"),
    "status": RuleKey("text", "the condition's status", required=True, choices=("True", "False", "Unknown")),
    "reason": RuleKey("text", "one word in CamelCase, for programs", required=True),
    "message": RuleKey("text", "a sentence, for users", required=True),
}

DECISION_CASE_KEYS = {"when": CASE_KEYS["when"], "value": RuleKey("expression", "what is decided", required=True)}

POLICY_KEYS = {
    "create": RuleKey("word", "the object is created once and never changed", choices=("only",)),
    "adopt": RuleKey("boolean", "whether an object that others created may be changed; by default `grove apply` may, the operator may not"),
    "part": RuleKey(
        "boolean", "only a part of the object is ours: a field manager of its own applies it, and never takes over other fields"
    ),
    "recreate": RuleKey("boolean", "the object is deleted and recreated if an immutable field differs"),
    "operator": RuleKey("boolean", "only the operator writes the object, such as a part of one that people write; `grove apply` omits it"),
    "yield": RuleKey("pointers", "the fields that others may change"),
    "yieldWhen": RuleKey("expression", "the fields of `yield` are only left to others where it holds; elsewhere they are restored"),
    "optional": RuleKey("pointers", "the fields that are left out where the cluster's definition of the kind lacks them"),
    "follow": RuleKey("pointers", "the fields that are still updated if the object is created once; list items by their `name`"),
}

LIFE_KEYS = {
    "life": RuleKey("word", "the life's id, `topic/name`; a life of the same id that comes later replaces it", required=True),
    "doc": RuleKey("line", "what it is about, and its source", required=True),
    "about": _ABOUT,
    "forEach": _FOR_EACH,
    "when": COMMON_KEYS["when"],
    "let": RuleKey("names", "names for all of its expressions; `state`, `transition` and `next`, a state, are names as well"),
    "of": RuleKey("expression", "the object that its events are about, unless they say otherwise"),
    "state": RuleKey("expression", "the name of the state that it is in, from what is recorded or observed; without it, the first one"),
    "states": RuleKey("map", "its states, each with what it means, or with the keys of a state; it begins in the first", required=True),
    "transitions": RuleKey("maps", "its transitions, in order of precedence: the first one that fires is taken", required=True),
    "always": RuleKey("maps", "effects of every step"),
    "decide": RuleKey("word", "the decision that gives the next state when the model asks for it; such a life has no effects"),
}

STATE_KEYS = {
    "doc": RuleKey("line", "what it means", required=True),
    "final": RuleKey("boolean", "whether no transition leaves it"),
    "while": RuleKey("maps", "effects of every step in this state"),
}

TRANSITION_KEYS = {
    "name": RuleKey("word", "one word in CamelCase", required=True),
    "doc": RuleKey("line", "why, and its source"),
    "from": RuleKey("words", "the states that it leaves", required=True),
    "to": RuleKey("word", "the state that it leads to; without it, the state stays the same"),
    "at": RuleKey("expression", "when it fires, in seconds since the epoch; none for never. There is a requeue at that time"),
    "when": RuleKey("expressions", "conditions; it fires if all hold"),
    "then": RuleKey("maps", "its effects"),
}

OBSERVED_TRANSITION_KEYS = {
    "observed": RuleKey(
        "line", "what happens in the cluster, in words: the transition is drawn, and no rule has a part in it", required=True
    ),
    "from": TRANSITION_KEYS["from"],
    "to": TRANSITION_KEYS["to"]._replace(required=True),
}

FILE_KEYS = {
    "rules": RuleKey("line", "what the rules of the file have in common", required=True),
    "when": RuleKey("expressions", "conditions of each rule of the file, before its own", required=True),
}

DISABLE_KEYS = {"disable": RuleKey("words", "ids of rules or lives to disable", required=True), "doc": RuleKey("line", "why")}

CONSTANTS_KEYS = {
    "constants": RuleKey("map", "names in capitals, with their values", required=True),
    "doc": RuleKey("line", "what they are for"),
}

MAP_KEYS = {
    "$if": "an expression; if it is false, the map (as a list's item or as a key's value) is omitted",
    "$include": "the name of a part, or a list of them, whose entries are inserted here: `parts/labels.yaml` of the templates",
    "$let": "a map of names to expressions, for the rest of the map",
    "$merge": "an expression for a map, or a list of maps, whose entries are merged in here; none is ignored",
}
ITEM_KEYS = {
    "$for": "`name in expression`: the item is repeated for each value",
    "$if": "an expression; if it is false, the item is omitted",
    "$include": "the name of a part; the items of a list replace this one",
    "$value": "the item itself, if it is not a map",
}

RESERVED = ("true", "false", "none", "True", "False", "None", "omit", "and", "or", "not", "in", "is", "if", "else")


def is_name(word: str) -> bool:
    """Reports whether rules may bind the word: ASCII letters, digits and `_`, and no keyword of expressions.

    Python normalizes other letters (NFKC), so that two different words could become the same name.
    """
    return word.isascii() and word.isidentifier() and word not in RESERVED
