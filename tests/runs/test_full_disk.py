"""A full disk pauses a trial with a sentence and loses nothing; after room is made it ends as if it had never been."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from PIL import Image

from annotation.models import Annotation, Picture, Revision
from annotation.vocabulary import Change
from benchmark.rules.vocabulary import Mark, RunState, TrialState
from runs import engine, history, launching
from runs.adapters.scripted import ScriptedJudge
from runs.models import Evidence, Run, Trial, Verdict
from runs.ports import EvidenceFile, EvidenceKind
from tests import campaigns, make
from tests.annotation import looks

pytestmark = pytest.mark.django_db(transaction=True)

PIECE = 300_000


@pytest.fixture
def small_disk(tmp_path_factory) -> Iterator[Path]:
    """A file system of one and a half megabytes."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a small file system is mounted by root alone")
    folder = tmp_path_factory.mktemp("small-disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1536k", "proofroom-test", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def blobs_on(settings):
    def put(folder: Path) -> Path:
        location = {"OPTIONS": {"location": str(folder / "blobs")}}
        settings.STORAGES = {**settings.STORAGES, "blobs": {**settings.STORAGES["blobs"], **location}}
        return folder / "blobs"

    return put


class Photographer(ScriptedJudge):
    """A judge with large evidence, different for each criterion."""

    def judge(self, criteria, *, on_start):
        for verdict in super().judge(criteria, on_start=on_start):
            picture = EvidenceFile(
                kind=EvidenceKind.SCREENSHOT,
                name="page.png",
                media_type="image/png",
                content=Random(verdict.key).randbytes(PIECE),
            )
            (outcome,) = verdict.outcomes
            yield replace(verdict, outcomes=(replace(outcome, evidence=(picture,)),))


def advanced(run: Run, tools) -> None:
    Trial.objects.update(not_before=None)
    for trial in run.trials.all():
        engine.advance(trial.pk, toolbox=tools, worker="w")
    run.refresh_from_db()


def marks(run: Run) -> dict[str, tuple[Mark, ...]]:
    return dict(history.marks_by_round(run.trials.get())[1])


def halves(store: Path) -> list[str]:
    """Files of a blob store whose bytes are not those of their name."""
    return [
        path.name
        for path in store.rglob("*")
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() != path.name
    ]


def test_evidence_that_cannot_be_stored_pauses_the_trial_and_a_retry_completes_it(
    tmp_path, small_disk, blobs_on
):
    task = make.task("t1", *(make.criterion(f"c{number}") for number in range(5)))
    benchmark = make.benchmark(task)
    plans = [{"c3": (Mark.FAIL,)}]
    undisturbed, run = make.run(benchmark, max_rounds=1), make.run(benchmark, max_rounds=1)
    advanced(undisturbed, make.toolbox(tmp_path, judge=Photographer(plans=plans)))
    store = blobs_on(small_disk)
    filler = small_disk / "filler"
    filler.write_bytes(bytes(600_000))
    judge = Photographer(plans=plans)
    tools = make.toolbox(tmp_path, judge=judge)

    for _ in range(3):
        advanced(run, tools)
    paused = run.trials.get()
    kept = list(Verdict.objects.filter(judging__round__trial=paused).values_list("pk", "mark"))

    assert (paused.state, run.state) == (TrialState.PAUSED, RunState.PAUSED)
    assert "The disk is full" in paused.trouble
    assert 0 < len(kept) < 5
    assert {mark for _, mark in kept} == {"pass"}
    assert halves(store) == []
    filler.unlink()
    small_disk_grown(small_disk)
    launching.retry(run)
    advanced(run, tools)
    assert run.state == RunState.FINISHED
    assert marks(run) == marks(undisturbed)
    assert numbers(run) == numbers(undisturbed)
    assert [pk for pk, _ in kept] == list(
        Verdict.objects.filter(pk__in=[pk for pk, _ in kept]).values_list("pk", flat=True)
    )
    # What was stored is not asked again, apart from the one that could not be.
    assert all(judge.asked.count(f"c{number}") == 1 for number in range(len(kept)))
    assert halves(store) == []
    assert Evidence.objects.filter(verdict__judging__round__trial=paused).count() == 5


def small_disk_grown(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=8m", str(folder)], check=True)


def numbers(run: Run) -> list[tuple[object, ...]]:
    stored = run.metric_values.order_by("name", "task_key", "round_number")
    return list(stored.values_list("name", "task_key", "round_number", "value", "n"))


def test_no_stage_begins_without_the_room_it_needs_and_no_candidate_fails_for_it(
    tmp_path, settings, small_disk
):
    settings.DATA_DIR, settings.LEAST_FREE_MB = small_disk, 4
    run = make.run(max_rounds=1)
    tools = make.toolbox(tmp_path)

    for _ in range(3):
        advanced(run, tools)
    trouble = run.trials.get().trouble
    small_disk_grown(small_disk)
    launching.retry(run)
    advanced(run, tools)

    assert trouble == (
        "The disk of the data folder has 1 MB left, of 4 MB that a stage begins with; "
        "make room, then retry. Nothing is lost."
    )
    assert run.state == RunState.FINISHED
    assert marks(run) == {"c0": (Mark.PASS,)}


def picture(tmp_path: Path) -> bytes:
    image = Image.frombytes("RGB", (300, 300), Random(1).randbytes(270_000))
    image.save(tmp_path / "shot.png")
    return (tmp_path / "shot.png").read_bytes()


def test_a_screenshot_that_finds_no_room_is_kept_by_its_sender_and_stored_later(
    tmp_path, small_disk, blobs_on
):
    assignment = campaigns.taken()
    annotation = assignment.annotations.order_by("pk")[0]
    client = looks.client(assignment.annotator)
    store = blobs_on(small_disk)
    (small_disk / "filler").write_bytes(bytes(1_400_000))
    operation = str(uuid4())

    def sent():
        shot = SimpleUploadedFile("shot.png", picture(tmp_path), "image/png")
        return client.post(
            f"/api/v1/assignments/{assignment.pk}/pictures",
            {"operation": operation, "annotation": annotation.pk, "source": "capture", "file": shot},
        )

    refused = sent()
    nothing = (Picture.objects.count(), halves(store))
    (small_disk / "filler").unlink()
    accepted = sent()

    assert refused.status_code == 503
    assert refused.json()["detail"].startswith("The site's disk is full. Nothing was half stored")
    assert nothing == (0, [])
    assert accepted.status_code == 200, accepted.content
    assert Picture.objects.get().operation.hex == operation.replace("-", "")
    assert halves(store) == []


def test_marks_that_find_no_room_in_the_database_are_asked_for_again(tmp_path):
    if connection.vendor != "sqlite":
        pytest.skip("the database's file is made small by SQLite's own limit")
    assignment = campaigns.taken()
    annotation = assignment.annotations.order_by("pk")[0]
    client = looks.client(assignment.annotator)
    operation = campaigns.operation(annotation, Change.NOTE, note="x" * 9_000)

    def sent():
        return client.post(
            f"/api/v1/assignments/{assignment.pk}/operations",
            {"operations": [operation]},
            content_type="application/json",
        )

    with connection.cursor() as cursor:
        # Pages that earlier tests gave back would be room enough.
        cursor.execute("create table filler (content blob)")
        cursor.execute("select freelist_count * page_size from pragma_freelist_count, pragma_page_size")
        cursor.execute("insert into filler values (zeroblob(%s))", [cursor.fetchone()[0]])
        cursor.execute("pragma page_count")
        cursor.execute(f"pragma max_page_count = {cursor.fetchone()[0]}")
        refused = sent()
        cursor.execute("pragma max_page_count = 1000000")
    nothing = Revision.objects.count()
    accepted = sent()

    assert refused.status_code == 503
    assert "Nothing was changed: send this again" in refused.json()["detail"]
    assert nothing == 0
    assert accepted.json()["results"][0]["status"] == "saved"
    assert Annotation.objects.get(pk=annotation.pk).version == 1
