"""Sets with something to look at: a snapshot, pictures, texts, and clients of the people before them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.test import Client
from PIL import Image

from annotation.models import Annotation, Assignment
from benchmark import blobs, snapshots
from runs.models import Evidence, Round, Verdict
from runs.ports import EvidenceKind
from tests import campaigns


def client(user: Any) -> Client:
    """A browser in which that person is signed in."""
    made = Client(headers={"host": settings.SITE_HOST})
    made.force_login(user)
    return made


def png(width: int = 40, height: int = 30, *, colour: str = "#338855", mode: str = "RGB") -> bytes:
    """A picture of one colour."""
    stream = io.BytesIO()
    Image.new(mode, (width, height), colour).save(stream, "PNG")
    return stream.getvalue()


def snapshot(files: Mapping[str, bytes]) -> str:
    """The digest of a stored folder."""
    rows = [
        snapshots.SnapshotFile(
            path=path, digest=blobs.save_bytes(content), size=len(content), executable=False
        )
        for path, content in sorted(files.items())
    ]
    return snapshots.save(snapshots.Snapshot(files=tuple(rows)))


def a_set(files: Mapping[str, bytes] | None = None, *, agent: str = "heron-2", **wishes: Any) -> Assignment:
    """A set that somebody works on, whose candidate has the given files."""
    run = campaigns.run(agent=agent)
    assignment = campaigns.taken(campaigns.opened(run, **wishes))
    if files is not None:
        Round.objects.filter(pk=assignment.round_id).update(snapshot=snapshot(files))
    return Assignment.objects.select_related("campaign", "round__trial__run", "annotator").get(
        pk=assignment.pk
    )


def first(assignment: Assignment) -> Annotation:
    """The annotation of its first outcome."""
    return assignment.annotations.select_related("item", "assignment__campaign").order_by("item__position")[0]


def record(annotation: Annotation, *pieces: tuple[EvidenceKind, str, bytes]) -> Verdict:
    """Replace what was recorded for an outcome: kind, media type and bytes of each piece."""
    verdict = Verdict.objects.get(
        judging__round=annotation.item.round_id, judging__is_primary=True, outcome=annotation.item.outcome_id
    )
    verdict.evidence.all().delete()
    Evidence.objects.bulk_create(
        Evidence(
            verdict=verdict,
            kind=kind,
            name=f"heron-2-failed-{position}",
            media_type=media_type,
            digest=blobs.save_bytes(content),
            size=len(content),
            position=position,
        )
        for position, (kind, media_type, content) in enumerate(pieces)
    )
    return verdict
