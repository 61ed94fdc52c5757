"""Commands that speak of runs, and what they have in common."""
