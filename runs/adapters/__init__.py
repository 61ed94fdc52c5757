"""Adapters between the ports of a run and the outside world; none of them sees a database row."""
