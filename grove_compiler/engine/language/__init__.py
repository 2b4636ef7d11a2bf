"""What a rule file may say: keys, forms, templates as trees, and rules in the order in which they run."""
