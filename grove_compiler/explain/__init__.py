"""Explains results: which rule, template and input made an object or a field, and which rules did not apply."""

from grove_compiler.explain.explainer import Explainer, ObjectAnswer, Refusal
from grove_compiler.explain.input_source import Given, InputSource

__all__ = ["Explainer", "Given", "InputSource", "ObjectAnswer", "Refusal"]
