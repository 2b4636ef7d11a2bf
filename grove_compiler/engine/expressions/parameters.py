"""Names parameters of functions as rules do: mostly as Python does, except where a word of rules is also a function of Python's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

Words = Mapping[str, str]
"""What rules call a parameter, by its name in Python, where the two differ: `{"pcs": "set"}`."""


def signature_in_rules(function: Callable[..., Any], words: Words) -> inspect.Signature:
    """Returns a function's signature with the words of rules. Raises `ValueError` for a function of Python's own without one."""
    signature = inspect.signature(function)
    named = [parameter.replace(name=words.get(name, name)) for name, parameter in signature.parameters.items()]
    return signature.replace(parameters=named)


def python_name(word: str, function: Callable[..., Any] | None, words: Words) -> str:
    """Returns Python's name of the parameter that rules call `word`; the word itself where nothing of that kind is called."""
    if word not in words.values() or not callable(function):
        return word
    return next((name for name in inspect.signature(function).parameters if words.get(name, name) == word), word)
