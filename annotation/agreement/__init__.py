"""Agreement between raters as plain numbers: no Django, no rows, no files."""
