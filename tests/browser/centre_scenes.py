"""Scenes for what an annotator looks at: candidates that behave and candidates that do not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth import get_user_model

from annotation import queue
from annotation.models import Annotation, Picture
from annotation.vocabulary import Centre
from benchmark import blobs, snapshots
from benchmark.rules.records import TaskSpec
from runs.models import Evidence, Round, Verdict
from runs.ports import EvidenceKind
from tests import campaigns, make
from tests.browser import hostile, stage_set

SEEDS = Path(__file__).parent / "candidates" / "seed_library"


def live_set(*, candidate: str = "", outcomes: int = 4) -> dict[str, Any]:
    """One person with a live candidate: the seed library, or one of `hostile`."""
    rows = _set(SEEDS, outcomes=outcomes)
    if candidate:
        with TemporaryDirectory() as place:
            numbers = {"assignment": rows["assignment"], "annotation": rows["annotations"][0]}
            digest = snapshots.take(hostile.written(candidate, Path(place), **numbers))
        Round.objects.filter(assignments=rows["assignment"]).update(snapshot=digest)
    return rows


def second_set(*, username: str) -> dict[str, Any]:
    """Another set of the same person, with the seed library."""
    return _set(SEEDS, outcomes=2, username=username)


def evidence_set() -> dict[str, Any]:
    """One person with recorded evidence: pictures and a page text, a broken candidate, and nothing."""
    rows = _set(SEEDS, outcomes=3, centre=Centre.EVIDENCE)
    shown, broken, bare = Annotation.objects.filter(pk__in=rows["annotations"]).order_by("item__position")
    picture = stage_set._picture()
    text = b'- heading "Seed library" [level=1]\n- button "Borrow"\n- text: <b>bold</b>\n'
    _record(
        shown, (EvidenceKind.SCREENSHOT, "image/png", picture), (EvidenceKind.DOM, "text/plain", _saved(text))
    )
    _record(broken, (EvidenceKind.LOG, "text/plain", _saved(b"Error: Cannot find module './basket'\n")))
    _record(bare)
    return rows


def files_set() -> dict[str, Any]:
    """One person with the files of a task without a page, and a recorded output."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        for path, content in _FILES.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        rows = _set(folder, outcomes=2, centre=Centre.FILES)
    first = Annotation.objects.get(pk=rows["annotations"][0])
    _record(
        first, (EvidenceKind.LOG, "text/plain", _saved(b"input:  3 suppliers\noutput: Birch, Alder, Rowan\n"))
    )
    return rows


def pictures(*, assignment: int) -> dict[str, Any]:
    """The screenshots that the site holds of a set."""
    rows = Picture.objects.filter(annotation__assignment=assignment).order_by("pk")
    return {
        "pictures": [
            {
                "annotation": row.annotation_id,
                "source": row.source,
                "width": row.width,
                "height": row.height,
                "removed": row.removed_at is not None,
            }
            for row in rows
        ]
    }


def forget_files(*, assignment: int) -> dict[str, Any]:
    """Take the stored files of a round away, as a bench without them has it."""
    Round.objects.filter(assignments=assignment).update(snapshot="")
    return {}


_FILES = {
    "README.md": b"# Ranking of suppliers\n\nReads `suppliers.csv`, writes the ranking.\n",
    "CLAUDE.md": b"notes",
    "src/rank.py": b"def rank(suppliers):\n    # <b>the best first</b>\n    return sorted(suppliers)\n",
    "src/read.py": b"import csv\n",
    "data/suppliers.csv": b"name,score\nBirch,9\nAlder,7\n",
    "logo.png": b"\x89PNG\r\n\x1a\n\0\0\0",
}


def _set(folder: Path, *, outcomes: int, centre: Centre = Centre.LIVE, username: str = "") -> dict[str, Any]:
    task = TaskSpec(
        key="seed-library",
        title="Seed library",
        request="Build me a page where people of our village can borrow seeds.",
        criteria=(make.criterion("c0", outcomes=outcomes),),
        deploy={},
    )
    run = campaigns.run(make.benchmark(task), agent="heron-2", workspace=folder)
    if username:
        annotator = get_user_model().objects.get(username=username)
    else:
        annotator = campaigns.person(password=campaigns.PASSWORD)
    taken = queue.take_next(campaigns.opened(run, annotators=[annotator], centre=centre), annotator)
    return campaigns.way_in(taken)


def _saved(content: bytes) -> str:
    return blobs.save_bytes(content)


def _record(annotation: Annotation, *pieces: Sequence[str]) -> None:
    verdict = Verdict.objects.get(
        judging__round=annotation.item.round_id, judging__is_primary=True, outcome=annotation.item.outcome_id
    )
    verdict.evidence.all().delete()
    for position, (kind, media_type, digest) in enumerate(pieces):
        Evidence.objects.create(
            verdict=verdict, kind=kind, name=f"heron-2-{position}", media_type=media_type, digest=digest,
            size=100, position=position,
        )  # fmt: skip
