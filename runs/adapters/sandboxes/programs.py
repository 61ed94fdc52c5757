"""Which folders a program needs to run that is not one of the system's own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_SYSTEM = tuple(Path(name) for name in ("/usr", "/bin", "/sbin", "/lib", "/lib64"))
_DEEPEST = 4
_FIRST_LINE = 256


def base_python() -> str:
    """Return the Python this one was made from: a candidate gets none of our packages."""
    for name in (f"python{sys.version_info.major}.{sys.version_info.minor}", "python3"):
        path = Path(sys.base_prefix) / "bin" / name
        if path.is_file():
            return str(path)
    return sys.executable


def folders_of(program: str, *, path: str, outside: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return files and folders to make readable for `program`, as found on `path`; () for a system's own.

    They are the program, the installation that it belongs to (the folder above its `bin`, the packages
    around it) and those of its interpreter. An installation that holds a home or one of the folders
    `outside` is none: then the program alone is returned.
    """
    never = tuple(folder.resolve() for folder in (Path.home(), Path.home() / ".local", *outside))
    found: dict[Path, None] = {}
    for place in _places(program, path=path, never=never, depth=0):
        found[place] = None
    return tuple(found)


def _places(program: str, *, path: str, never: Sequence[Path], depth: int) -> Iterator[Path]:
    where = shutil.which(program, path=path)
    if where is None or depth > _DEEPEST:
        return
    link = Path(os.path.abspath(where))  # noqa: PTH100 - links stay as they are: both ends are needed
    real = link.resolve()
    for each in dict.fromkeys((link, real)):
        if _is_of_the_system(each):
            continue
        yield each
        yield from _installation(each, never)
        home = _home_of_environment(each.parent.parent)
        if home is not None and not _is_of_the_system(home):
            yield from _installation(home / "python", never)
    for interpreter in _interpreters(real):
        yield from _places(interpreter, path=path, never=never, depth=depth + 1)


def _installation(program: Path, never: Sequence[Path]) -> Iterator[Path]:
    parts = program.parts
    if "node_modules" in parts:
        folder = Path(*parts[: parts.index("node_modules") + 1])
    elif program.parent.name == "bin":
        folder = program.parent.parent
    else:
        return
    if not any(each.is_relative_to(folder.resolve()) for each in never):
        yield folder


def _home_of_environment(folder: Path) -> Path | None:
    """Return where the Python of a virtual environment lies, when the folder is one."""
    try:
        lines = (folder / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for line in lines:
        name, _, value = line.partition("=")
        if name.strip() == "home":
            return Path(value.strip())
    return None


def _interpreters(program: Path) -> Iterator[str]:
    """Yield the interpreter that a script names in its first line, also behind `env`."""
    try:
        with program.open("rb") as file:
            first = file.read(_FIRST_LINE).split(b"\n")[0]
    except OSError:
        return
    if not first.startswith(b"#!"):
        return
    words = first[2:].decode(errors="replace").split()
    yield from words[:1]
    if words and words[0].endswith("/env"):
        yield from [word for word in words[1:] if not word.startswith("-") and "=" not in word][:1]


def _is_of_the_system(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _SYSTEM)
