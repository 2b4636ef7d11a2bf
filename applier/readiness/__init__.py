"""Computes how ready an object is, and why it is not. Pure."""

from applier.readiness.judgement import UNREPORTED, readiness
from applier.readiness.rules import Expected, ReadinessRule
from applier.readiness.state import Readiness, State

__all__ = ["UNREPORTED", "Expected", "Readiness", "ReadinessRule", "State", "readiness"]
