"""Recompute every number of agreement.json from ratings.csv with numpy alone, and name those that differ.

    python recompute.py            prints every number, and at the end whether all are the same
    python recompute.py FOLDER     does so for files that lie elsewhere

It is written apart from the program that made agreement.json and shares no line with it.
"""

import runpy

if __name__ == "__main__":
    runpy.run_module("agreement_numbers", run_name="__main__")
