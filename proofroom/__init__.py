"""The composition root: settings, addresses, server and commands."""
