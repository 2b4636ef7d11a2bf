"""A pure compiler: a PodCliqueSet and what it refers to in, every Kubernetes object that should exist out."""
