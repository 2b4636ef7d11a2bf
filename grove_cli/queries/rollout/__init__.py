"""Knows rollouts of PodCliqueSets: how far one has come, which revisions there are, and the edits that start, hold and undo one."""
