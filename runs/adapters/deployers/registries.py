"""Which package registries this user's npm, pip and uv are configured for, and which files they need for it."""

from __future__ import annotations

import configparser
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from runs.adapters.deployers.local_indexes import linked_folders
from runs.adapters.sandboxes.programs import base_python

_ASK_PIP = """
import ensurepip, glob, os, sys
try:
    import pip
except ImportError:
    bundled = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled", "pip-*.whl")
    sys.path += glob.glob(bundled) + glob.glob("/usr/share/python-wheels/pip-*.whl")
from pip._internal.models.index import PyPI, TestPyPI
for index in (PyPI, TestPyPI):
    print(index.simple_url, index.file_storage_domain)
"""
"""pip alone knows the public index, and on which host that index keeps the packages themselves."""

_INDEX_VARIABLES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
_MORE_VARIABLES = ("PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_FIND_LINKS")
_FILE_VARIABLES = ("PIP_CONSTRAINT", "UV_CONSTRAINT", "UV_CONFIG_FILE")
_PIP_FILES = ("/etc/pip.conf", "/etc/xdg/pip/pip.conf", "~/.pip/pip.conf", "~/.config/pip/pip.conf")
_PIP_SECTIONS = ("global", "install")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """Addresses that an install may reach, and files and folders that it may read."""

    addresses: tuple[str, ...]
    files: tuple[Path, ...]

    @property
    def hosts(self) -> frozenset[str]:
        """Names of the hosts behind the addresses, in lower case."""
        return frozenset(urlsplit(address).hostname or "" for address in self.addresses)


NO_REGISTRIES = Registries(addresses=(), files=())


def npm_registries(address: str) -> Registries:
    """Return the registry that npm named; none where it could not say, so that nothing is reached."""
    return Registries(addresses=(address,) if address else (), files=())


def python_registries() -> Registries:
    """Return the indexes of pip and uv from their variables and pip's files, the public one included.

    The public index stays allowed beside another one, because uv does not read pip's files.
    """
    public = _public_indexes()
    words = [*(tuple(public)[:1]), *_from_variables(), *_from_files()]
    addresses = [word for word in words if word.startswith(("http://", "https://"))]
    hosts = {urlsplit(word).hostname for word in addresses}
    addresses += [files for index, files in public.items() if urlsplit(index).hostname in hosts]
    places = [_path(word) for word in words if not word.startswith(("http://", "https://"))]
    files = [*places, *(folder for place in places for folder in linked_folders(place))]
    files += [_path(os.environ[name]) for name in _FILE_VARIABLES if name in os.environ]
    files += _pip_files()
    return Registries(
        addresses=tuple(dict.fromkeys(addresses)),
        files=tuple(dict.fromkeys(file for file in files if file.is_absolute() and file.exists())),
    )


def all_registries(npm_address: str) -> Registries:
    """Return what an install in the task's own words may need: all of them."""
    npm, python = npm_registries(npm_address), python_registries()
    return Registries(addresses=npm.addresses + python.addresses, files=npm.files + python.files)


@cache
def _public_indexes() -> Mapping[str, str]:
    """Return the public index, then its twin for tests, each with the address of its files; {} without pip."""
    try:
        asked = subprocess.run(
            [base_python(), "-I", "-c", _ASK_PIP],
            capture_output=True,
            check=True,
            timeout=60,
            text=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    rows = [line.split() for line in asked.stdout.splitlines()]
    return {row[0]: f"https://{row[1]}" for row in rows if len(row) == 2}


def _from_variables() -> Iterator[str]:
    for name in (*_INDEX_VARIABLES, *_MORE_VARIABLES):
        for word in os.environ.get(name, "").split():
            # uv writes NAME=ADDRESS where an index has a name.
            before, equals, after = word.partition("=")
            yield after if equals and "://" not in before else word


def _from_files() -> Iterator[str]:
    for file in _pip_files():
        settings = configparser.RawConfigParser()
        try:
            settings.read(file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError):
            continue  # pip will say so itself.
        for section in _PIP_SECTIONS:
            for option in ("index-url", "extra-index-url", "find-links", "constraint"):
                yield from settings.get(section, option, fallback="").split()


def _pip_files() -> list[Path]:
    named = [os.environ["PIP_CONFIG_FILE"]] if "PIP_CONFIG_FILE" in os.environ else []
    paths = [Path(name).expanduser() for name in (*named, *_PIP_FILES)]
    return [path for path in paths if path.is_file() and os.access(path, os.R_OK)]


def _path(word: str) -> Path:
    return Path(unquote(urlsplit(word).path)) if word.startswith("file:") else Path(word).expanduser()
