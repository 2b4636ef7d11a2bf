"""Tells what happened to a set over time, from its objects, their statuses and events."""
