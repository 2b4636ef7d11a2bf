"""Connects the compiler and the applier: turns inputs into desired objects, and live objects into snapshots and trees."""
