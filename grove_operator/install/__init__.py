"""Generates the manifests of an installation of the operator."""
