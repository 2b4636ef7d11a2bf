"""Represents the types of a server's OpenAPI document as far as they decide how objects merge, in compact tables parsed on demand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from applier.decision.go_types import is_plain
from applier.ref import Kind

_GO_TYPED = ("io.k8s.api.", "io.k8s.apimachinery.", "io.k8s.kube-aggregator.", "io.k8s.apiextensions-apiserver.")
_VERSION = 1


class Type:
    """Describes how a value merges. One type may allow a scalar, a list and a map at once; attributes of what it does not allow are empty.

    `scalar` is `string`, `numeric`, `boolean`, `untyped` or empty; `form` names a scalar that the server normalizes: `quantity`, `time`,
    `micro-time`, `bytes` or empty. `fields` maps each declared field to its step in FieldsV1 and its type; `element` is the type of
    undeclared fields, None if they are not allowed. `list_kind` is `atomic`, `set`, `map` or empty; `keys` are those of a map list,
    sorted, and `key_defaults` the values of keys that an item lacks. `defaults` are those that the document declares. `go` marks types
    that the server reads into Go structs, where empty values are omitted. Attributes are computed on first use, since most types are
    never used.
    """

    name: str
    scalar: str
    form: str
    is_map: bool
    is_list: bool
    fields: dict[str, tuple[str, Type]]
    element: Type | None
    map_atomic: bool
    deduced: bool
    item: Type
    list_kind: str
    keys: tuple[str, ...]
    key_defaults: dict[str, Any]
    defaults: dict[str, Any]
    status: bool

    def __init__(self, table: TypeTable, spec: Any, name: str, *, go: bool, status: bool = False) -> None:
        self._table, self._spec, self.name, self.go, self.status = table, spec, name, go, status

    def with_status(self) -> Type:
        """Returns this type for the status subresource, where `status` is an ordinary field."""
        return self._table.named(self.name) if self.status else self

    def __getattr__(self, attribute: str) -> Any:
        """Computes all attributes, once: Python calls this only for one that is not set yet."""
        if attribute not in Type.__annotations__:
            raise AttributeError(attribute)
        self._expand()
        return getattr(self, attribute)

    def _expand(self) -> None:
        spec: dict[str, Any] = {"s": self._spec} if isinstance(self._spec, str) else self._spec
        scalar, _, self.form = spec.get("s", "").partition("/")
        self.scalar = scalar
        self.is_map, self.is_list = "e" in spec, "i" in spec
        self.defaults = spec.get("d") or {}
        self.fields = {name: (f"f:{name}", self._child(child, name)) for name, child in (spec.get("f") or {}).items()}
        self.element = self._child(spec["e"]) if spec.get("e") is not None else None
        self.map_atomic = bool(spec.get("a"))
        self.deduced = self.is_map and not self.fields and self.element is not None and self.element.name == "*deduced"
        self.list_kind = {"": "", "a": "atomic", "s": "set", "m": "map"}[spec.get("l", "")]
        self.item = self._child(spec.get("i", "*untyped"))
        self.keys = tuple(sorted(spec.get("k", ())))
        self.key_defaults = {key: self.item.defaults[key] for key in self.keys if key in self.item.defaults} if self.keys else {}

    def _child(self, spec: Any, field: str = "") -> Type:
        go, name = self.go, f"{self.name}/{field}"
        if isinstance(spec, dict) and "r" in spec:
            named = self._table.named(spec["r"], spec.get("o", ""))
            if not isinstance(named._spec, str):
                return named
            spec, go = named._spec, named.go  # a scalar gets a type for each field, since `omits_empty` depends on the field
        elif isinstance(spec, str) and spec.startswith("*"):
            return self._table.named(spec)
        return Type(self._table, spec, name, go=go)

    @property
    def omits_empty(self) -> bool:
        """Reports whether this is a non-pointer scalar field of a Go struct, for which the server treats an empty value as absent."""
        return is_plain(*self.name.rpartition("/")[::2])

    def member(self, name: str) -> Type | None:
        """Returns the type of a map's member; None if the map does not allow it."""
        known = self.fields.get(name)
        return known[1] if known else self.element

    def below(self, step: str) -> Type | None:
        """Returns the type that a step of FieldsV1 leads to; None if the schema has no such place."""
        return self.member(step[2:]) if step.startswith("f:") else self.item if self.is_list else None


_COMMON: dict[str, Any] = {
    "*untyped": {"s": "untyped", "i": "*untyped", "l": "a", "e": "*untyped", "a": 1},
    "*deduced": {"s": "untyped", "i": "*untyped", "l": "a", "e": "*deduced"},
}


class TypeTable:
    """Holds the types of one document by name, each built once."""

    __slots__ = ("_built", "kinds", "types")

    def __init__(self, kinds: dict[str, Any], types: dict[str, Any]) -> None:
        self.kinds, self.types = kinds, types
        self._built: dict[tuple[str, str], Type] = {}

    def named(self, name: str, relationship: str = "", *, status: bool = False) -> Type:
        """Returns a type by name; one that allows any value if the document lacks the name.

        `relationship` is the map type of a reference (`atomic` or `granular`), which overrides that of the type itself.
        """
        key = (name, relationship or ("status" if status else ""))
        built = self._built.get(key)
        if built is None:
            spec = self.types.get(name) or _COMMON.get(name) or _COMMON["*untyped"]
            if relationship and isinstance(spec, dict):
                spec = {**spec, "a": int(relationship == "atomic")}
            built = self._built[key] = Type(self, spec, name, go=name.startswith(_GO_TYPED), status=status)
        return built


class Schemas:
    """Holds the schemas of kinds. Documents of several group versions are combined with `joined`."""

    __slots__ = ("_tables", "_types")

    def __init__(self, tables: Iterable[TypeTable] = ()) -> None:
        self._tables = list(tables)
        self._types: dict[Kind, Type | None] = {}

    def get(self, kind: Kind) -> Type | None:
        """Returns the type of a kind's objects; None if no document describes it."""
        if kind not in self._types:
            self._types[kind] = self._find(f"{kind.group}/{kind.version}/{kind.kind}")
        return self._types[kind]

    def _find(self, key: str) -> Type | None:
        for table in self._tables:
            if key in table.kinds:
                name, status = table.kinds[key]
                return table.named(name, status=bool(status))
        return None

    @classmethod
    def joined(cls, parts: Iterable[Schemas]) -> Schemas:
        """Combines several into one; the first that describes a kind wins."""
        return cls(table for part in parts for table in part._tables)

    def dumps(self) -> str:
        """Serializes the schemas as compact JSON, for a cache on disk."""
        tables = [{"kinds": table.kinds, "types": table.types} for table in self._tables]
        return json.dumps({"version": _VERSION, "tables": tables}, separators=(",", ":"))

    @classmethod
    def loads(cls, text: str | bytes) -> Schemas:
        """Parses the output of `dumps`. Raises ValueError for anything else, including tables of another release."""
        try:
            read = json.loads(text)
            if read["version"] != _VERSION:
                raise ValueError(f"tables of version {read['version']}")
            return cls(TypeTable(table["kinds"], table["types"]) for table in read["tables"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"no schema tables: {error}") from error
