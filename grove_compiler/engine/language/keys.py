"""Defines the keys of the rules language: what each takes and what it is for. Loading checks by these tables, the reference prints them."""

from __future__ import annotations

from typing import Literal, NamedTuple

Verb = Literal["default", "validate", "decide", "generate", "patch", "condition", "status", "event", "again", "delete", "wait"]

RUN_TIME_VERBS = ("condition", "status", "event", "again", "delete", "wait")
"""The verbs about what runs. Only they may use `now`: the desired objects must not depend on the time."""

SLICED_VERBS = ("generate", *RUN_TIME_VERBS)
"""The verbs whose rules can be evaluated for one slice of the input."""

Form = Literal["word", "words", "line", "text", "expression", "expressions", "names", "list", "maps", "map", "boolean", "value"]

FORMS: dict[Form, str] = {
    "word": "a word",
    "words": "a word, or a list of words",
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


class Key(NamedTuple):
    """Describes a key: its form, what it is for, whether it is required, and the words that it allows (empty: any)."""

    form: Form
    doc: str
    required: bool = False
    choices: tuple[str, ...] = ()


OPERATIONS_OF_INPUT = ("create", "update")
ERROR_TYPES = ("Invalid value", "Required value", "Duplicate value", "Forbidden", "Not found", "Unsupported value")

COMMON_KEYS = {
    "rule": Key("word", "the rule's id, `topic/name`; a rule of the same id that comes later replaces it", required=True),
    "doc": Key("line", "says why the rule is there, and where it comes from", required=True),
    "when": Key("expressions", "all must hold, else the rule does nothing for this item"),
    "let": Key("names", "names for expressions, evaluated once for each value of the loops that they use"),
}

_FOR_EACH = Key("names", "names and what they run over, as nested loops: `{replica: set.replicas, clique: replica.cliques}`")

_ABOUT = Key("words", "the kinds of input that the rule is about; it runs once for each, with its roots in scope")

_LOOPS = {"about": _ABOUT, "forEach": _FOR_EACH}

_WITH = Key("names", "names that the template uses besides the roots and the loops' names")

VERB_KEYS: dict[Verb, dict[str, Key]] = {
    "default": {
        "default": Key(
            "words",
            "the paths of the field that gets a value when it is absent; `[*]` is every item, `{a,b}` either field, `[a.b/c]` that key",
        ),
        "of": Key("words", "the kinds of manifest that it applies to", required=True),
        "value": Key(
            "value",
            "`item` is the map that lacks the field, `parent` the map around that, `object` the manifest; `omit` sets nothing",
            required=True,
        ),
        "absent": Key("list", "further values that count as absent, such as `0`"),
    },
    "validate": {
        "validate": Key("words", "when it is checked; `update` alone has the former input in scope", choices=OPERATIONS_OF_INPUT),
        **_LOOPS,
        "assert": Key("expressions", "what must hold, else there is a finding", required=True),
        "path": Key("text", "the field that is wrong", required=True),
        "at": Key("text", "the field whose line is shown, where that is not `path`"),
        "message": Key("text", "what is wrong and what would be right", required=True),
        "type": Key("word", "Kubernetes' word for the kind of mistake", choices=ERROR_TYPES),
        "value": Key("expression", "the value that is wrong"),
        "known": Key("expression", "the list of right values, from which the nearest to `value` is suggested"),
        "hint": Key("text", "what to do about it"),
        "severity": Key("word", "`error` unless said otherwise", choices=("error", "warning")),
    },
    "decide": {
        "decide": Key("word", "the decision that it makes, one of those below; its parameters are the names in scope"),
        "value": Key("expression", "what is decided"),
        "cases": Key("maps", "in place of `value`: the first that holds says what is decided, and one without `when` comes last"),
    },
    "generate": {
        "generate": Key("word", "the template that is rendered, once for each item"),
        **_LOOPS,
        "with": _WITH,
        "owner": Key("expression", "the object that owns it"),
        "after": Key(
            "words",
            "ids of rules (`topic/*`: all of a topic) whose objects come first; of loops that both share, only those of the same item",
        ),
        "policy": Key("map", "what may be done with an object that exists"),
    },
    "patch": {
        "patch": Key("words", "the kinds, or the ids of the rules, whose objects are changed"),
        "about": Key("words", "the kinds of input whose objects are changed; else the first for which there are objects of a kind"),
        "forEach": _FOR_EACH,
        "do": Key("maps", "operations as in RFC 6902", required=True),
    },
    "condition": {
        "condition": Key("word", "the condition's type"),
        **_LOOPS,
        "of": Key("expression", "the object that bears it", required=True),
        "cases": Key("maps", "the first that holds says the condition, none leaves it out", required=True),
    },
    "status": {
        "status": Key("word", "the template of what stands below the object's `status`, as in `status/podclique.yaml`"),
        **_LOOPS,
        "of": Key("expression", "the object whose status it is", required=True),
        "with": _WITH,
    },
    "event": {
        "event": Key("word", "the event's type", choices=("Normal", "Warning")),
        **_LOOPS,
        "of": Key("expression", "the object that it happened to", required=True),
        "reason": Key("text", "one word in CamelCase, for programs", required=True),
        "message": Key("text", "a sentence, for people", required=True),
        "once": Key("text", "what tells one occurrence from the next, each of which is told once; the message unless said otherwise"),
    },
    "again": {
        "again": Key("expression", "when to look again, in seconds since the epoch; none is no wish"),
        **_LOOPS,
    },
    "delete": {
        "delete": Key("expression", "the object that has to go"),
        **_LOOPS,
        "reason": Key("text", "one word in CamelCase, which the deletion carries", required=True),
        "attributed": Key(
            "boolean", "`false` leaves the reason off the object: a write less for each, where nobody will ask it who deleted it"
        ),
        "after": Key("words", "ids of rules (`topic/*`: all of a topic) that delete, or write a status, first"),
    },
    "wait": {
        "wait": Key("word", "why, as one word in CamelCase, for programs"),
        **_LOOPS,
        "of": Key("expression", "the object that waits", required=True),
        "for": Key("expression", "the object that it waits for, which may wait itself; none where that is no object"),
        "since": Key("expression", "since when, in seconds since the epoch; none where nobody knows"),
        "message": Key("text", "what it waits for, a sentence for people", required=True),
        "resolve": Key("text", "what ends it where it does not end by itself: what people can do"),
    },
}

OPERATIONS = {
    "add": "sets a key, inserts before an index, or appends with `-`; parents that are missing are made",
    "replace": "changes what is there; it is an error when nothing is",
    "remove": "takes out what is there; nothing happens when nothing is",
    "test": "it is an error when the value differs",
    "merge": "merges a map into the one at the path (RFC 7386: null removes a key); parents that are missing are made",
}

OPERATION_KEYS = {
    "op": Key("word", "the operation", required=True, choices=tuple(OPERATIONS)),
    "path": Key("text", "a JSON pointer, as in `/metadata/labels/team`", required=True),
    "value": Key("value", "what is put in or compared; every operation but `remove` needs it"),
    "forEach": _FOR_EACH,
    "when": COMMON_KEYS["when"],
}

CASE_KEYS = {
    "when": Key("expression", "whether the case holds; the last case may go without"),
    "status": Key("text", "the condition's status", required=True, choices=("True", "False", "Unknown")),
    "reason": Key("text", "one word in CamelCase, for programs", required=True),
    "message": Key("text", "a sentence, for people", required=True),
}

DECISION_CASE_KEYS = {
    "when": CASE_KEYS["when"],
    "value": Key("expression", "what is decided", required=True),
}

POLICY_KEYS = {
    "create": Key("word", "it is made once and then left as it is", choices=("only",)),
    "adopt": Key("boolean", "whether an object of that name that somebody else made may be changed (it may); `false` holds it"),
    "recreate": Key("boolean", "it is made anew when a field differs that cannot be changed"),
    "operator": Key("boolean", "only the operator writes it, such as a part of an object that people write; `grove apply` leaves it out"),
    "yield": Key("words", "JSON pointers of the fields that others may set"),
    "follow": Key("words", "JSON pointers of the fields that follow the graph although it is made once; items of lists by their `name`"),
}

DISABLE_KEYS = {
    "disable": Key("words", "ids of rules that are taken out", required=True),
    "doc": Key("line", "says why"),
}

CONSTANTS_KEYS = {
    "constants": Key("map", "names in capitals, and the values that they stand for everywhere", required=True),
    "doc": Key("line", "says what they are for"),
}

MAP_KEYS = {
    "$if": "an expression; when it is false, the map (as a list's item or as a key's value) is left out",
    "$include": "the name of a part, or a list of them, whose entries stand here: `parts/labels.yaml` of the templates",
    "$let": "a map of names to expressions, for the rest of the map",
    "$merge": "an expression that gives a map, or a list of maps, whose entries are put in here; none is nothing",
}
ITEM_KEYS = {
    "$for": "`name in expression`: the item is repeated for each value",
    "$if": "an expression; when it is false, the item is left out",
    "$include": "the name of a part; where that is a list, its items stand in place of this one",
    "$value": "the item itself, where it is not a map",
}

RESERVED = ("true", "false", "none", "True", "False", "None", "omit", "and", "or", "not", "in", "is", "if", "else")


def is_name(word: str) -> bool:
    """Tells whether rules may bind the word: ASCII letters, digits and `_`, and no keyword of expressions.

    Python normalizes other letters (NFKC), so that two different words could become the same name.
    """
    return word.isascii() and word.isidentifier() and word not in RESERVED
