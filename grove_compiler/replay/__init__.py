"""Records the inputs and the decision of a step, so that it can be replayed anywhere."""
