"""Matches the ids of rules against patterns; what explains rules needs this alone of their language."""


def matches(pattern: str, rule_id: str) -> bool:
    """Reports whether a rule's id matches a pattern: the id itself, or `topic/*`."""
    return rule_id.startswith(pattern[:-1]) if pattern.endswith("/*") else pattern == rule_id
