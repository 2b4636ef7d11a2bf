"""A generic server-side-apply applier: any graph of objects in, the cluster made equal to it, and an honest account of what happened."""
