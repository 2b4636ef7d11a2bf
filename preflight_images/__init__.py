"""The preflight checks (ADR-026): three small programs, each an image, and what they share.

They run in pods, and import nothing of the compiler.
"""
