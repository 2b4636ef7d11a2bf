"""Defines readiness rules as data, which a graph may carry for its own kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NamedTuple

from applier.errors import ApplierError
from applier.readiness.state import Readiness, conditions, failed, in_progress, one_line, ready
from applier.ref import Manifest
from kube_objects.json_pointer import at

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "!=": ne, ">=": ge, "<=": le, ">": gt, "<": lt}


class Expected(NamedTuple):
    """Compares a field with a value, or with another field. Fields are JSON pointers, like `/status/readyReplicas`.

    A missing field counts as `default`; without a default the comparison fails.
    """

    field: str
    comparison: str
    value: Any = None
    other: str = ""
    default: Any = None

    def why_not(self, manifest: Manifest) -> str:
        """Returns why the comparison fails; empty when it holds."""
        have = at(manifest, self.field, self.default)
        expected = at(manifest, self.other, self.default) if self.other else self.value
        if have is None or expected is None:
            missing = self.field if have is None else self.other
            return f"{_dotted(missing)} is missing"
        try:
            holds = COMPARISONS[self.comparison](have, expected)
        except TypeError:
            holds = False
        sign = "" if self.comparison == "=" else f"{self.comparison} "
        than = f", the {_dotted(self.other)}" if self.other else ""
        return "" if holds else f"{_dotted(self.field)} is {'missing' if have == '' else have}, expected {sign}{expected}{than}"


class ExpectedCondition(NamedTuple):
    """Expects a condition to have a status."""

    condition: str
    status: str = "True"

    def why_not(self, manifest: Manifest) -> str:
        """Returns why it has another one; empty when it has it."""
        have = conditions(manifest).get(self.condition)
        if have is None:
            return f"condition {self.condition} is missing"
        words = "".join(f": {text}" for text in (have.reason, one_line(have.message)) if text)
        return "" if have.status == self.status else f"condition {self.condition} is {have.status}{words}"


@dataclass(slots=True, eq=False)
class ReadinessRule:
    """Represents the readiness rule of a kind: objects are ready when all conditions have their status, and all fields are as expected.

    `failed` are conditions of a final failure. An object of which one of `done` holds is ready, whatever else is missing: a job that has
    succeeded. `messages` are JSON pointers to texts that explain more while the object is not ready.
    """

    group: str
    kind: str
    conditions: Mapping[str, str] | None = None
    fields: tuple[Expected, ...] = ()
    failed: Mapping[str, str] | None = None
    messages: tuple[str, ...] = ()
    done: tuple[Expected | ExpectedCondition, ...] = ()

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ReadinessRule:
        """Reads a rule from data.

        `group`, `kind`, `conditions`, `failed`, `messages`, `fields` as `["/status/phase", "=", "Running"]` or `{field,
        comparison, value | other, default}`, and `done` as such or as `{condition, status}`. Raises `ApplierError`.
        """
        if unknown := data.keys() - {"group", "kind", "conditions", "fields", "failed", "messages", "done"}:
            raise ApplierError(f"a rule of readiness has no field {', '.join(sorted(unknown))}")
        if not data.get("kind"):
            raise ApplierError("a rule of readiness needs a kind")
        fields = tuple(map(_expected, data.get("fields") or ()))
        done = tuple(_expected_condition(each) if "condition" in each else _expected(each) for each in data.get("done") or ())
        given = (data.get("conditions"), fields, data.get("failed"), tuple(data.get("messages") or ()), done)
        return cls(str(data.get("group") or ""), str(data["kind"]), *given)

    def judge(self, manifest: Manifest) -> Readiness:
        """Returns the readiness of an object by this rule."""
        by_type = conditions(manifest)
        for kind, status in (self.failed or {}).items():
            if kind in by_type and by_type[kind].status == status:
                return failed(by_type[kind].text())
        if any(not expected.why_not(manifest) for expected in self.done):
            return ready()
        if missing := list(self._missing(manifest)):
            messages = (one_line(str(text)) for pointer in self.messages if (text := at(manifest, pointer)))
            return in_progress("; ".join([*missing, *messages]))
        return ready()

    def _missing(self, manifest: Manifest) -> Iterator[str]:
        by_type = (ExpectedCondition(kind, status) for kind, status in (self.conditions or {}).items())
        expectations: list[Expected | ExpectedCondition] = [*by_type, *self.fields]
        for expected in expectations:
            if why := expected.why_not(manifest):
                yield why


def _expected(entry: Any) -> Expected:
    try:
        expected = Expected(**entry) if isinstance(entry, Mapping) else Expected(*entry)
    except TypeError:
        raise ApplierError(f"{entry!r} is not a comparison: expected [field, comparison, value]") from None
    if expected.comparison not in COMPARISONS:
        raise ApplierError(f"{expected.comparison!r} is not a comparison: use one of {', '.join(COMPARISONS)}")
    for pointer in (expected.field, *([expected.other] if expected.other else [])):
        if not str(pointer).startswith("/"):
            raise ApplierError(f"{pointer!r} is not a JSON pointer: it must begin with a slash, like /status/phase")
    return expected


def _expected_condition(entry: Mapping[str, Any]) -> ExpectedCondition:
    if entry.keys() - {"condition", "status"} or not isinstance(entry["condition"], str):
        raise ApplierError(f"{entry!r} is not a condition: expected {{condition, status}}")
    return ExpectedCondition(entry["condition"], str(entry.get("status", "True")))


def _dotted(pointer: str) -> str:
    return pointer[1:].replace("/", ".")
