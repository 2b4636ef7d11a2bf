"""Runs an apply or a diff as a whole: reads the cluster, plans, executes, prunes, waits and reports. `pipeline` has the sequence."""
