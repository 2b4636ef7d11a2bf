"""Implements `grove rollout`: the progress and history of updates, and edits that start, hold and undo them."""
