"""Let a box listen on ports below 1024, so that a model's own address can be answered inside.

Run as `python -I -S low_ports.py PID` with the standard library only: it joins the network of the process
PID, which only who made that box may do, and changes one switch of that network. This machine's own
network keeps its rule.
"""

from __future__ import annotations

import fcntl
import os
import sys

_NS_GET_USERNS = 0xB701
_SWITCH = "/proc/sys/net/ipv4/ip_unprivileged_port_start"


def _main() -> None:
    network = os.open(f"/proc/{sys.argv[1]}/ns/net", os.O_RDONLY)
    # The user namespace that owns the network, not the inner one in which commands run.
    owner = fcntl.ioctl(network, _NS_GET_USERNS)
    os.setns(owner, os.CLONE_NEWUSER)
    os.setns(network, os.CLONE_NEWNET)
    with open(_SWITCH, "w") as file:  # noqa: PTH123 - importing pathlib would double the start time
        file.write("0")


if __name__ == "__main__":
    _main()
