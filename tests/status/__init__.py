"""Statuses, conditions and events: what the rules say of what runs."""
