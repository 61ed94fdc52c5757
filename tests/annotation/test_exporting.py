"""Marks of people as files: what is in them, in which order, and who may see how much."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import zipfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation import blindness, downloads, queue, submitting
from annotation.csv_files import COLUMNS, cell
from annotation.downloads import ExportOptions
from annotation.export_sight import Sight
from annotation.exporting import ExportKind
from annotation.models import Adjudication, Annotation, Assignment, Campaign, Comment, Picture
from annotation.vocabulary import Change, EnvironmentProblem, PictureSource
from benchmark.rules.vocabulary import Mark
from people.models import AuditEntry
from tests import campaigns
from tests.annotation.clients import Person
from tests.campaigns import marked, operation

pytestmark = pytest.mark.django_db

OPTIONS = ExportOptions()
SECRET = "secretagent-9"


def marks_of(assignment: Assignment) -> list[Annotation]:
    return list(assignment.annotations.select_related("item__outcome__criterion").order_by("item__position"))


def mark_all(assignment: Assignment, mark: Mark = Mark.PASS) -> None:
    assert assignment.annotator is not None
    person = Person(assignment.annotator, assignment)
    statuses = person.statuses(*(marked(each, mark) for each in marks_of(assignment)))
    assert set(statuses) == {"saved"}


def submitted(campaign: Campaign, by: User, mark: Mark = Mark.PASS) -> Assignment:
    assignment = queue.take_next(campaign, by)
    mark_all(assignment, mark)
    return submitting.submit(assignment, by=by)


def get(user: User, address: str, **query: str) -> Any:
    client = Client(headers={"host": site.SITE_HOST})
    client.force_login(user)
    return client.get(address, query)


def exported(user: User, of: Campaign | Assignment, kind: str, **query: str) -> Any:
    name = "campaign" if isinstance(of, Campaign) else "assignment"
    return get(user, reverse(f"annotation:export_{name}", args=[of.pk, kind]), **query)


def body(response: Any) -> bytes:
    assert response.status_code == 200, response.status_code
    return b"".join(response.streaming_content)


def rows(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(body(response).decode())))


def lines(response: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in body(response).decode().splitlines()]


def files(response: Any) -> dict[str, dict[str, Any]]:
    with zipfile.ZipFile(io.BytesIO(body(response))) as archive:
        assert archive.testzip() is None
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


@pytest.fixture
def lead() -> User:
    return campaigns.lead("lea")


@pytest.fixture
def anna() -> User:
    return campaigns.person("anna")


@pytest.fixture
def mine(anna: User) -> Assignment:
    """A set on which something of everything was said: one pass, one fail, one problem, the rest open."""
    campaign = campaigns.opened(
        campaigns.run(agent=SECRET, rounds=[campaigns.MIXED], workspace=None), annotators=[anna]
    )
    assignment = queue.take_next(campaign, anna)
    first, second, third, *_ = marks_of(assignment)
    person = Person(anna, assignment)
    problem = operation(third, Change.PROBLEM, problem=EnvironmentProblem.OTHER.value, problem_text="no net")
    statuses = person.statuses(
        marked(first, Mark.PASS),
        marked(second, Mark.FAIL),
        operation(second, Change.NOTE, base=1, note="-5 of 7"),
        problem,
    )
    assert set(statuses) == {"saved"}
    assignment.refresh_from_db()
    return assignment


def test_a_set_is_exported_as_a_result_file_in_the_schema_of_the_judge(mine, lead):
    (path, document), *others = files(exported(lead, mine, "results")).items()

    trial = mine.round.trial
    assert others == []
    assert path == f"{trial.task.key}/trial-{trial.pk}/round_1/eval_step3_results.json"
    assert document["schema"] == "proofroom/results/1"
    assert document["protocol"] == "asuka"
    assert document["benchmark"] == {
        "key": trial.run.benchmark.key,
        "version": "1",
        "hash": trial.run.benchmark_hash,
    }
    assert (document["task"], document["trial"], document["round"]) == (
        trial.task.key,
        f"trial-{trial.pk}",
        1,
    )
    assert document["snapshot"] == mine.round.snapshot
    assert document["source"] == {"kind": "person", "name": "anna"}
    assert datetime.fromisoformat(document["marked_at"]).tzinfo is not None
    assert [criterion["key"] for criterion in document["criteria"]] == ["c0", "c1", "c2"]


def test_criteria_fold_from_their_outcomes_and_what_is_open_is_not_decided(mine, lead):
    ((_, document),) = files(exported(lead, mine, "results")).items()

    # c0: pass and fail come to fail. c1: an environment problem and an open outcome come to nothing yet.
    # c2 was skipped by the judge, so nobody was asked about it.
    by_mark = {mark: document[mark] for mark in ("pass", "partial", "fail", "skipped", "error")}
    assert by_mark == {"pass": [], "partial": [], "fail": ["c0"], "skipped": ["c2"], "error": []}
    assert [criterion["mark"] for criterion in document["criteria"]] == ["fail", None, "skipped"]
    first, second = document["criteria"][0]["outcomes"]
    assert (first["index"], first["text"], first["mark"], first["note"]) == (0, "c0 does thing 0", "pass", "")
    assert (second["mark"], second["note"]) == ("fail", "-5 of 7")
    third, fourth = document["criteria"][1]["outcomes"]
    assert (third["mark"], third["environment_problem"], third["note"]) == ("error", "other: no net", "")
    # Not reviewed is not the same as reviewed with nothing to say.
    assert (fourth["mark"], fourth["environment_problem"], fourth["note"]) == (None, None, None)


def test_a_criterion_of_which_outcomes_were_not_sampled_is_decided_by_a_fail_alone(anna, lead):
    campaign = campaigns.opened(
        campaigns.run(campaigns.benchmark(tasks=1, criteria=1, outcomes=4)),
        annotators=[anna],
        method="per_project",
        sample_size=2,
    )
    assignment = queue.take_next(campaign, anna)
    mark_all(assignment, Mark.PASS)

    ((_, document),) = files(exported(lead, assignment, "results")).items()

    assert document["criteria"][0]["mark"] is None
    assert len(document["criteria"][0]["outcomes"]) == 2
    person = Person(anna, assignment)
    assert person.statuses(marked(marks_of(assignment)[0], Mark.FAIL, base=1)) == ["saved"]
    ((_, document),) = files(exported(lead, assignment, "results")).items()
    assert (document["criteria"][0]["mark"], document["fail"]) == ("fail", ["c0"])


def test_a_campaign_has_a_folder_for_each_rater_and_nothing_of_a_free_set(lead):
    anna, berta = campaigns.person("anna"), campaigns.person("../bert a")
    run = campaigns.run(campaigns.benchmark(tasks=1))
    campaign = campaigns.opened(run, annotators=[anna, berta], overlap=2)
    submitted(campaign, anna)
    assert {path.split("/")[0] for path in files(exported(lead, campaign, "results"))} == {"anna"}

    submitted(campaign, berta, Mark.FAIL)

    trial = run.trials.get()
    found = files(exported(lead, campaign, "results"))
    assert sorted(found) == [
        f"__bert_a/t1/trial-{trial.pk}/round_1/eval_step3_results.json",
        f"anna/t1/trial-{trial.pk}/round_1/eval_step3_results.json",
    ]
    assert [document["source"]["name"] for _, document in sorted(found.items())] == ["../bert a", "anna"]


def test_raters_can_be_left_unnamed(lead):
    anna, berta = campaigns.person("anna"), campaigns.person("berta")
    campaign = campaigns.opened(annotators=[anna, berta], overlap=2)
    submitted(campaign, anna)
    submitted(campaign, berta)

    found = files(exported(lead, campaign, "results", names="opaque"))

    assert {document["source"]["name"] for document in found.values()} == {"rater-1", "rater-2"}
    assert "anna" not in str(found)


def test_a_set_that_was_taken_back_stays_with_whoever_marked_it(mine, anna, lead):
    queue.release(mine, by=lead, reason="ill")

    assert [row["mark"] for row in rows(exported(anna, mine, "csv"))] == ["pass", "fail", "error", ""]
    assert {row["assignment_state"] for row in rows(exported(anna, mine, "csv"))} == {"expired"}
    assert files(exported(lead, mine.campaign, "results")) == {}
    assert len(files(exported(lead, mine.campaign, "results", expired="1"))) == 1
    states = [row["assignment_state"] for row in rows(exported(lead, mine.campaign, "csv"))]
    assert sorted(set(states)) == ["expired", "open"]


def test_pictures_are_named_by_their_hash_and_removed_ones_are_not(mine, lead):
    annotation = marks_of(mine)[0]
    facts = {"source": PictureSource.PASTE, "media_type": "image/png", "size": 9, "width": 3, "height": 3}
    Picture.objects.create(annotation=annotation, operation=uuid4(), digest="a" * 64, **facts)
    Picture.objects.create(
        annotation=annotation, operation=uuid4(), digest="b" * 64, removed_at=timezone.now(), **facts
    )

    ((_, document),) = files(exported(lead, mine, "results")).items()

    assert document["criteria"][0]["outcomes"][0]["evidence"] == [
        {"kind": "screenshot", "name": "picture-1.png", "sha256": "a" * 64}
    ]
    assert rows(exported(lead, mine, "csv"))[0]["pictures"] == "1"
    assert [picture["sha256"][0] for picture in lines(exported(lead, mine, "jsonl"))[0]["pictures"]] == [
        "a",
        "b",
    ]


def test_ratings_are_exported_with_their_scale(anna, lead):
    campaign = campaigns.rated(annotators=[anna])
    assignment = queue.take_next(campaign, anna)
    first, second = marks_of(assignment)
    assert Person(anna, assignment).statuses(operation(first, Change.SCORE, score=72.5)) == ["saved"]

    ((_, document),) = files(exported(lead, assignment, "results")).items()

    assert document["criteria"] == []
    assert [(rating["scale"], rating["score"], rating["note"]) for rating in document["ratings"]] == [
        (first.item.scale, 72.5, ""),
        (second.item.scale, None, None),
    ]
    assert [(row["scale"], row["score"]) for row in rows(exported(lead, assignment, "csv"))] == [
        (first.item.scale, "72.5"),
        (second.item.scale, ""),
    ]


def test_the_columns_of_csv_and_their_order_are_as_documented():
    text = (Path(__file__).parents[2] / "docs" / "annotate.md").read_text()
    table = text[text.index("| column |") :].split("\n\n")[0]
    documented = [line.split("|")[1].strip().strip("`") for line in table.splitlines()[2:]]

    assert documented == list(COLUMNS)


def test_csv_has_a_row_for_each_annotation_also_of_what_was_not_reviewed(mine, lead):
    first, second, third, fourth = rows(exported(lead, mine, "csv"))

    assert [row["mark"] for row in (first, second, third, fourth)] == ["pass", "fail", "error", ""]
    assert [row["reviewed"] for row in (first, second, third, fourth)] == ["yes", "yes", "yes", "no"]
    assert [row["note"] for row in (first, second, third, fourth)] == ["", "'-5 of 7", "", ""]
    assert (third["environment_problem"], third["environment_problem_text"]) == ("other", "no net")
    assert (first["annotator"], first["annotator_id"]) == ("anna", str(mine.annotator_id))
    assert (first["criterion"], first["outcome_index"], first["outcome"]) == ("c0", "0", "c0 does thing 0")
    assert (first["guideline_version"], fourth["guideline_version"]) == ("1", "")
    assert (second["revisions"], fourth["revisions"]) == ("2", "0")
    assert first["rubric_hash"] == mine.round.trial.run.benchmark_hash
    assert (first["rubric_version"], first["snapshot"]) == ("1", mine.round.snapshot)
    assert (first["run"], first["code_agent"]) == (str(mine.round.trial.run_id), SECRET)
    assert [row["judge_mark"] for row in (first, second, third, fourth)] == ["pass", "pass", "fail", "pass"]


def test_times_are_rfc_3339_in_utc_whatever_the_zone_of_the_pages(mine, lead, settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    at = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    Annotation.objects.filter(assignment=mine, mark=Mark.PASS).update(saved_at=at)

    row = rows(exported(lead, mine, "csv"))[0]

    assert row["saved_at"] == "2026-03-01T23:30:00Z"
    assert lines(exported(lead, mine, "jsonl"))[0]["saved_at"] == "2026-03-01T23:30:00Z"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"), ("+SUM(A1)", "'+SUM(A1)"), ("@x", "'@x"), ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("\t=1", "'\t=1"), ("＝1", "'＝1"), ("- a list", "'- a list"),
        ("-5", "-5"), ("+4.5", "+4.5"), ("-1.5e3", "-1.5e3"), ("-12%", "-12%"), ("-1,234.5", "-1,234.5"),
        ("fine", "fine"), ("", ""), (None, ""),
    ],
)  # fmt: skip
def test_formulas_are_neutralised_and_numbers_are_not_harmed(text, shown):
    assert cell(text) == shown


def test_a_bom_comes_where_it_is_asked_for(mine, lead):
    assert body(exported(lead, mine, "csv")).startswith(b"campaign,")
    assert body(exported(lead, mine, "csv", bom="1")).startswith(b"\xef\xbb\xbfcampaign,")


def test_an_adjudicated_mark_stands_in_columns_of_its_own_beside_the_originals(mine, lead):
    item = marks_of(mine)[1].item
    Adjudication.objects.create(item=item, number=1, by=lead, mark=Mark.FAIL)
    Adjudication.objects.create(item=item, number=2, by=lead, mark=Mark.PASS, note="It is there.")

    row = rows(exported(lead, mine, "csv"))[1]

    assert (row["mark"], row["adjudicated_mark"], row["adjudicated_by"]) == ("fail", "pass", "lea")
    assert row["adjudicated_note"] == "It is there."
    line = lines(exported(lead, mine, "jsonl"))[1]
    assert [(each["number"], each["mark"]) for each in line["adjudications"]] == [(1, "fail"), (2, "pass")]


def test_marks_that_were_saved_after_a_reveal_are_told_apart(mine, anna):
    blindness.reveal(mine, by=anna, reason="I lost the thread")
    fourth = marks_of(mine)[3]
    assert Person(anna, mine).statuses(marked(fourth, Mark.PASS)) == ["saved"]

    table, document = rows(exported(anna, mine, "csv")), lines(exported(anna, mine, "jsonl"))

    assert [row["blind"] for row in table] == ["yes", "yes", "yes", "no"]
    assert [line["blind"] for line in document] == [True, True, True, False]


def test_a_campaign_that_is_not_blind_says_so_of_every_mark(anna, lead):
    campaign = campaigns.opened(annotators=[anna], is_blind=False)
    submitted(campaign, anna)

    assert {row["blind"] for row in rows(exported(lead, campaign, "csv"))} == {"no"}


@pytest.mark.parametrize(("is_imported", "said"), [(False, "evidence"), (True, "")])
def test_files_say_what_was_looked_at_where_it_is_known(mine, lead, is_imported, said):
    Campaign.objects.filter(pk=mine.campaign_id).update(centre="evidence", is_imported=is_imported)

    assert {row["looked_at"] for row in rows(exported(lead, mine, "csv"))} == {said}
    assert {line["looked_at"] for line in lines(exported(lead, mine, "jsonl"))} == {said or None}


def test_json_lines_hold_every_revision_with_both_times(mine, lead):
    line = lines(exported(lead, mine, "jsonl"))[1]

    assert line["schema"] == "proofroom/annotation/1"
    assert (line["mark"], line["note"], line["reviewed"]) == ("fail", "-5 of 7", True)
    assert line["outcome"] == {"index": 1, "text": "c0 does thing 1"}
    assert [(each["version"], each["change"], each["mark"], each["note"]) for each in line["revisions"]] == [
        (1, "mark", "fail", ""),
        (2, "note", "fail", "-5 of 7"),
    ]
    assert all(each["made_at"].endswith("Z") and each["saved_at"].endswith("Z") for each in line["revisions"])
    assert [each["guideline_version"] for each in line["revisions"]] == [1, 1]


def test_json_lines_hold_the_times_at_work(mine, anna, lead):
    annotation = marks_of(mine)[0]
    time = {"operation": str(uuid4()), "annotation": annotation.pk, "milliseconds": 1500}
    Person(anna, mine).post("/presence", {"times": [time], "place": {}})

    assert lines(exported(lead, mine, "jsonl"))[0]["times"][0]["milliseconds"] == 1500
    assert rows(exported(lead, mine, "csv"))[0]["active_seconds"] == "1.5"


def test_an_annotator_reads_the_own_thread_and_not_the_leads_talk_nor_a_peers(anna, lead):
    berta = campaigns.person("berta")
    campaign = campaigns.opened(
        campaigns.run(campaigns.benchmark(tasks=1)), annotators=[anna, berta], overlap=2
    )
    first, second = queue.take_next(campaign, anna), queue.take_next(campaign, berta)
    item = marks_of(first)[0].item
    for text, assignment in (("to anna", first), ("to berta", second), ("among leads", None)):
        Comment.objects.create(campaign=campaign, item=item, assignment=assignment, author=lead, text=text)

    own = lines(exported(anna, first, "jsonl"))[0]["comments"]
    leads = lines(exported(lead, first, "jsonl"))[0]["comments"]

    assert [comment["text"] for comment in own] == ["to anna"]
    assert [comment["text"] for comment in leads] == ["to anna", "among leads"]


@pytest.mark.parametrize("kind", list(ExportKind))
def test_an_annotator_gets_the_own_set_without_judge_peers_and_agent(mine, anna, kind):
    Adjudication.objects.create(item=marks_of(mine)[0].item, number=1, mark=Mark.FAIL, note="settled so")
    mine.campaign.items.update(known_mark=Mark.FAIL)

    response = exported(anna, mine, kind.value)
    text = body(response)
    if kind is ExportKind.RESULTS:
        with zipfile.ZipFile(io.BytesIO(text)) as archive:
            text = b"\n".join([archive.read(name) + name.encode() for name in archive.namelist()])
        assert b"skipped by" not in text
        assert json.loads(text.split(b"eval_step3", 1)[0].rsplit(b"}", 1)[0] + b"}")["skipped"] == []

    whole = text.decode() + str(response.headers)
    assert SECRET not in whole
    assert "settled so" not in whole
    assert "was planned as" not in whole
    assert response["Content-Disposition"].startswith(f'attachment; filename="assignment-{mine.pk}')
    if kind is ExportKind.CSV:
        (row, *_) = csv.DictReader(io.StringIO(text.decode()))
        assert {row[column] for column in COLUMNS[COLUMNS.index("known_mark") : COLUMNS.index("blind")]} == {
            ""
        }
    if kind is ExportKind.JSONL:
        assert {"judge_mark", "known_mark", "adjudications", "run", "code_agent"}.isdisjoint(
            json.loads(text.splitlines()[0])
        )


def test_an_annotator_gets_neither_a_campaign_nor_a_set_of_somebody_else(mine, anna):
    berta = campaigns.person("berta")

    assert exported(anna, mine.campaign, "csv").status_code == 403
    # As where there is no such set: nobody learns which sets there are.
    assert exported(berta, mine, "csv").status_code == 404


def test_whoever_is_not_signed_in_gets_nothing(mine):
    address = reverse("annotation:export_assignment", args=[mine.pk, "csv"])

    assert Client(headers={"host": site.SITE_HOST}).get(address).status_code == 302


def test_a_lead_at_work_on_a_blind_set_waits_for_submit_or_reveal(anna):
    lead = campaigns.lead("lea")
    run = campaigns.run(campaigns.benchmark(tasks=1), agent=SECRET)
    campaign = campaigns.opened(run, annotators=[anna, lead], overlap=2)
    peer = submitted(campaign, anna)
    own = queue.take_next(campaign, lead)

    refused = exported(lead, campaign, "csv")

    assert refused.status_code == 403
    assert b"Submit it, or reveal what it hides" in refused.content
    assert exported(lead, peer, "jsonl").status_code == 403
    assert SECRET not in body(exported(lead, own, "csv")).decode()
    blindness.reveal(own, by=lead, reason="A question of the annotators")
    assert SECRET in body(exported(User.objects.get(pk=lead.pk), campaign, "csv")).decode()


def test_another_campaign_of_the_same_run_is_no_way_around_blindness(anna):
    lead = campaigns.lead("lea")
    run = campaigns.run(campaigns.benchmark(tasks=1))
    done = campaigns.opened(run, annotators=[anna])
    submitted(done, anna)
    at_work = campaigns.opened(run, annotators=[lead])
    own = queue.take_next(at_work, lead)

    assert exported(lead, done, "csv").status_code == 403
    mark_all(own)
    submitting.submit(own, by=lead)
    assert exported(lead, done, "csv").status_code == 200


def test_every_export_is_in_the_log(mine, anna, lead):
    exported(lead, mine.campaign, "csv")
    exported(anna, mine, "jsonl")

    entries = AuditEntry.objects.filter(act="export").order_by("pk")
    assert [(entry.username, entry.subject, entry.details["kind"]) for entry in entries] == [
        ("lea", f"campaign:{mine.campaign_id}", "csv"),
        ("anna", f"assignment:{mine.pk}", "jsonl"),
    ]


def test_an_unknown_kind_is_nothing(mine, lead):
    assert exported(lead, mine, "xlsx").status_code == 404


@pytest.mark.parametrize("kind", list(ExportKind))
def test_the_number_of_queries_does_not_grow_with_the_sets_and_their_items(anna, kind):
    small = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1, outcomes=1)), annotators=[anna])
    large = campaigns.opened(
        campaigns.run(campaigns.benchmark(tasks=15, outcomes=9)), annotators=[anna], distribution="planned"
    )

    counts = []
    for campaign in (small, large):
        Assignment.objects.filter(campaign=campaign).update(annotator=anna)
        with CaptureQueriesContext(connection) as queries:
            for _ in downloads.campaign_parts(campaign, kind, sight=Sight.ALL, options=OPTIONS):
                pass
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 12


def test_the_first_bytes_of_a_large_campaign_come_before_it_was_read(anna):
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=60, criteria=1, outcomes=1)))

    with CaptureQueriesContext(connection) as queries:
        parts = downloads.campaign_parts(campaign, ExportKind.CSV, sight=Sight.ALL, options=OPTIONS)
        next(parts)
        next(parts)
    first = len(queries)
    with CaptureQueriesContext(connection) as queries:
        count = 2 + sum(1 for _ in parts)

    assert first <= 6
    assert count == 61
    assert len(queries) >= 6


def test_each_set_is_there_once_whatever_the_size_of_the_pages(anna):
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=45, criteria=1)), annotators=[anna])

    parts = downloads.campaign_parts(campaign, ExportKind.CSV, sight=Sight.ALL, options=OPTIONS)
    table = list(csv.DictReader(io.StringIO(b"".join(parts).decode())))

    assert len({row["annotation"] for row in table}) == len(table) == 90
    assert [int(row["assignment"]) for row in table] == sorted(int(row["assignment"]) for row in table)


@pytest.mark.django_db(transaction=True)
def test_an_asynchronous_server_sends_the_file_in_pieces(anna, settings):
    settings.SITE_HOST = "testserver"  # Django's asynchronous client sends this and nothing else
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=25, criteria=1)), annotators=[anna])
    lead = campaigns.lead()
    address = reverse("annotation:export_campaign", args=[campaign.pk, "csv"])

    async def taken() -> list[bytes]:
        client = AsyncClient()
        await client.aforce_login(lead)
        response = await client.get(address)
        parts = cast("AsyncIterator[bytes]", response.streaming_content)  # type: ignore[attr-defined]
        return [part async for part in parts]

    # In a thread of its own: a browser of another test may keep an event loop in this one.
    with ThreadPoolExecutor() as threads:
        parts = threads.submit(lambda: asyncio.run(taken())).result()
    assert len(parts) == 26
    assert b"".join(parts).count(b"\n") == 51


def command(*words: object) -> dict[str, Any]:
    out = StringIO()
    call_command("labels", *map(str, words), "--json", stdout=out)
    document: dict[str, Any] = json.loads(out.getvalue())
    return document


def test_the_command_writes_the_same_as_the_page(mine, lead, tmp_path):
    folder, table, zipped = tmp_path / "out", tmp_path / "labels.csv", tmp_path / "labels.zip"

    answer = command(mine.campaign_id, "-o", folder)
    command(mine.campaign_id, "--format", "csv", "-o", table)
    command(mine.campaign_id, "--assignment", mine.pk, "-o", zipped)

    assert (answer["campaign"], answer["files"], answer["path"]) == (mine.campaign_id, 1, str(folder))
    written = {
        path.relative_to(folder).as_posix(): json.loads(path.read_text()) for path in folder.rglob("*.json")
    }
    assert written == files(exported(lead, mine.campaign, "results"))
    assert table.read_bytes() == body(exported(lead, mine.campaign, "csv"))
    assert zipped.read_bytes() == body(exported(lead, mine, "results"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["999"], "There is no campaign '999'; the latest are"),
        (["CAMPAIGN", "--format", "xls"], "--format 'xls' is unknown; known are: results, csv, jsonl."),
        (["CAMPAIGN", "--assignment", "x"], "--assignment 'x' is no set of campaign"),
    ],
)
def test_bad_input_is_one_sentence(mine, words, said):
    words = [str(mine.campaign_id) if word == "CAMPAIGN" else word for word in words]

    with pytest.raises(CommandError) as refused:
        call_command("labels", *words, stdout=StringIO(), stderr=StringIO())

    assert refused.value.returncode == 2
    assert str(refused.value).startswith(said)
