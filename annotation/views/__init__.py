"""Pages of annotation: one module a page, a function a view."""
