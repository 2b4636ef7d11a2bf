"""How ready an object is, and why not. Pure."""

from applier.readiness.judgement import readiness
from applier.readiness.rules import Expected, Rule
from applier.readiness.state import Readiness, State

__all__ = ["Expected", "Readiness", "Rule", "State", "readiness"]
