"""Pages of what happened: one module a page, a function a view."""
