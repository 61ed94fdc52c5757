"""Say in a few words which limit of its own a command has met."""

from __future__ import annotations

from collections.abc import Sequence

from runs.ports import LimitHit, LimitKind


def of_limit(hits: Sequence[LimitHit]) -> str | None:
    """Return what a command did when it met a limit of its own, as the end of a sentence; None if none."""
    for hit in hits:
        match hit.kind:
            case LimitKind.MEMORY:
                return f"used {_size(hit.seen)} of memory, more than {_size(hit.limit)}, and was ended"
            case LimitKind.PROCESSES:
                return f"had {hit.seen:.0f} processes, more than {hit.limit:.0f}, and was ended"
            case LimitKind.CPU:
                return f"used the processor for {hit.seen:.0f} s, more than {hit.limit:.0f} s, and was ended"
            case LimitKind.DISK:
                return f"wrote {_size(hit.seen)} to the disk, more than {_size(hit.limit)}, and was ended"
            case LimitKind.FILE_SIZE:
                return f"wrote a file of {_size(hit.limit)}, the most that is allowed"
            case LimitKind.OUTPUT:
                return "wrote more output than is allowed and was ended"
            case LimitKind.WALL_CLOCK:
                continue
    return None


def _size(count: float) -> str:
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"
