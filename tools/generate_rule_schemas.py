"""Generates the JSON Schemas of users' files from the tables that the loaders validate by: `python -m tools.generate_rule_schemas`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grove_cli.golden.asserts import FORMS
from grove_cli.golden.expected_findings import KEYS as FINDING_KEYS
from grove_cli.golden.options import KEYS as OPTION_KEYS
from grove_compiler.compile import VOCABULARY
from grove_compiler.engine.language import keys as tables
from grove_compiler.engine.language.keys import Form, RuleKey, Verb
from grove_compiler.engine.language.life_schema import STATE
from grove_compiler.engine.language.rule_schema import CONSTANT, RULE_ID, effect_keys, keys_of

Schema = dict[str, Any]

FOLDER = Path(__file__).parent.parent / "grove_cli" / "schemas"
DIALECT = "http://json-schema.org/draft-07/schema#"
"""The version of JSON Schema that the YAML language server supports best."""

_TYPES = {str: "string", dict: "object", int: "integer"}
_WORD: Schema = {"type": "string", "pattern": r"\S"}
_EXPRESSION: Schema = {"type": ["string", "number", "boolean"], "minLength": 1}
_NAMES: Schema = {
    "type": "object",
    "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": {"enum": list(tables.RESERVED)}},
    "additionalProperties": {"$ref": "#/definitions/expression"},
}


def _one_or_more(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "array", "minItems": 1, "items": schema}]}


_FORMS: dict[Form, Schema] = {
    "word": _WORD,
    "words": _one_or_more(_WORD),
    "pointers": _one_or_more({"type": "string", "pattern": "^/"}),
    "line": _WORD,
    "text": {"type": ["string", "number", "boolean"]},
    "expression": _EXPRESSION,
    "expressions": _one_or_more(_EXPRESSION),
    "names": _NAMES,
    "list": {"type": "array"},
    "maps": {"type": "array", "minItems": 1, "items": {"type": "object"}},
    "map": {"type": "object"},
    "boolean": {"type": "boolean"},
    "value": {"$ref": "#/definitions/value"},
}


def _of_key(key: RuleKey) -> Schema:
    """Returns the schema of a key, with its description, which editors display."""
    if not key.choices:
        return {**_reference(key.form), "description": key.doc}
    choice: Schema = {"enum": list(key.choices)}
    if key.form == "text":  # or an expression that evaluates to one of them
        choice = {"anyOf": [choice, {"type": "string", "pattern": r"\{\{"}]}
    return {**(_one_or_more(choice) if key.form == "words" else choice), "description": key.doc}


def _reference(form: Form) -> Schema:
    return _FORMS[form] if form == "value" else {"allOf": [{"$ref": f"#/definitions/{form}"}]}


def _map(keys: Mapping[str, RuleKey], special: Mapping[str, Schema] | None = None) -> Schema:
    """Returns the schema of a map with these keys and no others."""
    properties = {word: {**_of_key(key), **(special or {}).get(word, {})} for word, key in keys.items()}
    required = [word for word, key in keys.items() if key.required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _listed(name: str) -> Schema:
    return {"type": "array", "minItems": 1, "items": {"$ref": f"#/definitions/{name}"}}


def _rule(verb: Verb) -> Schema:
    special: dict[str, Schema] = {
        "rule": {"pattern": f"^{RULE_ID.pattern}$"},
        "do": _listed("operation"),
        "cases": _listed("decisionCase" if verb == "decide" else "conditionCase"),
        "policy": {"$ref": "#/definitions/policy"},
        "about": _one_or_more({"enum": list(VOCABULARY.subjects)}),
    }
    if verb == "decide":
        special["decide"] = {"enum": sorted(VOCABULARY.decisions)}
    schema = _map(keys_of(verb), special)
    schema["required"] = list(dict.fromkeys([*schema["required"], verb]))
    if verb == "decide":
        schema["oneOf"] = [{"required": ["value"]}, {"required": ["cases"]}]
    return schema


def _effect(verb: Verb) -> Schema:
    """Returns the schema of an effect of a life: a rule of this verb, without an id and with optional documentation."""
    schema = _map(effect_keys(verb), {"cases": _listed("conditionCase")})
    schema["required"] = list(dict.fromkeys([*schema["required"], verb]))
    return schema


def _life() -> dict[str, Schema]:
    """Returns the schemas of lives and their parts."""
    effects = {word: _listed("effect") for word in ("while", "then", "always")}
    state: Schema = {"anyOf": [_WORD, _map(tables.STATE_KEYS, effects)]}
    transition: Schema = {
        "if": {"required": ["observed"]},
        "then": _map(tables.OBSERVED_TRANSITION_KEYS),
        "else": _map(tables.TRANSITION_KEYS, effects),
    }
    effect: Schema = {"type": "object"}
    for verb in reversed(tables.LIFE_VERBS):
        effect = {"if": {"required": [verb]}, "then": _effect(verb), "else": effect}
    special: dict[str, Schema] = {
        "life": {"pattern": f"^{RULE_ID.pattern}$"},
        "about": _one_or_more({"enum": list(VOCABULARY.subjects)}),
        "decide": {"enum": sorted(VOCABULARY.decisions)},
        "states": {"type": "object", "propertyNames": {"pattern": f"^{STATE.pattern}$"}, "additionalProperties": state},
        "transitions": _listed("transition"),
        **effects,
    }
    return {"life": _map(tables.LIFE_KEYS, special), "transition": transition, "effect": effect}


def _template_parts() -> dict[str, Schema]:
    """Returns the schemas of values with expressions: any YAML, in which only known `$` keys are allowed."""

    def known(*words: str) -> str:
        return f"^\\$(?!\\{{|({'|'.join(word[1:] for word in words)})$)"

    include: Schema = {"anyOf": [_WORD, {"type": "array", "items": _WORD}]}
    forms: dict[str, Schema] = {
        "$if": _EXPRESSION,
        "$include": include,
        "$let": {"$ref": "#/definitions/names"},
        "$merge": {"anyOf": [_EXPRESSION, {"type": "array", "items": _EXPRESSION}]},
        "$for": {"type": "string", "pattern": r"^\s*\w+\s+in\s+[\s\S]*\S"},
        "$value": {"$ref": "#/definitions/value"},
    }

    def keyed(docs: Mapping[str, str]) -> Schema:
        return {
            "properties": {word: {**forms[word], "description": doc} for word, doc in docs.items()},
            "patternProperties": {known(*docs): False},
            "additionalProperties": {"$ref": "#/definitions/value"},
        }

    both = {**tables.MAP_KEYS, **tables.ITEM_KEYS}
    return {
        "value": {"if": {"type": "object"}, "then": keyed(tables.MAP_KEYS), "else": {"items": {"$ref": "#/definitions/item"}}},
        "item": {"if": {"type": "object"}, "then": keyed(both), "else": {"$ref": "#/definitions/value"}},
    }


def rule_schema() -> Schema:
    """Returns the schema of one document of a rule file."""
    verbs: list[Verb] = list(tables.VERB_KEYS)
    definitions = {
        **{form: schema for form, schema in _FORMS.items() if form != "value"},
        **_template_parts(),
        "operation": {
            **_map(tables.OPERATION_KEYS),
            "if": {"properties": {"op": {"const": "remove"}}},
            "else": {"required": ["op", "path", "value"]},
        },
        "conditionCase": _map(tables.CASE_KEYS),
        "decisionCase": _map(tables.DECISION_CASE_KEYS),
        "policy": _map(tables.POLICY_KEYS),
        "constants": _map(tables.CONSTANTS_KEYS, {"constants": {"propertyNames": {"pattern": f"^{CONSTANT.pattern}$"}}}),
        "disable": _map(tables.DISABLE_KEYS),
        "rules": _map(tables.FILE_KEYS),
        **_life(),
        **{f"{verb}Rule": _rule(verb) for verb in verbs},
    }
    # A chain of conditions instead of `oneOf`: editors then report the errors of the rule's own verb, and not those of all verbs.
    others = ("rules", "constants", "disable")
    every: Schema = {word: {} for word in (*(word for verb in verbs for word in keys_of(verb)), *tables.LIFE_KEYS, *others)}
    # Reached only without a verb, so it matches nothing. With `anyOf` editors would suggest the first verb. `errorMessage` is an extension
    # of the YAML language server, which supports it with `const` but not with `not`.
    no_verb = {"const": "a rule with a verb", "errorMessage": f"a rule has exactly one verb of {', '.join(verbs)}"}
    document: Schema = {"properties": every, "additionalProperties": False, "allOf": [no_verb]}
    # A life first, since it may have the key `decide` as well.
    for word, name in reversed([("life", "life"), *((verb, f"{verb}Rule") for verb in verbs), *((word, word) for word in others)]):
        document = {"if": {"required": [word]}, "then": {"$ref": f"#/definitions/{name}"}, "else": document}
    # Completion only uses `properties`, so the keys of all verbs are listed here.
    return _root("A document of a file of rules of grove", {"type": "object", "properties": every, **document}, definitions)


def template_schema(whole: bool) -> Schema:
    """Returns the schema of a `whole` object's template, or of a part of templates and a status, whose top level is arbitrary."""
    definitions: dict[str, Schema] = {"expression": _EXPRESSION, "names": _NAMES, **_template_parts()}
    if not whole:
        return _root(
            "A part of templates, or the template of a status, of grove", {"allOf": [{"$ref": "#/definitions/value"}]}, definitions
        )
    merges = [{"required": [key]} for key in ("$merge", "$include")]
    needs: Schema = {
        "type": "object",
        "allOf": [{"$ref": "#/definitions/value"}, {"anyOf": [{"required": ["apiVersion", "kind", "metadata"]}, *merges]}],
        "properties": {"$if": False, "apiVersion": _WORD, "kind": _WORD, "metadata": {"type": "object"}},
    }
    return _root("A template of grove", needs, definitions)


def options_schema() -> Schema:
    """Returns the schema of `options.yaml` of a golden case."""
    properties = {word: {**option.schema, "description": option.words} for word, option in OPTION_KEYS.items()}
    return _root("Options of a golden case of grove", {"type": "object", "properties": properties, "additionalProperties": False}, {})


def findings_schema() -> Schema:
    """Returns the schema of `expected-findings.yaml` of a golden case."""
    properties: Schema = {key: {"type": "integer" if key == "line" else "string"} for key in FINDING_KEYS}
    finding = {"type": "object", "properties": properties, "required": ["code"], "additionalProperties": False}
    return _root("Findings that a golden case of grove expects", {"type": "array", "items": finding}, {})


def asserts_schema() -> Schema:
    """Returns the schema of `asserts.yaml` of a golden case."""
    kinds: Schema = {"required": list(FORMS)[:1]}
    for kind, keys in FORMS.items():
        form: Schema = {"properties": {word: {"type": _TYPES[types[0]]} for word, types in keys.items()}, "additionalProperties": False}
        if kind == "count":
            form["anyOf"] = [{"required": [bound]} for bound in ("is", "atLeast", "atMost")]
        form["required"] = [kind, "has"] if kind == "each" else [kind]
        kinds = {"if": {"required": [kind]}, "then": form, "else": kinds}
    entry = {"type": "object", "properties": {word: {} for keys in FORMS.values() for word in keys}, **kinds}
    return _root("Asserts of a golden case of grove", {"type": "array", "minItems": 1, "items": entry}, {})


def _root(title: str, schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    return {"$schema": DIALECT, "title": title, **schema, **({"definitions": definitions} if definitions else {})}


def schemas() -> dict[str, str]:
    """Returns the text of each schema by the name of its file."""
    by_name = {
        "rule": rule_schema(),
        "template": template_schema(whole=True),
        "part": template_schema(whole=False),
        "options": options_schema(),
        "expected-findings": findings_schema(),
        "asserts": asserts_schema(),
    }
    return {f"{name}.schema.json": json.dumps(schema, indent=1, ensure_ascii=False) + "\n" for name, schema in by_name.items()}


if __name__ == "__main__":
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
