"""A backup holds a site as it was at one moment, says when it is not sound, and comes back whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from annotation import saving
from annotation.models import Annotation, Assignment, Revision
from benchmark import blobs, snapshots
from benchmark.models import ExpectedOutcome
from benchmark.rules.vocabulary import Mark
from runs import backups, engine
from runs.backups import archive, making
from runs.backups.archive import Writer, members
from runs.models import MetricValue, Round, Run, RunEvent, Trial, Verdict
from tests import campaigns, make

pytestmark = pytest.mark.django_db(transaction=True)


def said(*words: object) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out, stderr=StringIO())
    return out.getvalue()


def refusal(*words: object) -> CommandError:
    with pytest.raises(CommandError) as refused:
        call_command(*map(str, words), stdout=StringIO(), stderr=StringIO())
    return refused.value


def report(run: Run) -> Any:
    return json.loads(said("report", run.pk, "--format", "json"))


def site(tmp_path: Path) -> Run:
    """A judged run with files, and somebody who marked a part of it."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "index.html").write_text("<h1>Ünïcode</h1>")
    run = campaigns.run(rounds=[campaigns.MIXED], workspace=workspace)
    assignment = campaigns.taken(campaigns.opened(run))
    first, second = assignment.annotations.order_by("pk")[:2]
    saving.save(assignment, [campaigns.marked(first), campaigns.marked(second, Mark.FAIL)])
    return run


def everything() -> dict[str, list[tuple[Any, ...]]]:
    """Rows of the tables that numbers and labels come from."""
    return {
        model.__name__: list(model.objects.order_by("pk").values_list())
        for model in (Run, Trial, Verdict, MetricValue, Annotation, Revision, Assignment, ExpectedOutcome)
    }


def repacked(source: Path, target: Path, *, table: str, line: list[Any]) -> Path:
    """Forge a backup with one more row whose sums are right."""
    with source.open("rb") as given, target.open("wb") as out:
        writer = Writer(out)
        for member in members(given):
            name, content = member.name, member.read()
            if name == f"tables/{table}.jsonl":
                content += json.dumps(line).encode() + b"\n"
                forged = hashlib.sha256(content).hexdigest()
            if name == making.MANIFEST:
                manifest = json.loads(content)
                manifest["tables"][table]["rows"] += 1
                manifest["tables"][table]["sha256"] = forged
                content = json.dumps(manifest).encode()
                seal = f"{hashlib.sha256(content).hexdigest()}  {making.MANIFEST}\n".encode()
            if name == making.SEAL:
                content = seal
            writer.add(name, io.BytesIO(content), size=len(content))
        writer.end()
    return target


def test_a_site_comes_back_with_every_row_every_blob_and_the_same_numbers(tmp_path, own_blobs):
    run = site(tmp_path)
    numbers, rows = report(run), everything()
    manifest = Round.objects.filter(trial__run=run)[0].snapshot
    made = json.loads(said("backup", tmp_path / "site.tar", "--json"))
    verified = json.loads(said("backup", "--verify", tmp_path / "site.tar", "--json"))
    Verdict.objects.all().delete()
    Revision.objects.all().delete()
    for blob in own_blobs.rglob("*"):
        if blob.is_file():
            blob.unlink()

    restored = json.loads(said("restore", tmp_path / "site.tar", "--replace", "--json"))

    assert report(run) == numbers
    assert everything() == rows
    assert snapshots.load(manifest).files[0].path == "index.html"
    assert all(blobs.is_stored(file.digest) for file in snapshots.load(manifest).files)
    assert made["rows"] == restored["rows"] == verified["rows"] > 100
    assert made["blobs"] == restored["blobs"] >= 2
    assert made["missing"] == restored["missing"] == []
    assert hashlib.sha256((tmp_path / "site.tar").read_bytes()).hexdigest() == made["sha256"]
    # What is written next gets a key that nobody has.
    RunEvent.objects.create(run=run, kind="run", text="It goes on.")


def test_the_file_is_a_tar_that_its_owner_alone_can_read_and_holds_no_session(tmp_path):
    site(tmp_path)
    Session.objects.create(session_key="very-secret-session", expire_date=timezone.now())

    said("backup", tmp_path / "site.tar")

    content = (tmp_path / "site.tar").read_bytes()
    with tarfile.open(tmp_path / "site.tar") as opened:
        names = opened.getnames()
    assert (tmp_path / "site.tar").stat().st_mode & 0o777 == 0o600
    assert names[0] == "proofroom-backup.json"
    assert "tables/auth.user.jsonl" in names
    assert b"very-secret-session" not in content
    assert not any("session" in name for name in names)


def test_bytes_that_the_store_lost_are_named_and_stop_nothing(tmp_path, own_blobs):
    run = site(tmp_path)
    (file,) = snapshots.load(Round.objects.filter(trial__run=run)[0].snapshot).files
    for blob in own_blobs.rglob(file.digest):
        blob.write_bytes(b"other bytes")

    made = json.loads(said("backup", tmp_path / "site.tar", "--json"))

    assert made["missing"] == [file.digest]
    assert json.loads(said("backup", "--verify", tmp_path / "site.tar", "--json"))["missing"] == [file.digest]


def test_a_changed_byte_is_noticed_wherever_it_is(tmp_path):
    campaigns.lead("lead")
    blobs.save_bytes(b"nobody's")
    said("backup", tmp_path / "site.tar")
    whole = (tmp_path / "site.tar").read_bytes()
    bent = tmp_path / "bent.tar"
    random = Random(5)

    for place in [0, 600, len(whole) - 1, *(random.randrange(len(whole)) for _ in range(150))]:
        bent.write_bytes(
            whole[:place] + bytes([whole[place] ^ (1 << random.randrange(8))]) + whole[place + 1 :]
        )
        with pytest.raises(backups.BadArchive):
            backups.check(bent)


def test_half_a_file_and_a_file_with_something_behind_it_are_refused(tmp_path):
    said("backup", tmp_path / "site.tar")
    whole = (tmp_path / "site.tar").read_bytes()
    bent = tmp_path / "bent.tar"

    for content in (
        b"",
        whole[:100],
        whole[: len(whole) // 2],
        whole[:-512],
        whole[:-1024],
        whole + bytes(512),
    ):
        bent.write_bytes(content)
        with pytest.raises(backups.BadArchive):
            backups.check(bent)


def hostile_tar(path: Path, **attributes: Any) -> Path:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as out:
        member = tarfile.TarInfo("proofroom-backup.json")
        for name, value in attributes.items():
            setattr(member, name, value)
        out.addfile(member, io.BytesIO(bytes(member.size)))
    return path


@pytest.mark.parametrize(
    "attributes",
    [
        {"name": "../../outside"},
        {"name": "/etc/outside"},
        {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.GNUTYPE_SPARSE, "size": 512},
        {"type": tarfile.CHRTYPE},
        {"name": "x" * 5000},
        {"mode": 0o4755},
        {"pax_headers": {"path": "y"}, "name": "é" * 200},
        {"size": 200_000_000},
    ],
    ids=str,
)
def test_an_archive_that_is_not_ours_is_refused_in_one_sentence_and_touches_nothing(tmp_path, attributes):
    run = site(tmp_path)
    rows = everything()
    evil = hostile_tar(tmp_path / "evil.tar", **attributes)

    refused = refusal("restore", evil, "--replace")

    assert refused.returncode == 1
    assert "was not restored, and nothing was changed." in str(refused)
    assert len(str(refused).splitlines()) == 1
    assert everything() == rows
    assert report(run)
    assert not (tmp_path.parent / "outside").exists()


@pytest.mark.parametrize(
    ("table", "line", "sentence"),
    [
        ("annotation.campaign_runs", [10_000, 77_777, 88_888], "A row refers to another that is not there"),
        ("auth.group", [10_000, "lead"], "The database takes no such row of auth.group"),
        ("auth.group", ["ten", "x"], "A row of auth.group holds a value of the wrong kind"),
        ("auth.group", [10_000], "A row of auth.group has 1 values; 2 are needed"),
        ("auth.group", [10_000, "a name that no sum knows of"], "The rows of auth.group are not what"),
    ],
    ids=["foreign key", "unique", "kind", "columns", "sum"],
)
def test_a_forged_row_takes_everything_back(tmp_path, table, line, sentence):
    site(tmp_path)
    campaigns.lead()
    said("backup", tmp_path / "site.tar")
    forged = repacked(tmp_path / "site.tar", tmp_path / "forged.tar", table=table, line=line)
    campaigns.people(1)
    rows = everything()
    people = get_user_model().objects.count()

    refused = refusal("restore", forged, "--replace")

    assert sentence in str(refused)
    assert everything() == rows
    assert get_user_model().objects.count() == people


def test_a_site_that_holds_something_is_replaced_only_when_asked_and_never_under_its_workers(tmp_path):
    run = site(tmp_path)
    said("backup", tmp_path / "site.tar")

    refused = refusal("restore", tmp_path / "site.tar")
    claimed = make.run().trials.get()
    assert claimed.claim(worker="w", now=timezone.now(), lease=timedelta(seconds=60))
    at_work = refusal("restore", tmp_path / "site.tar", "--replace")

    assert refused.returncode == 2
    assert "--replace" in str(refused)
    assert "stop the site and its workers first" in str(at_work)
    assert Run.objects.filter(pk=run.pk).exists()


def test_a_backup_of_a_newer_version_says_so(tmp_path):
    said("backup", tmp_path / "site.tar")
    with (tmp_path / "site.tar").open("rb") as given, (tmp_path / "newer.tar").open("wb") as out:
        writer = Writer(out)
        for member in members(given):
            content = member.read()
            if member.name in (making.HEAD, making.MANIFEST):
                document = json.loads(content)
                document.get("head", document)["migrations"].append(["runs", "0999_from_the_future"])
                content = json.dumps(document).encode()
                seal = f"{hashlib.sha256(content).hexdigest()}  {making.MANIFEST}\n".encode()
            if member.name == making.SEAL:
                content = seal
            writer.add(member.name, io.BytesIO(content), size=len(content))
        writer.end()

    refused = refusal("restore", tmp_path / "newer.tar", "--replace")

    assert "0999_from_the_future" in str(refused)
    assert "bring this Proofroom up to date first" in str(refused)


def at_work(acts: Sequence[Callable[[], None]]) -> list[Future[None]]:
    """Do each of the acts in a thread of its own."""

    def guarded(act: Callable[[], None]) -> None:
        try:
            act()
        finally:
            connection.close()

    pool = ThreadPoolExecutor(len(acts))
    begun = [pool.submit(guarded, act) for act in acts]
    pool.shutdown(wait=False)
    return begun


def test_backups_of_a_site_at_work_are_each_of_one_moment(tmp_path):
    """Trials advance and somebody marks, in threads of their own, while backups are made."""
    over = threading.Event()
    run = make.run(make.benchmark(*(make.task(f"t{n}") for n in range(30))), max_rounds=2)
    finished = campaigns.run(rounds=[campaigns.MIXED])
    numbers = report(finished)
    assignment = campaigns.taken(campaigns.opened(finished))
    (tmp_path / "scratch").mkdir()
    tools = make.toolbox(tmp_path / "scratch")
    (first, *_) = assignment.annotations.order_by("pk")

    def work() -> None:
        for trial in run.trials.all():
            if not over.wait(0.02):
                engine.advance(trial.pk, toolbox=tools, worker="w")

    def mark() -> None:
        base = 0
        while not over.wait(0.02):
            mark = (Mark.PASS, Mark.FAIL)[base % 2]
            (result,) = saving.save(assignment, [campaigns.marked(first, mark, base=base)]).results
            base = cast("int", result.version)

    begun = at_work([work, mark])
    try:
        deadline = time.monotonic() + 60
        while not Revision.objects.exists() or not run.trials.filter(state="finished").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        for number in range(2):
            said("backup", tmp_path / f"{number}.tar")
    finally:
        over.set()
    for act in begun:
        act.result(60)

    seen = [as_restored(tmp_path / f"{number}.tar", first, run) for number in range(2)]
    assert 0 < seen[0] <= seen[1]
    assert report(finished) == numbers


def as_restored(path: Path, annotation: Annotation, run: Run) -> int:
    """Put a backup back, look whether it fits together, and return how often the annotation was saved."""
    # Foreign keys and sums of every table are looked at on the way.
    said("restore", path, "--replace")
    annotation.refresh_from_db()
    annotation.assignment.refresh_from_db()
    assert annotation.version == annotation.revisions.count() == annotation.assignment.sequence
    for trial in run.trials.filter(state="finished"):
        assert Verdict.objects.filter(judging__round__trial=trial).count() == 1
    assert not Trial.objects.exclude(claimed_by="").exists()
    return annotation.version


def test_a_long_line_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LONGEST_LINE", 1 << 20)
    with (tmp_path / "long.tar").open("wb") as out:
        writer = Writer(out)
        writer.add("tables/auth.user.jsonl", io.BytesIO(b"x" * (3 << 20)), size=3 << 20)
        writer.end()

    with (
        (tmp_path / "long.tar").open("rb") as source,
        pytest.raises(backups.BadArchive, match="holds a line"),
    ):
        list(next(members(source)).lines())


def test_a_folder_that_is_not_there_is_bad_input(tmp_path):
    assert refusal("backup", tmp_path / "nowhere" / "site.tar").returncode == 2
    assert refusal("backup", tmp_path).returncode == 2
    assert "no sound backup" in str(refusal("backup", "--verify", __file__))
