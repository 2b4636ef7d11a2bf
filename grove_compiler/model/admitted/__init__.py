"""Models objects of another controller as admission sees them: PodCliques and PodGangs whose pods are to have multi-node NVLink."""
