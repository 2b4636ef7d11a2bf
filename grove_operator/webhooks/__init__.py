"""Admission: what an API server asks before it takes a PodCliqueSet or a topology."""
