"""Explains results: which rule, template and input an object or a field comes from, and which rules did not apply."""

from grove_compiler.explain.explainer import Explainer, ObjectAnswer, SkippedRule
from grove_compiler.explain.input_source import InputManifest, InputSource

__all__ = ["Explainer", "InputManifest", "InputSource", "ObjectAnswer", "SkippedRule"]
