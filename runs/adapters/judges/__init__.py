"""Judges: adapters that try out a running candidate and mark its expected outcomes."""
