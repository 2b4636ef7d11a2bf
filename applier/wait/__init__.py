"""Waits until objects are ready, or until deleted objects are gone."""

from applier.wait.gone import wait_gone, what_keeps
from applier.wait.ready import Waited, wait_ready

__all__ = ["Waited", "wait_gone", "wait_ready", "what_keeps"]
