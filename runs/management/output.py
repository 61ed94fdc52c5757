"""Where a command's document goes: standard output, or a file that is whole or not there."""

from __future__ import annotations

from pathlib import Path

from benchmark.management.door import Door
from benchmark.whole_files import whole_file


def write_output(door: Door, text: str, *, path: str | None) -> None:
    """Print, or write to `path`; ends with exit 2 where that cannot be written."""
    if path is None:
        door.stdout.write(text)
        return
    write_bytes(door, text.encode(), path=path)
    door.say(f"Written to {path}.")


def write_bytes(door: Door, content: bytes, *, path: str) -> None:
    """Write to `path`, which is then whole or not there; ends with exit 2 where that cannot be written."""
    try:
        with whole_file(Path(path)) as out:
            out.write(content)
    except OSError as error:
        door.bad_input(f"{path!r} cannot be written: {error.strerror}.")
