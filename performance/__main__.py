"""Every measurement of this folder, one after the other."""

from __future__ import annotations

import sys

from performance.agreement import main as agreement
from performance.label_saves import main as label_saves
from performance.pages_while_running import main as pages_while_running
from performance.sandbox_start import main as sandbox_start

if __name__ == "__main__":
    most_seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    sys.exit(max(agreement(), label_saves(), sandbox_start(), pages_while_running(most_seconds=most_seconds)))
