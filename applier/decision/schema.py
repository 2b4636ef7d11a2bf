"""What a server's OpenAPI document says about how objects merge: tables of types, made small, read when needed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from applier.decision.go_types import is_plain
from applier.ref import Kind

_GO_TYPED = ("io.k8s.api.", "io.k8s.apimachinery.", "io.k8s.kube-aggregator.", "io.k8s.apiextensions-apiserver.")
_VERSION = 1


class Type:
    """How a value merges. One type may allow a scalar, a list and a map at once; what it does not allow is empty.

    `scalar` is `string`, `numeric`, `boolean`, `untyped` or empty, and `form` says how the server rewrites it: `quantity`, `time`,
    `micro-time`, `bytes` or empty. `fields` gives each declared field its step in FieldsV1 and its type; `element` is the type of
    undeclared ones, None where they are not allowed. `list_kind` is `atomic`, `set`, `map` or empty; `keys` are those of a map list in
    order of name, `key_defaults` what stands for a key that an item lacks. `defaults` are those the document declares. `go` marks what
    the server reads into Go structs, where empty values vanish. Attributes are worked out on first use, since most types never are used.
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

    def __init__(self, table: Table, spec: Any, name: str, *, go: bool, status: bool = False) -> None:
        self._table, self._spec, self.name, self.go, self.status = table, spec, name, go, status

    def with_status(self) -> Type:
        """Returns the same type as the status subresource takes it: there a status is a field like others."""
        return self._table.named(self.name) if self.status else self

    def __getattr__(self, attribute: str) -> Any:
        """Works the type out, once: this is only called for what is not there yet."""
        if attribute not in Type.__annotations__:
            raise AttributeError(attribute)
        self._work_out()
        return getattr(self, attribute)

    def _work_out(self) -> None:
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
            spec, go = named._spec, named.go  # a scalar of its own for each field: whether it is plain depends on the field
        elif isinstance(spec, str) and spec.startswith("*"):
            return self._table.named(spec)
        return Type(self._table, spec, name, go=go)

    @property
    def omits_empty(self) -> bool:
        """Whether this is a scalar field of a Go struct that is no pointer, so that an empty value is as good as none."""
        return is_plain(*self.name.rpartition("/")[::2])

    def member(self, name: str) -> Type | None:
        """Returns the type of a map's member; None where the map may not have it."""
        known = self.fields.get(name)
        return known[1] if known else self.element

    def below(self, step: str) -> Type | None:
        """Returns the type behind a step of FieldsV1; None when the schema has no such place."""
        return self.member(step[2:]) if step.startswith("f:") else self.item if self.is_list else None


_COMMON: dict[str, Any] = {
    "*untyped": {"s": "untyped", "i": "*untyped", "l": "a", "e": "*untyped", "a": 1},
    "*deduced": {"s": "untyped", "i": "*untyped", "l": "a", "e": "*deduced"},
}


class Table:
    """The types of one document by their names, each made once."""

    __slots__ = ("_made", "kinds", "types")

    def __init__(self, kinds: dict[str, Any], types: dict[str, Any]) -> None:
        self.kinds, self.types = kinds, types
        self._made: dict[tuple[str, str], Type] = {}

    def named(self, name: str, relationship: str = "", *, status: bool = False) -> Type:
        """Returns a type by name. `relationship` overrides how its map merges. A name that the document lacks is of any type."""
        key = (name, relationship or ("status" if status else ""))
        made = self._made.get(key)
        if made is None:
            spec = self.types.get(name) or _COMMON.get(name) or _COMMON["*untyped"]
            if relationship and isinstance(spec, dict):
                spec = {**spec, "a": int(relationship == "atomic")}
            made = self._made[key] = Type(self, spec, name, go=name.startswith(_GO_TYPED), status=status)
        return made


class Schemas:
    """The schemas of kinds. Documents of several group versions are joined with `joined`."""

    __slots__ = ("_found", "_tables")

    def __init__(self, tables: Iterable[Table] = ()) -> None:
        self._tables = list(tables)
        self._found: dict[Kind, Type | None] = {}

    def get(self, kind: Kind) -> Type | None:
        """Returns how objects of a kind merge; None when no document has said so."""
        if kind not in self._found:
            self._found[kind] = self._find(f"{kind.group}/{kind.version}/{kind.kind}")
        return self._found[kind]

    def _find(self, key: str) -> Type | None:
        for table in self._tables:
            if key in table.kinds:
                name, status = table.kinds[key]
                return table.named(name, status=bool(status))
        return None

    @classmethod
    def joined(cls, parts: Iterable[Schemas]) -> Schemas:
        """Returns one that knows what any of several knows."""
        return cls(table for part in parts for table in part._tables)

    def dumps(self) -> str:
        """Returns all of it as compact JSON, for a cache on disk."""
        tables = [{"kinds": table.kinds, "types": table.types} for table in self._tables]
        return json.dumps({"version": _VERSION, "tables": tables}, separators=(",", ":"))

    @classmethod
    def loads(cls, text: str | bytes) -> Schemas:
        """Reads what `dumps` wrote. Raises ValueError for anything else, another release's tables included."""
        try:
            read = json.loads(text)
            if read["version"] != _VERSION:
                raise ValueError(f"tables of version {read['version']}")
            return cls(Table(table["kinds"], table["types"]) for table in read["tables"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"no schema tables: {error}") from error
