"""Feedback writers: what a code agent is told about a round, as a user would say it."""
