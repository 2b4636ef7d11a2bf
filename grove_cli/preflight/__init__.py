"""Implements `grove preflight`: checks of GPUs and links before a workload starts (ADR-026)."""
