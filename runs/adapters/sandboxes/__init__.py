"""Start foreign commands so that their whole process tree surely ends: the port and its levels."""

from runs.adapters.sandboxes.box import NO_NETWORK, USUAL_LIMITS, Box, Limits, Network
from runs.adapters.sandboxes.environment import clean_environment, passed_variables
from runs.adapters.sandboxes.logs import BoundedLog, follow, readable
from runs.adapters.sandboxes.port import (
    Ending,
    EndReport,
    KeptCommand,
    Sandbox,
    StartFailed,
    Stream,
)
from runs.adapters.sandboxes.process import KeptProcess, ProcessSandbox, end_all, held_commands

__all__ = [
    "NO_NETWORK",
    "USUAL_LIMITS",
    "BoundedLog",
    "Box",
    "EndReport",
    "Ending",
    "KeptCommand",
    "KeptProcess",
    "Limits",
    "Network",
    "ProcessSandbox",
    "Sandbox",
    "StartFailed",
    "Stream",
    "clean_environment",
    "end_all",
    "follow",
    "held_commands",
    "passed_variables",
    "readable",
]
