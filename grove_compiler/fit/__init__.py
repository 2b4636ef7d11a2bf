"""Answers whether gangs can be placed on given nodes: exactly for small cases, by a proven bound or with "unknown" for others."""
