"""Plans how to make a cluster equal to a graph, from its live state, and saves plans for later execution."""

from applier.decision import CLIENT_SIDE
from applier.plan.declared import as_declared
from applier.plan.planner import Intent, Plan, plan, step_for
from applier.plan.saved import InvalidPlan, SavedPlan, check, fingerprint, input_hash, load, save

__all__ = [
    "CLIENT_SIDE",
    "Intent",
    "InvalidPlan",
    "Plan",
    "SavedPlan",
    "as_declared",
    "check",
    "fingerprint",
    "input_hash",
    "load",
    "plan",
    "save",
    "step_for",
]
