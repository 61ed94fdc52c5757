"""Tell the sample benchmarks that ship with the project, and their recorded candidates, from all others."""

from __future__ import annotations

import hashlib
from pathlib import Path

from benchmark import blobs, snapshots
from benchmark.models import Benchmark, RecordedWorkspace
from benchmark.packs.hashing import benchmark_hash, task_hash
from benchmark.packs.problems import ImportRefused
from benchmark.packs.reading import opened_pack
from benchmark.packs.specs import PackSpec

_PROTOCOLS = Path(__file__).with_name("protocols")


def is_shipped(benchmark: Benchmark, *, candidate: str) -> bool:
    """Whether tasks and recorded rounds of a candidate are, byte for byte, those of a pack of this project.

    Names prove nothing: everybody may import a pack that is called like ours. So contents are compared.
    """
    stored = {
        (task, number): snapshot
        for task, number, snapshot in RecordedWorkspace.objects.filter(
            task__benchmark=benchmark, candidate=candidate
        ).values_list("task__key", "round_number", "snapshot")
    }
    if not stored:
        return False
    for pack in sorted(_PROTOCOLS.glob("*/sample/*/")):
        try:
            with opened_pack(pack) as spec:
                if spec.facts.key == benchmark.key and _content(spec) == benchmark.content_hash:
                    return _has_recorded(spec, stored, candidate=candidate)
        except ImportRefused:
            continue  # A pack that somebody is changing is not what ships.
    return False


def _content(spec: PackSpec) -> str:
    return benchmark_hash(
        spec.facts.protocol,
        spec.facts.settings,
        [
            task_hash(task.spec, [(file.role.value, file.path, _digest(file.source)) for file in task.files])
            for task in spec.tasks
        ],
    )


def _has_recorded(spec: PackSpec, stored: dict[tuple[str, int], str], *, candidate: str) -> bool:
    folders = {
        (given.task, given.number): given.folder for given in spec.recorded if given.candidate == candidate
    }
    return all(place in folders and _holds(folders[place], stored[place]) for place in stored)


def _holds(folder: Path, snapshot: str) -> bool:
    try:
        files = snapshots.load(snapshot).files
    except blobs.BlobMissing:
        return False
    return all(
        (folder / file.path).is_file() and _digest(folder / file.path) == file.digest for file in files
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
