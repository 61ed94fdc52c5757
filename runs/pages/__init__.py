"""What each page shows, worked out before a template is asked to show it."""
