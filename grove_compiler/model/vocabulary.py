"""The names that rules may use: roots with their types, and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grove_compiler.model.configuration import Configuration
from grove_compiler.model.declared import PodCliqueSet
from grove_compiler.model.derived import ExpandedSet
from grove_compiler.model.settings import Settings

ROOTS: dict[str, type] = {"set": ExpandedSet, "config": Configuration, "settings": Settings}

# In scope of validations on update only: the set before the update.
UPDATE_ROOTS: dict[str, type] = {"old": PodCliqueSet}

FUNCTIONS: dict[str, Callable[..., Any]] = {}
