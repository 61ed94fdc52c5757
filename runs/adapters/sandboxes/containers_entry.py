"""The first process of a container: joins the socket that leads out, then does what `inside` does in a box.

Run as `python3 -I -S containers_entry.py SOCKET` with the image's own Python, so only the standard library.
"""

from __future__ import annotations

import os
import socket
import sys


def _main() -> int:
    # Isolated, Python does not look beside the script; the folder holds these two programs and no more.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - starts quicker
    from inside import Inside  # type: ignore[import-not-found]  # found beside this file, in the container

    control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    control.connect(sys.argv[1])
    control.set_inheritable(False)
    return int(Inside(control).keep())


if __name__ == "__main__":
    os._exit(_main())
