"""A run's numbers as tables, and tables as text, CSV, LaTeX and HTML."""
