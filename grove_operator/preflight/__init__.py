"""Preflight checks in a cluster: admission of pods, and the ConfigMaps by which the pods of a gang find one another (ADR-026)."""
