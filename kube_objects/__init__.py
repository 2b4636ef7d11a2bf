"""Holds what the compiler and the applier both know of Kubernetes objects, such as quantities and label selectors. It imports neither."""
