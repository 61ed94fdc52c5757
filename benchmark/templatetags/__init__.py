"""Template tags of the pages: how a mark, a time or a text is shown."""
