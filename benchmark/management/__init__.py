"""Commands about what is measured, and the base of every command."""
