"""Every measurement of this folder, one after the other, or those that are named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from performance.agreement import main as agreement
from performance.growth import main as growth
from performance.label_saves import main as label_saves
from performance.load import main as load
from performance.pages_while_running import main as pages_while_running
from performance.sandbox_start import main as sandbox_start
from performance.simulator import main as simulator

SHORT: dict[str, Callable[[], int]] = {
    "agreement": agreement,
    "label_saves": label_saves,
    "sandbox_start": sandbox_start,
    "pages": lambda: pages_while_running(most_seconds=600),
    "simulator": lambda: simulator(["--seconds", "20"]),
    "growth": lambda: growth(["--most", "10000"]),
}
LONG: dict[str, Callable[[Sequence[str]], int]] = {
    "load": load,
    "simulator": simulator,
    "growth": growth,
}


def main(words: Sequence[str]) -> int:
    """Run the short form of all, or the one that is named with what follows its name."""
    if words and words[0] in LONG:
        return LONG[words[0]](words[1:])
    unknown = [word for word in words if word not in SHORT]
    if unknown:
        known = ", ".join(dict.fromkeys([*SHORT, *LONG]))
        print(f"There is no measurement {unknown[0]!r}; there are {known}.", file=sys.stderr)
        return 2
    return max(SHORT[name]() for name in (words or SHORT))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
