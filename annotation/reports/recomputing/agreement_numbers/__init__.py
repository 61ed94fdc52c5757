"""Agreement of raters from first principles, with numpy alone: a second opinion on every number of a report."""
