"""Cells of files for spreadsheets: what a spreadsheet would run as a formula."""

from __future__ import annotations

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def begins_formula(text: str) -> bool:
    """Answer whether a spreadsheet may take a text for a formula."""
    return text.startswith(_FORMULA)
