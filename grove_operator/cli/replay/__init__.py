"""`grove replay`: a look of the operator, taken again from its bundle."""
