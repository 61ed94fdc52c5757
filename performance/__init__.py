"""Measurements of speed, as ratios within one run; not part of the tests."""
