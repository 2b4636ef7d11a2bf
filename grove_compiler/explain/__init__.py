"""Answers to "why": which rule, template and input made an object or a field, and which rules had nothing to say."""

from grove_compiler.explain.explainer import Explainer, ObjectAnswer, Refusal
from grove_compiler.explain.said import Given, Said

__all__ = ["Explainer", "Given", "ObjectAnswer", "Refusal", "Said"]
