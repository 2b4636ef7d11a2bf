"""Translates the templates of an installation to Go templates, which Helm renders to the same objects.

Values are inserted as JSON, which is also YAML, so that no value can break a document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from jinja2 import Environment, nodes

from grove_operator.install.manifests import PART, WHOLE

NAMES = {
    "namespace": ".Release.Namespace",
    "version": ".Chart.AppVersion",
    "image": '(include "grove.image" .)',
    "labels": '(include "grove.labels" . | fromJson)',
    "config_text": '(include "grove.config" .)',
    "not_exempt": '(include "grove.notExempt" .)',
    "config_checksum": '(include "grove.config" . | sha256sum)',
    "dashboard": '(.Files.Get "dashboard.json")',
    "preflight": '(index .Values "preflight-injector")',
    "preflight_text": '(index .Values "preflight-injector" | toRawJson)',
    "preflight_checksum": '(index .Values "preflight-injector" | toRawJson | sha256sum)',
    "preflight_namespaces": '(include "grove.preflightNamespaces" . | fromJson)',
}
"""The Go expressions for the variables of templates, except `values`."""
PLAIN = re.compile(r"[A-Za-z_$][\w./$-]*")
SPECIAL = ("null", "true", "false", "yes", "no", "on", "off", "y", "n", "~")
_PARSE = Environment().parse


def document(node: dict[str, Any]) -> str:
    """Returns the Go template of one document, which renders nothing unless its condition holds."""
    body = "\n".join(("---", *_map_lines(node, 0)))
    return _guarded(node, body) + "\n"


def expression(text: str) -> str:
    """Returns an expression as a Go template's pipeline. Raises ValueError if it uses anything else than this subset."""
    tree = _PARSE("{{ " + text + " }}").body[0]
    assert isinstance(tree, nodes.Output)
    return _go(tree.nodes[0])


def _go(node: nodes.Node) -> str:
    match node:
        case nodes.Name(name=name) if name in NAMES:
            return NAMES[name]
        case nodes.Name(name="values"):
            return ".Values"
        case nodes.Getattr(node=inner, attr=attr):
            return f"{_go(inner)}.{attr}"
        case nodes.Const(value=value):
            return json.dumps(value)
        case nodes.And(left=left, right=right):
            return f"(and {_go(left)} {_go(right)})"
        case nodes.Or(left=left, right=right):
            return f"(or {_go(left)} {_go(right)})"
        case nodes.Not(node=inner):
            return f"(not {_go(inner)})"
        case nodes.Compare(expr=left, ops=[nodes.Operand(op="eq", expr=right)]):
            return f"(eq {_go(left)} {_go(right)})"
    raise ValueError(f"there is no Go template for {node!r}")


def _omitted(text: str) -> str | None:
    """Returns the expression before ` or omit`; None without that."""
    return text.removesuffix(" or omit") if text.endswith(" or omit") else None


def _guarded(node: Any, body: str) -> str:
    condition = node.get("$if") if isinstance(node, dict) else None
    return f"{{{{- if {expression(condition)} }}}}\n{body}\n{{{{- end }}}}" if condition else body


def _map_lines(node: dict[str, Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for key, value in node.items():
        if key == "$if":
            continue
        if key == "$merge":
            yield f"{{{{- range $key, $value := {expression(value)} }}}}"
            yield f"{pad}{{{{ $key | toJson }}}}: {{{{ $value | toJson }}}}"
            yield "{{- end }}"
            continue
        whole = WHOLE.match(value) if isinstance(value, str) else None
        if whole and (inner := _omitted(whole[1])) is not None:
            yield f"{{{{- if {expression(inner)} }}}}"
            yield f"{pad}{_scalar(key)}: {{{{ {expression(inner)} | toJson }}}}"
            yield "{{- end }}"
            continue
        yield from _guarded(value, "\n".join(_entry(f"{pad}{_scalar(key)}:", value, indent))).split("\n")


def _entry(head: str, value: Any, indent: int) -> Iterator[str]:
    match value:
        case dict() if value:
            yield head
            yield from _map_lines(value, indent + 2)
        case list() if value:
            yield head
            yield from _list_lines(value, indent + 2)
        case _:
            yield f"{head} {_scalar(value)}"


def _list_lines(items: list[Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for item in items:
        yield from _guarded(item, "\n".join(_item_lines(item, pad, indent))).split("\n")


def _item_lines(item: Any, pad: str, indent: int) -> Iterator[str]:
    if isinstance(item, dict) and "$value" in item:
        yield f"{pad}- {_scalar(item['$value'])}"
    elif isinstance(item, dict) and item:
        lines = list(_map_lines(item, indent + 2))
        yield f"{pad}- {lines[0].lstrip()}"
        yield from lines[1:]
    else:
        yield f"{pad}- {_scalar(item)}"


def _scalar(value: Any) -> str:
    """Returns a scalar: expressions become actions, other text is unchanged, and its braces are escaped."""
    if not isinstance(value, str):
        return json.dumps(value)
    if (whole := WHOLE.match(value)) and "}}" not in whole[1]:
        return f"{{{{ {expression(whole[1])} | toJson }}}}"
    if PART.search(value):
        return _text(value, lambda part: f"{{{{ {expression(part[1])} }}}}")
    if PLAIN.fullmatch(value) and value.lower() not in SPECIAL:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return quoted.replace("{{", '{{ "{{" }}') if "{{" in quoted else quoted


def _text(value: str, action: Callable[[re.Match[str]], str]) -> str:
    pieces, end = list[str](), 0
    for part in PART.finditer(value):
        pieces += [json.dumps(value[end : part.start()], ensure_ascii=False)[1:-1], action(part)]
        end = part.end()
    return '"' + "".join(pieces) + json.dumps(value[end:], ensure_ascii=False)[1:-1] + '"'
