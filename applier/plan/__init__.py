"""What is to be done to make a cluster equal to a graph, decided without asking it, and plans that are kept for later."""

from applier.plan.planner import Plan, plan
from applier.plan.saved import BadPlan, SavedPlan, check, fingerprint, input_hash, load, save
from applier.plan.takeover import CLIENT_SIDE

__all__ = ["CLIENT_SIDE", "BadPlan", "Plan", "SavedPlan", "check", "fingerprint", "input_hash", "load", "plan", "save"]
