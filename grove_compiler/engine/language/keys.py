"""Provides the keys of the rules language, which `keys.yaml` defines, and the words that have a meaning in it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from grove_compiler.source.reader import read_bytes

Verb = Literal["default", "validate", "decide", "generate", "patch", "condition", "status", "event", "requeue", "delete", "wait"]

RENAMED = {"again": "requeue", "once": "dedupKey"}
"""Keys that had another name in earlier releases, with those that they have now."""
RUN_TIME_VERBS = ("condition", "status", "event", "requeue", "delete", "wait")
"""The verbs about what runs. Only they may use `now`: the desired objects must not depend on the time."""

LIFE_VERBS: tuple[Verb, ...] = ("status", "condition", "event", "requeue", "delete")
"""The verbs of a life's effects."""
SLICED_VERBS = ("generate", *RUN_TIME_VERBS)
"""The verbs whose rules can be evaluated for one slice of the input."""

Form = Literal["word", "words", "line", "text", "expression", "expressions", "names", "list", "maps", "map", "boolean", "value"]


class RuleKey(NamedTuple):
    """Describes a key: its form, its meaning, whether it is required, and the allowed words (empty: any)."""

    form: Form
    doc: str
    required: bool = False
    choices: tuple[str, ...] = ()


Keys = dict[str, RuleKey]


def _read() -> dict[str, Any]:
    """Reads the tables by the loader of this module, wherever the package is; to the purity of the compiler it is like an import."""
    path = __file__.rpartition(".")[0] + ".yaml"
    (document,), _ = read_bytes(__loader__.get_data(path), "keys.yaml")  # type: ignore[name-defined]
    tables: dict[str, Any] = document.value
    return tables


def _keys(table: dict[str, Any]) -> Keys:
    return {
        word: RuleKey(key["takes"], key["doc"], key.get("required", False), tuple(key.get("choices", ()))) for word, key in table.items()
    }


_TABLES = _read()

FORMS: dict[Form, str] = _TABLES["forms"]
COMMON_KEYS = _keys(_TABLES["common"])
VERB_KEYS: dict[Verb, Keys] = {verb: _keys(table) for verb, table in _TABLES["verbs"].items()}
OPERATIONS: dict[str, str] = _TABLES["operations"]
OPERATION_KEYS = _keys(_TABLES["operation"])
CASE_KEYS = _keys(_TABLES["case"])
DECISION_CASE_KEYS = _keys(_TABLES["decisionCase"])
POLICY_KEYS = _keys(_TABLES["policy"])
LIFE_KEYS = _keys(_TABLES["life"])
STATE_KEYS = _keys(_TABLES["state"])
TRANSITION_KEYS = _keys(_TABLES["transition"])
OBSERVED_TRANSITION_KEYS = _keys(_TABLES["observedTransition"])
FILE_KEYS = _keys(_TABLES["file"])
DISABLE_KEYS = _keys(_TABLES["disable"])
CONSTANTS_KEYS = _keys(_TABLES["constants"])
MAP_KEYS: dict[str, str] = _TABLES["map"]
ITEM_KEYS: dict[str, str] = _TABLES["item"]

RESERVED = ("true", "false", "none", "True", "False", "None", "omit", "and", "or", "not", "in", "is", "if", "else")


def is_name(word: str) -> bool:
    """Reports whether rules may bind the word: ASCII letters, digits and `_`, and no keyword of expressions.

    Python normalizes other letters (NFKC), so that two different words could become the same name.
    """
    return word.isascii() and word.isidentifier() and word not in RESERVED
