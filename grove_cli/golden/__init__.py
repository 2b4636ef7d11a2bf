"""Runs users' golden test cases: compiles inputs, and compares with expected results."""
