"""Keeps what a step rested on and what it decided, so that it can be taken again anywhere."""
