"""Plans how to make a cluster equal to a graph, from what was read of it before, and saves plans for later."""

from applier.decision import CLIENT_SIDE
from applier.plan.planner import Intent, Plan, plan
from applier.plan.saved import BadPlan, SavedPlan, check, fingerprint, input_hash, load, save

__all__ = ["CLIENT_SIDE", "BadPlan", "Intent", "Plan", "SavedPlan", "check", "fingerprint", "input_hash", "load", "plan", "save"]
