"""Commands of annotation."""
