"""Asks a cluster what commands show: sets, jobs, trees, what waits, usage, logs, and who runs it."""
