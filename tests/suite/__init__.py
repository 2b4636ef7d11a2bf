"""What the test suite needs as a whole: limits, an end for every process, costs."""
