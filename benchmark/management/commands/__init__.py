"""Commands about what is measured."""
