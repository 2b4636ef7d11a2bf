"""`grove compile`: what PodCliqueSets become, as manifests or as a summary for people."""
