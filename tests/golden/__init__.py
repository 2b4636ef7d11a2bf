"""Users' golden cases: how what came out differs from what was expected."""
