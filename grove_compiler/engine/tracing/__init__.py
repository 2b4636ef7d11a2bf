"""Which line of which rule made a field, and from what: the same rules, run by the curious."""
