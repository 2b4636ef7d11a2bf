"""Waiting for what a cluster does by itself: objects that become ready, and objects that go."""

from applier.wait.gone import wait_gone, what_keeps
from applier.wait.ready import Waited, wait_ready

__all__ = ["Waited", "wait_gone", "wait_ready", "what_keeps"]
