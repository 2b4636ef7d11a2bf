"""What generated code calls, and the program that runs it. A warm start imports nothing else of the engine."""
