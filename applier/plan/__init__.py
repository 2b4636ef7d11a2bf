"""What is to be done to make a cluster equal to a graph, decided without asking it, and plans that are kept for later."""

from applier.decision import CLIENT_SIDE
from applier.plan.planner import Intent, Plan, plan
from applier.plan.saved import BadPlan, SavedPlan, check, fingerprint, input_hash, load, save

__all__ = ["CLIENT_SIDE", "BadPlan", "Intent", "Plan", "SavedPlan", "check", "fingerprint", "input_hash", "load", "plan", "save"]
