"""Shared parts of all checks: settings, outcome, health events, metrics and termination."""
