"""The rules engine: loads, checks and compiles rules and templates, and runs them. It knows no kind of ours."""
