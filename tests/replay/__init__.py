"""Steps that are kept and taken again."""
