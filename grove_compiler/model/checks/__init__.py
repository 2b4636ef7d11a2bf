"""What validations ask about a set, or about a change of it."""
