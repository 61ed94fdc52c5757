"""A benchmark as plain values: what a pack or a published set says before any row exists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from benchmark.packs.problems import Repair
from benchmark.rules.records import TaskSpec


class FileRole(StrEnum):
    """What a file of a task is for; also the name of its folder."""

    DATA = "data"
    ATTACHMENTS = "attachments"
    UPLOADS = "uploads"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFacts:
    """What is said of a benchmark as a whole. `version` is None where a published set has none."""

    key: str
    version: str | None
    title: str
    description: str = ""
    protocol: str
    licence: str = ""
    source: str = "pack"
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackFile:
    """One file of a task, on disk at `source`; `path` is relative to its role's folder."""

    role: FileRole
    path: str
    digest: str
    size: int
    source: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class PackTask:
    """One task with its files."""

    spec: TaskSpec
    files: tuple[PackFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRound:
    """A candidate's workspace at the end of one round, on disk at `folder`."""

    candidate: str
    task: str
    number: int
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class PackSpec:
    """A whole benchmark, tasks in order. `repairs` says what a published set's reader mended."""

    facts: BenchmarkFacts
    tasks: tuple[PackTask, ...]
    recorded: tuple[RecordedRound, ...] = ()
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedOptions:
    """What the caller adds to a published set that lacks it."""

    protocol: str = "asuka"
    request: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSet:
    """A published set as its reader understood it."""

    facts: BenchmarkFacts
    tasks: tuple[TaskSpec, ...]
    repairs: tuple[Repair, ...] = ()
    used_request: bool = False
