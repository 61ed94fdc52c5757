"""Pages of annotation: one function each."""
