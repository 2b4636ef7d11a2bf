"""Whether gangs can be placed on given nodes: an exact answer where the case is small enough, a proven bound or "unknown" elsewhere."""
