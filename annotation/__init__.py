"""Whether it was right: people mark the same outcomes on the live application."""
