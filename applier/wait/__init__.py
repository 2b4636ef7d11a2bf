"""Waiting for what a cluster does by itself: objects that become ready, and objects that go."""
