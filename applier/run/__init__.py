"""A whole run: what is there is read, a plan made and carried out, and an account given. `pipeline` is its path from top to bottom."""
