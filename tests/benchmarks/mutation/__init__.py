"""What `tests.benchmarks.mutants` is made of: small faults, the tests that are to find them, and the processes in which they run."""
