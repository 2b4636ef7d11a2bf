"""Builds the namespace of generated code: operators that need a guard, patches, filters, tests, functions, results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from grove_compiler.engine.runtime import builtins, patching
from grove_compiler.engine.runtime.access import (
    OMIT,
    EvaluationError,
    as_text,
    contains,
    describe,
    each,
    get_field,
    get_item,
    multiply,
    power,
    writable,
)
from grove_compiler.engine.runtime.cost_budget import CostBudget
from grove_compiler.engine.runtime.failure import FAILURES
from grove_compiler.engine.runtime.results import Event, ObjectWait, RequestedDeletion, StatusCondition, StatusPatch, event_name


def runtime(functions: Mapping[str, Callable[..., Any]], budget: CostBudget) -> dict[str, Any]:
    """Returns the namespace of generated code. Metered code charges `budget`; a decision that fails calls `failed(rule, error)`."""
    names: dict[str, Any] = {
        "OMIT": OMIT, "charge": budget.charge, "concat": budget.concat, "spend": budget.spend, "walk": budget.walk, "writable": writable,
        "as_text": as_text, "contains": contains, "each": each, "get_field": get_field, "get_item": get_item,
        "multiply": multiply, "power": power, "modulo": modulo, "merge": patching.merge, "pointer": patching.pointer,
        "patch_add": patching.patch_add, "patch_replace": patching.patch_replace, "patch_remove": patching.patch_remove,
        "patch_test": patching.patch_test, "patch_merge": patching.patch_merge, "identified": patching.identified,
        "StatusCondition": StatusCondition, "StatusPatch": StatusPatch, "Event": Event, "event_name": event_name,
        "RequestedDeletion": RequestedDeletion, "ObjectWait": ObjectWait,
        "FAILURES": FAILURES, "failed": _reraise,
    }  # fmt: skip
    names |= {f"filter_{name}": function for name, function in {**builtins.FILTERS, **functions}.items()}
    names |= {f"fn_{name}": function for name, function in {**builtins.FUNCTIONS, **functions}.items()}
    names |= {f"test_{name}": function for name, function in builtins.TESTS.items()}
    return names | {"test_linear_match": builtins.matches_in_linear_time}


def modulo(left: Any, right: Any) -> Any:
    """Evaluates `left % right` for numbers only: on text it would be a formatting language of its own."""
    if not isinstance(left, int | float):
        raise EvaluationError(f"% is for numbers, not for {describe(left)}")
    return left % right


def _reraise(_: str, error: Exception) -> NoReturn:
    raise error
