"""Prints a pod template as Go's spew library does, from the template's JSON; the pod-template hash is taken over this text.

The grammar is that of shipped semantics §7.3.1: `{Name:(Type)value Name:(Type)value}` in order of declaration with unset fields
present, `<nil>` for what is absent behind a pointer, list or map, `map[key:value]` sorted by key. The template is read as Go
decodes JSON: fields it does not know are dropped, null is absence, and an empty list or map differs from an absent one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grove_compiler.kube.tables import read_table
from kube_objects import quantity

FIELDS: dict[str, str] = read_table("pod_template_fields")
"""The structs of a pod template as Kubernetes v0.35.5 holds it in Go, which is the version that upstream Grove hashes with.

Each has its fields in order of declaration, as `JSON-name Go-name:(Go-type) below`, where `below` is the type that the field holds, after
`*` for a pointer, `[]` for a list and `{}` for a map. The JSON name of an inlined struct is `-`. A struct is one text because splitting
all of them would cost more than the few that a template has.
"""

Field = tuple[str, str, str, Callable[[str, Any], str], str]
"""JSON name (`-` when inlined), `Name:(Type)`, the text of an unset field, how to write a set one, and the type below."""

_ZERO_OF_BASIC = {"string": "", "bool": "false", "int32": "0", "int64": "0"}
_ZERO_TIME = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_ZERO_PORT = "{Type:(intstr.Type)0 IntVal:(int32)0 StrVal:(string)}"
_AMOUNT = "{{i:(resource.int64Amount){{value:(int64){} scale:(resource.Scale){}}} d:(resource.infDecAmount){{Dec:(*inf.Dec){}}}"
_QUANTITY = _AMOUNT + " s:(string){} Format:(resource.Format){}}}"
_DECIMAL = "{{unscaled:(big.Int){{neg:(bool){} abs:(big.nat){}}} scale:(inf.Scale){}}}"
_WORD = 2**64 - 1

_fields: dict[str, tuple[Field, ...]] = {}
_zeros: dict[str, str] = {
    "v1.Time": _ZERO_TIME,
    "v1.FieldsV1": "{Raw:([]uint8)<nil>}",
    "intstr.IntOrString": _ZERO_PORT,
    # A quantity that is no pointer is stored as "0" when the set is written, and read again (shipped semantics §6.1).
    "resource.Quantity": _QUANTITY.format(0, 0, "<nil>", "0", "DecimalSI"),
    **_ZERO_OF_BASIC,
}


class TemplateError(ValueError):
    """Reports a pod template that Go could not decode, without a place: the structural check reports that."""


def dump(template: dict[str, Any]) -> str:
    """Returns the dump of one v1.PodTemplateSpec. Raises TemplateError, also for a quantity that is none."""
    try:
        return "(*v1.PodTemplateSpec)" + _struct("v1.PodTemplateSpec", template)
    except quantity.QuantityError as error:
        raise TemplateError(str(error)) from error


def _struct(name: str, value: Any) -> str:
    if not value and isinstance(value, dict):
        return _zero(name)
    if not isinstance(value, dict):
        raise TemplateError(f"a {name} must be an object, not {_kind(value)}")
    parts = []
    for json_name, label, unset, write, below in _fields.get(name) or _prepare(name):
        if json_name == "-":
            parts.append(label + write(below, value))
        else:
            item = value.get(json_name)
            parts.append(unset if item is None else label + write(below, item))
    return "{" + " ".join(parts) + "}"


def _prepare(name: str) -> tuple[Field, ...]:
    """Splits the table's line for one struct, once."""
    fields = []
    for text in FIELDS[name].split("; "):
        json_name, label, below = text.split(" ")
        form = next((prefix for prefix in ("*", "[]", "{}") if below.startswith(prefix)), "")
        below = below.removeprefix(form)
        write = _LISTS[form] if form in _LISTS else _WRITERS.get(below, _struct)
        fields.append((json_name, label, label + ("<nil>" if form else _zero(below)), write, below))
    _fields[name] = tuple(fields)
    return _fields[name]


def _zero(name: str) -> str:
    """Returns the text of an unset value that is no pointer, list or map."""
    known = _zeros.get(name)
    if known is None:
        known = "{" + " ".join(field[2] for field in _fields.get(name) or _prepare(name)) + "}"
        _zeros[name] = known
    return known


def _list(below: str, value: Any) -> str:
    if not isinstance(value, list):
        raise TemplateError(f"a list of {below} must be a list, not {_kind(value)}")
    write = _WRITERS.get(below, _struct)
    return "[" + " ".join([_zero(below) if item is None else write(below, item) for item in value]) + "]"


def _map(below: str, value: Any) -> str:
    if not isinstance(value, dict):
        raise TemplateError(f"a map of {below} must be an object, not {_kind(value)}")
    write = _WRITERS.get(below, _struct)
    texts = {_string("string", key): _zero(below) if item is None else write(below, item) for key, item in value.items()}
    return "map[" + " ".join([f"{key}:{texts[key]}" for key in sorted(texts)]) + "]"


def _string(_below: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TemplateError(f"a string is wanted, not {_kind(value)}")
    return value


def _boolean(_below: str, value: Any) -> str:
    if not isinstance(value, bool):
        raise TemplateError(f"true or false is wanted, not {_kind(value)}")
    return "true" if value else "false"


def _integer(below: str, value: Any) -> str:
    """Writes an integer. JSON knows one kind of number, so 8.0 is the integer 8."""
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, float) and not value.is_integer()):
        raise TemplateError(f"an integer is wanted, not {_kind(value)}")
    limit = 2**31 if below == "int32" else 2**63
    if not -limit <= value < limit:
        raise TemplateError(f"an integer does not fit into {below}")
    return str(int(value))


def _int_or_string(_below: str, value: Any) -> str:
    if isinstance(value, str):
        return f"{{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string){value}}}"
    return f"{{Type:(intstr.Type)0 IntVal:(int32){_integer('int32', value)} StrVal:(string)}}"


def _quantity(_below: str, value: Any) -> str:
    """Returns the quantity as it is stored, that is, in canonical text, and read again (shipped semantics §6.1)."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TemplateError(f"a quantity is wanted, not {_kind(value)}")
    stored = quantity.parse(quantity.canonical(value))
    if stored.big:
        number = abs(stored.number)
        words = []
        while number:
            words.append(str(number & _WORD))
            number >>= 64
        sign = "true" if stored.number < 0 else "false"
        decimal = _DECIMAL.format(sign, f"[{' '.join(words)}]", -stored.exponent)
        return _QUANTITY.format(0, 0, decimal, "", stored.format)
    return _QUANTITY.format(stored.number, stored.exponent, "<nil>", stored.text, stored.format)


def _unserved(below: str, _value: Any) -> str:
    """Writes times and managed fields as unset: only the server fills them in, and a stored pod template keeps none of them."""
    return _zero(below)


def _kind(value: Any) -> str:
    from grove_compiler.kube.structure_findings import describe  # only for faulty input

    return describe(value)


_LISTS: dict[str, Callable[[str, Any], str]] = {"[]": _list, "{}": _map}
_WRITERS: dict[str, Callable[[str, Any], str]] = {
    "string": _string,
    "bool": _boolean,
    "int32": _integer,
    "int64": _integer,
    "intstr.IntOrString": _int_or_string,
    "resource.Quantity": _quantity,
    "v1.Time": _unserved,
    "v1.FieldsV1": _unserved,
}
