"""Commands that speak of annotation."""
