"""Marks that were given elsewhere: read as they stand, matched by their words, never guessed."""

from __future__ import annotations

import json
import shutil
import unicodedata
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from annotation import queue, submitting
from annotation.models import Annotation, Assignment, Campaign, Item, Picture, Revision
from annotation.vocabulary import (
    AssignmentState,
    CampaignState,
    Change,
    EnvironmentProblem,
    MarkSet,
    PictureSource,
)
from benchmark.models import ExpectedOutcome
from benchmark.rules.vocabulary import Mark
from runs.models import Judging, Round, Run, Trial, Verdict
from tests import campaigns, make
from tests.annotation.clients import Person
from tests.campaigns import marked, operation
from tests.runs import judged

pytestmark = pytest.mark.django_db

NAME = "eval_step3_results.json"


def answer(*words: object) -> dict[str, Any]:
    out = StringIO()
    call_command(*map(str, words), "--json", stdout=out)
    document: dict[str, Any] = json.loads(out.getvalue())
    return document


def said(*words: object) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def refusal(*words: object) -> list[dict[str, Any]]:
    """The problems of an import that was refused, of which nothing was stored."""
    before = [model.objects.count() for model in (Campaign, Judging, Verdict, Annotation, Item)]
    out = StringIO()
    with pytest.raises(CommandError) as refused:
        call_command(*map(str, words), "--json", stdout=out, stderr=StringIO())
    assert refused.value.returncode == 2
    assert [model.objects.count() for model in (Campaign, Judging, Verdict, Annotation, Item)] == before
    problems: list[dict[str, Any]] = json.loads(out.getvalue())["problems"]
    return problems


def labels(path: Path, run: Run, *words: str) -> dict[str, Any]:
    return answer("import", path, "--as", "labels", "--run", run.pk, *words)


def verdicts(path: Path, run: Run, *words: str) -> dict[str, Any]:
    return answer("import", path, "--as", "verdicts", "--run", run.pk, *words)


def written(folder: Path, document: Any, *, task: str = "t1", round_: int = 1, name: str = NAME) -> Path:
    """A result file in the layout of ours; answers the folder."""
    target = folder / task / "theirs" / f"round_{round_}" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    return folder


def texts(folder: Path) -> dict[str, dict[str, Any]]:
    return {path.relative_to(folder).as_posix(): json.loads(path.read_text()) for path in folder.rglob(NAME)}


def by_outcome(run: Run) -> dict[str, str]:
    """The imported marks as `task/criterion.index`."""
    found = Annotation.objects.filter(
        assignment__round__trial__run=run, assignment__campaign__is_imported=True
    )
    return {
        f"{each.assignment.round.trial.task.key}/{each.item.outcome}": each.mark
        for each in found.select_related("item__outcome__criterion", "assignment__round__trial__task")
    }


@pytest.fixture
def run() -> Run:
    task = make.task("t1", make.criterion("c0", outcomes=2), make.criterion("c1"))
    return judged.finished_run(make.benchmark(task), rounds=[{"c0": (Mark.PASS, Mark.FAIL)}])


def outcome(key: str, index: int, mark: str | None, **more: Any) -> dict[str, Any]:
    return {"index": index, "text": f"{key} does thing {index}", "mark": mark, **more}


def document(*criteria: tuple[str, list[dict[str, Any]]], rater: str = "anna", **more: Any) -> dict[str, Any]:
    return {
        "schema": "proofroom/results/1",
        "source": {"kind": "person", "name": rater},
        "criteria": [{"key": key, "outcomes": outcomes} for key, outcomes in criteria],
        **more,
    }


def test_labels_of_a_campaign_come_back_the_same_after_export_and_import(tmp_path):
    anna, berta = campaigns.person("anna"), campaigns.person("berta")
    run = campaigns.run(rounds=[campaigns.MIXED])
    campaign = campaigns.opened(run, annotators=[anna, berta], overlap=2, mark_set=MarkSet.THREE)
    for person in (anna, berta, anna, berta):
        assignment = queue.take_next(campaign, person)
        first, second, third, fourth = assignment.annotations.order_by("item__position")
        Picture.objects.create(
            annotation=first, operation=uuid4(), source=PictureSource.PASTE, digest="a" * 64,
            media_type="image/png", size=1, width=1, height=1,
        )  # fmt: skip
        problem = operation(fourth, Change.PROBLEM, problem=EnvironmentProblem.DIED.value)
        statuses = Person(person, assignment).statuses(
            marked(first, Mark.PASS),
            operation(first, Change.NOTE, base=1, note="Fine, “really”: 0 €"),
            marked(second, Mark.FAIL),
            marked(third, Mark.PARTIAL),
            problem,
        )
        assert set(statuses) == {"saved"}
        submitting.submit(assignment, by=person)
    call_command("labels", str(campaign.pk), "-o", str(tmp_path / "out"), stdout=StringIO())

    imported = labels(tmp_path / "out", run)
    call_command("labels", str(imported["campaign"]), "-o", str(tmp_path / "again"), stdout=StringIO())

    first_time, second_time = texts(tmp_path / "out"), texts(tmp_path / "again")
    assert len(first_time) == 4
    assert second_time == first_time
    assert (imported["raters"], imported["sets"], imported["marks"]) == (["anna", "berta"], 4, 16)
    assert (imported["problems"], imported["repairs"], imported["is_new"]) == ([], [], True)


def test_what_was_not_reviewed_comes_back_as_not_reviewed(run, tmp_path):
    given = document(("c0", [outcome("c0", 0, "pass", note=""), outcome("c0", 1, None, note=None)]))

    imported = labels(written(tmp_path / "in", given), run)
    call_command("labels", str(imported["campaign"]), "-o", str(tmp_path / "out"), stdout=StringIO())

    ((_, exported),) = texts(tmp_path / "out").items()
    assert [each["note"] for each in exported["criteria"][0]["outcomes"]] == ["", None]
    assert [each["mark"] for each in exported["criteria"][0]["outcomes"]] == ["pass", None]
    assert (imported["marks"], imported["not_reviewed"]) == (1, 1)


def test_labels_become_a_closed_campaign_with_a_set_for_each_rater(run, tmp_path):
    given = document(("c0", [outcome("c0", 0, "pass"), outcome("c0", 1, "fail", note="No total.")]))
    written(tmp_path / "a", given | {"marked_at": "2026-03-01T12:00:00+00:00"})
    written(tmp_path / "b", given | {"source": {"kind": "person", "name": "berta"}})

    imported = labels(tmp_path, run)

    campaign = Campaign.objects.get()
    assert imported["campaign"] == campaign.pk
    assert (campaign.state, campaign.is_imported) == (CampaignState.CLOSED, True)
    assert list(campaign.runs.all()) == [run]
    first, second = Assignment.objects.order_by("rater")
    assert [first.rater, second.rater] == ["anna", "berta"]
    assert (first.annotator, first.state) == (None, AssignmentState.SUBMITTED)
    assert first.submitted_at is not None
    assert first.submitted_at.isoformat() == "2026-03-01T12:00:00+00:00"
    assert [item.judge_mark for item in Item.objects.order_by("position")] == ["pass", "fail"]
    assert {item.copies for item in Item.objects.all()} == {2}
    annotation = Annotation.objects.get(assignment=first, mark="fail")
    assert (annotation.note, annotation.version) == ("No total.", 1)
    assert Revision.objects.get(annotation=annotation).note == "No total."
    assert annotation.saved_at == Revision.objects.get(annotation=annotation).saved_at == first.submitted_at


def test_ratings_are_not_read_yet_and_the_refusal_says_so_with_the_number_of_files(tmp_path):
    anna, run = campaigns.person("anna"), campaigns.run()
    campaign = campaigns.rated(run, annotators=[anna])
    assignment = queue.take_next(campaign, anna)
    first = assignment.annotations.order_by("item__position")[0]
    assert Person(anna, assignment).statuses(operation(first, Change.SCORE, score=72.5)) == ["saved"]
    call_command("labels", str(campaign.pk), "-o", str(tmp_path / "out"), stdout=StringIO())

    (problem,) = refusal("import", tmp_path / "out", "--as", "labels", "--run", run.pk)

    assert problem["text"].startswith("1 file holds ratings on scales and no marks: ratings are not read")


def test_the_same_labels_are_not_stored_twice_in_whatever_files_they_come(run, tmp_path):
    given = document(
        ("c0", [outcome("c0", 0, "pass"), outcome("c0", 1, "fail")]), ("c1", [outcome("c1", 0, "pass")])
    )
    first = labels(written(tmp_path / "one", given), run)
    parts = [given | {"criteria": [criterion]} for criterion in given["criteria"]]
    for number, part in enumerate(parts):
        written(tmp_path / "two" / str(number), part)

    again = labels(tmp_path / "one", run)
    split = labels(tmp_path / "two", run)

    assert [each["is_new"] for each in (first, again, split)] == [True, False, False]
    assert {each["campaign"] for each in (first, again, split)} == {first["campaign"]}
    assert Campaign.objects.count() == 1
    assert "Already there, nothing was added" in said(
        "import", tmp_path / "one", "--as", "labels", "--run", run.pk
    )


def test_other_marks_of_the_same_rater_are_another_campaign(run, tmp_path):
    labels(written(tmp_path / "one", document(("c1", [outcome("c1", 0, "pass")]))), run)

    again = labels(written(tmp_path / "two", document(("c1", [outcome("c1", 0, "fail")]))), run)

    assert again["is_new"]
    assert Campaign.objects.count() == 2


@pytest.mark.parametrize(
    "given",
    [
        {"pass": ["c1"], "fail": []},
        {"pass": [{"key": "c1", "outcomes": ["c1 does thing 0"]}]},
        {"pass": [{"id": "c1", "criteria": [{"text": "c1 does thing 0"}]}]},
        {"pass": [{"key": "c1", "text": "c1 does thing 0"}]},
        {"criteria": [{"key": "c1", "mark": "pass"}]},
    ],
)
def test_bare_lists_are_read_too(run, tmp_path, given):
    imported = labels(written(tmp_path, given), run, "--rater", "anna")

    assert by_outcome(run) == {"t1/c1.0": "pass"}
    assert imported["repairs"] == []


def test_texts_below_a_criterion_say_which_of_its_outcomes_passed_and_failed(run, tmp_path):
    given = {
        "pass": [{"key": "c0", "outcomes": ["c0 does thing 1"]}, "c1"],
        "fail": [{"key": "c0", "outcomes": ["c0 does thing 0"]}],
    }

    labels(written(tmp_path, given), run, "--rater", "anna")

    assert by_outcome(run) == {"t1/c0.0": "fail", "t1/c0.1": "pass", "t1/c1.0": "pass"}


def test_a_failed_criterion_without_texts_is_spread_over_its_outcomes_and_said_so(run, tmp_path):
    imported = labels(written(tmp_path, {"pass": ["c1"], "fail": ["c0"]}), run, "--rater", "anna")

    assert by_outcome(run) == {"t1/c0.0": "fail", "t1/c0.1": "fail", "t1/c1.0": "pass"}
    (repair,) = imported["repairs"]
    assert repair["name"] == "spread"
    assert repair["file"] == f"t1/theirs/round_1/{NAME}"
    assert repair["text"].startswith("criterion c0 is fail as a whole; each of its 2 outcomes")


def test_keys_may_be_numbers(tmp_path):
    run = judged.finished_run(make.benchmark(make.task("t1", make.criterion("0"), make.criterion("1"))))

    labels(written(tmp_path, {"pass": [0], "fail": ["1"]}), run, "--rater", "anna")

    assert by_outcome(run) == {"t1/0.0": "pass", "t1/1.0": "fail"}


def test_words_match_whatever_their_accents_are_made_of_and_however_many_blanks(run, tmp_path):
    ExpectedOutcome.objects.filter(criterion__key="c1").update(text="Zeigt  die Größe\nan")
    text = unicodedata.normalize("NFD", " Zeigt die Größe an ")
    given = document(("c1", [{"index": 0, "text": text, "mark": "pass"}]))

    labels(written(tmp_path, given), run)

    assert by_outcome(run) == {"t1/c1.0": "pass"}


def test_a_text_that_is_no_longer_in_the_rubric_is_reported_with_its_place_and_nothing_is_stored(
    run, tmp_path
):
    given = document(
        ("c0", [outcome("c0", 0, "pass"), {"index": 1, "text": "c0 did another thing", "mark": "fail"}])
    )

    problem, hint = sorted(
        refusal("import", written(tmp_path, given), "--as", "labels", "--run", run.pk),
        key=lambda each: each["file"],
        reverse=True,
    )

    assert problem["file"] == f"t1/theirs/round_1/{NAME}"
    lines = (tmp_path / "t1/theirs/round_1" / NAME).read_text().splitlines()
    assert '"index": 1' in lines[problem["line"]]
    assert problem["text"] == (
        "criterion c0 has no outcome “c0 did another thing” in this version of the rubric. "
        "Outcome 1 is now “c0 does thing 1”."
    )
    assert "--leave-out" in hint["text"]


def test_what_does_not_match_can_be_left_out_and_is_listed(run, tmp_path):
    given = document(
        ("c0", [outcome("c0", 0, "pass"), {"index": 1, "text": "gone", "mark": "fail"}]),
        ("c9", [outcome("c9", 0, "pass")]),
    )

    imported = labels(written(tmp_path, given), run, "--leave-out")

    assert by_outcome(run) == {"t1/c0.0": "pass"}
    assert [(repair["name"], repair["text"][:40]) for repair in imported["repairs"]] == [
        ("left_out", "criterion c0 has no outcome “gone” in th"),
        ("left_out", "there is no criterion 'c9' in task t1."),
    ]


@pytest.mark.parametrize(
    ("criteria", "text"),
    [
        (
            [("c0", [{"index": 0, "text": "c0 does thing 1", "mark": "pass"}])],
            "the outcome “c0 does thing 1” of criterion c0 has index 1, not 0.",
        ),
        (
            [("c0", [{"index": 7, "mark": "pass"}])],
            "criterion c0 has 2 outcomes (from 0), and none with index 7.",
        ),
        ([("c0", [{"index": "0", "text": "x", "mark": "pass"}])], "the index '0' is not a whole number."),
        ([("c0", [{"mark": "pass"}])], "an outcome of criterion 'c0' has neither a text nor an index."),
        (
            [("c1", [outcome("c1", 0, "yes")])],
            "'yes' is no mark; known are pass, partial, fail, skipped, error.",
        ),
        (
            [("c1", [outcome("c1", 0, "pass"), outcome("c1", 0, "fail")])],
            "criterion c1, outcome 0 is marked twice by anna, first in",
        ),
        (
            [("c1", [outcome("c1", 0, "pass", environment_problem="died")])],
            "criterion c1, outcome 0 has an environment problem and the mark pass",
        ),
    ],
)
def test_what_cannot_be_trusted_is_refused_with_a_sentence(run, tmp_path, criteria, text):
    folder = written(tmp_path, document(*criteria))

    problems = refusal("import", folder, "--as", "labels", "--run", run.pk)

    assert any(problem["text"].startswith(text) for problem in problems), problems


def test_two_outcomes_with_the_same_words_need_an_index(run, tmp_path):
    ExpectedOutcome.objects.filter(criterion__key="c0").update(text="It works.")
    without = {"pass": [{"key": "c0", "outcomes": ["It works."]}]}

    (problem, _) = sorted(
        refusal(
            "import", written(tmp_path / "a", without), "--as", "labels", "--run", run.pk, "--rater", "a"
        ),
        key=lambda each: -len(each["file"]),
    )
    given = document(("c0", [{"index": 1, "text": "It works.", "mark": "pass"}]))
    labels(written(tmp_path / "b", given), run)

    assert problem["text"].endswith("the outcome “It works.” 2 times; give its index.")
    assert by_outcome(run) == {"t1/c0.1": "pass"}


def test_the_same_outcome_in_two_files_of_one_rater_is_refused(run, tmp_path):
    given = document(("c1", [outcome("c1", 0, "pass")]))
    written(tmp_path / "one", given)
    written(tmp_path / "two", given)

    (problem,) = refusal("import", tmp_path, "--as", "labels", "--run", run.pk)

    assert problem["file"].startswith("two/")
    assert "marked twice by anna, first in one/t1/" in problem["text"]


def test_blank_space_in_a_name_does_not_make_another_rater(run, tmp_path):
    written(tmp_path / "one", document(("c0", [outcome("c0", 0, "pass")]), rater=" anna"))
    written(tmp_path / "two", document(("c1", [outcome("c1", 0, "pass")]), rater="anna\u200b"))

    imported = labels(tmp_path, run)

    assert imported["raters"] == ["anna"]
    assert [repair["name"] for repair in imported["repairs"]] == ["rater_name", "rater_name"]
    assert "' anna' is read as 'anna'" in imported["repairs"][0]["text"]


def test_a_list_that_contradicts_the_criteria_is_refused_and_a_summary_is_only_noted(run, tmp_path):
    given = document(("c1", [outcome("c1", 0, "pass")]))
    given["criteria"][0]["mark"] = "pass"
    wrong = written(tmp_path / "a", given | {"fail": ["c1"]})
    given["criteria"][0]["mark"] = "fail"

    (problem,) = refusal("import", wrong, "--as", "labels", "--run", run.pk)
    imported = labels(written(tmp_path / "b", given), run)

    assert problem["text"].endswith("the file contradicts itself.")
    assert imported["repairs"][0]["name"] == "summary"
    assert by_outcome(run) == {"t1/c1.0": "pass"}


def test_files_of_the_other_kind_are_not_taken_by_mistake(run, tmp_path):
    person = written(tmp_path / "p", document(("c1", [outcome("c1", 0, "pass")])))
    judge = written(
        tmp_path / "j",
        document(("c1", [outcome("c1", 0, "pass")])) | {"source": {"kind": "judge", "name": "x"}},
    )
    nobody = written(tmp_path / "n", {"pass": ["c1"]})

    found = [
        refusal("import", judge, "--as", "labels", "--run", run.pk),
        refusal("import", person, "--as", "verdicts", "--run", run.pk),
        refusal("import", nobody, "--as", "labels", "--run", run.pk),
        refusal("import", nobody, "--as", "verdicts", "--run", run.pk),
    ]

    assert [problems[0]["text"].rsplit(";", 1)[-1] for problems in found] == [
        " import it with --as verdicts, or say who marked with --rater NAME.",
        " import it with --as labels, or say which judge it was with --judge NAME.",
        " say it with --rater NAME.",
        " say it with --judge NAME.",
    ]


def test_a_single_file_is_enough_where_only_one_round_can_be_meant(run, tmp_path):
    path = tmp_path / "anna.json"
    path.write_text('{"pass": ["c1"]}')

    labels(path, run, "--rater", "anna")

    assert by_outcome(run) == {"t1/c1.0": "pass"}


def test_where_several_trials_or_rounds_can_be_meant_none_is_guessed(tmp_path):
    run = judged.finished_run(rounds=[{}, {}], repeats=2)
    path = tmp_path / "anna.json"

    path.write_text('{"pass": ["c0"]}')
    (trial,) = refusal("import", path, "--as", "labels", "--run", run.pk, "--rater", "anna")
    path.write_text(json.dumps({"pass": ["c0"], "trial": f"trial-{Trial.objects.first().pk}"}))  # type: ignore[union-attr]
    (number,) = refusal("import", path, "--as", "labels", "--run", run.pk, "--rater", "anna")

    assert "does not say which of the trials" in trial["text"]
    assert number["text"] == "the file does not say which round it is about; t1 has the rounds: 1, 2."


def test_the_snapshot_says_which_candidate_is_meant(tmp_path):
    run = judged.finished_run(repeats=2)
    first, second = Round.objects.order_by("trial__repeat")
    Round.objects.filter(pk=first.pk).update(snapshot="a" * 64)
    Round.objects.filter(pk=second.pk).update(snapshot="b" * 64)
    given = document(("c0", [outcome("c0", 0, "pass")]), task="t1", round=1, snapshot="b" * 64)
    other = given | {"trial": f"trial-{first.trial_id}"}

    labels(written(tmp_path / "a", given | {"trial": "trial-99999"}), run)
    (problem,) = refusal("import", written(tmp_path / "b", other), "--as", "labels", "--run", run.pk)

    assert Assignment.objects.get().round == second
    assert "another candidate" in problem["text"]


def test_files_come_as_a_folder_a_zip_or_with_other_names(run, tmp_path):
    given = document(("c1", [outcome("c1", 0, "pass")]))
    folder = written(tmp_path / "in", given)
    (folder / "notes.json").write_text("not JSON at all")
    zipped = tmp_path / "in.zip"
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.write(folder / "t1/theirs/round_1" / NAME, f"x/t1/theirs/round_1/{NAME}")
        archive.writestr("__MACOSX/x/._eval.json", b"\0")
    renamed = written(tmp_path / "renamed", given, name="marks.json")

    answers = [labels(path, run) for path in (folder, zipped, renamed)]

    assert [each["is_new"] for each in answers] == [True, False, False]
    assert [each["files"] for each in answers] == [1, 1, 1]


@pytest.mark.parametrize(
    ("content", "said_of_it"),
    [
        ("[]", "the file is not an object with criteria"),
        ("{}", 'the file has neither "criteria" nor a list "pass" or "fail".'),
        ("{", "not JSON"),
        ('{"schema": "proofroom/results/9", "pass": []}', "the schema 'proofroom/results/9' is not known"),
        ('{"pass": "c1"}', "pass is not a list."),
        ('{"pass": [null]}', "entry 1 of pass names no criterion."),
        ('{"pass": ["c1"], "marked_at": "yesterday"}', "marked_at 'yesterday' is no time"),
        ('{"pass": ["c1"], "round": 0}', "the round 0 is not a whole number from 1."),
        ('{"pass": ["c1"], "task": "t9"}', "run RUN has no task 't9'"),
        ('{"pass": ["c1"], "round": 4}', "the file is about round 4; t1 has the rounds: 1."),
        ('{"pass": [], "fail": []}', "The files hold no mark of a person."),
    ],
)
def test_a_file_that_cannot_be_read_is_a_sentence(run, tmp_path, content, said_of_it):
    path = tmp_path / "marks.json"
    path.write_text(content)

    problems = refusal("import", path, "--as", "labels", "--run", run.pk, "--rater", "anna")

    assert problems[0]["text"].startswith(said_of_it.replace("RUN", str(run.pk)))


def test_marks_of_another_rubric_version_are_said_so(run, tmp_path):
    given = document(("c1", [outcome("c1", 0, "pass")]), benchmark={"hash": "0" * 64})

    imported = labels(written(tmp_path, given), run)

    assert imported["notes"] == [
        "1 file was made under another version of the rubric; texts were compared one by one."
    ]


def test_what_the_judge_skipped_is_nothing_that_a_person_said(run, tmp_path):
    given = document(
        ("c0", [outcome("c0", 0, "skipped"), outcome("c0", 1, "skipped")]), ("c1", [outcome("c1", 0, "fail")])
    )

    imported = labels(written(tmp_path, given), run)

    assert (imported["marks"], imported["skipped"]) == (1, 2)
    assert by_outcome(run) == {"t1/c1.0": "fail"}


def test_reasons_of_environment_problems_are_kept_in_whatever_words(run, tmp_path):
    given = document(
        ("c0", [outcome("c0", 0, "error", environment_problem="died"), outcome("c0", 1, "error", environment_problem="Port 80: taken")]),
        ("c1", [outcome("c1", 0, "error", environment_problem="blocked: by a proxy")]),
    )  # fmt: skip

    labels(written(tmp_path, given), run)

    assert [(each.problem, each.problem_text) for each in Annotation.objects.order_by("item__position")] == [
        ("died", ""),
        ("other", "Port 80: taken"),
        ("blocked", "by a proxy"),
    ]


def test_verdicts_come_back_the_same_after_export_and_import(tmp_path):
    run = campaigns.run(rounds=[{**campaigns.MIXED, "c0": (Mark.ERROR, Mark.PASS)}])
    out, again = tmp_path / "out", tmp_path / "again"
    call_command("export", str(run.pk), "-o", str(out), stdout=StringIO())

    imported = verdicts(out, run)
    call_command("export", str(run.pk), "--judge", "import:planned", "-o", str(again), stdout=StringIO())

    first, second = texts(out), texts(again)
    assert {name: each | {"source": None} for name, each in first.items()} == {
        name: each | {"source": None} for name, each in second.items()
    }
    assert {each["source"]["name"] for each in second.values()} == {"import:planned"}
    assert (imported["judges"], imported["judgings"], imported["already"]) == (["import:planned"], 2, 0)


def test_imported_verdicts_stand_beside_the_primary_ones_with_raw_text_and_parser(run, tmp_path):
    folder = written(tmp_path, {"pass": [{"key": "c0", "outcomes": ["c0 does thing 1"]}], "fail": ["c1"]})

    verdicts(folder, run, "--judge", "other judge")

    judging = Judging.objects.get(judge="import:other judge")
    assert not judging.is_primary
    assert Judging.objects.filter(is_primary=True).count() == 1
    first, second = judging.verdicts.order_by("outcome__criterion__position")
    assert (first.mark, first.parser, json.loads(first.raw)) == (
        "pass",
        "bare-lists/1",
        {"mark": "pass", "text": "c0 does thing 1"},
    )
    assert (second.mark, json.loads(second.raw)) == ("fail", "c1")


def test_the_same_verdicts_are_not_stored_twice(run, tmp_path):
    folder = written(tmp_path, {"pass": ["c1"]})

    first, again = verdicts(folder, run, "--judge", "x"), verdicts(folder, run, "--judge", "x")
    other = verdicts(written(tmp_path, {"fail": ["c1"]}), run, "--judge", "x")

    assert [(each["is_new"], each["judgings"], each["already"]) for each in (first, again, other)] == [
        (True, 1, 0),
        (False, 0, 1),
        (True, 1, 0),
    ]
    assert Judging.objects.filter(judge="import:x").count() == 2


def test_a_mark_that_the_protocol_does_not_have_is_refused_of_a_judge_and_taken_of_a_person(run, tmp_path):
    folder = written(tmp_path, {"partial": ["c1"]})

    (problem,) = refusal("import", folder, "--as", "verdicts", "--run", run.pk, "--judge", "x")
    labels(folder, run, "--rater", "anna")

    assert problem["text"] == "partial is no mark of a judge in the protocol asuka."
    assert Campaign.objects.get().mark_set == MarkSet.THREE


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--as", "labels"], "--run is missing: say which run the marks belong to"),
        (["--as", "labels", "--run", "999999"], "There is no run '999999'"),
        (["--as", "labels", "--run", "RUN", "--rater", " "], "--rater is empty; give a name."),
        (["--as", "labels", "--run", "RUN", "--judge", "x"], "--judge goes with --as verdicts"),
        (["--as", "verdicts", "--run", "RUN", "--rater", "x"], "--rater goes with --as labels"),
        (["--as", "labels", "--run", "RUN", "--strict"], "--strict goes with a benchmark"),
        (["--rater", "x"], "--rater goes with --as labels"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(run, tmp_path, words, sentence):
    written(tmp_path, {"pass": ["c1"]})
    words = [str(run.pk) if word == "RUN" else word for word in words]

    with pytest.raises(CommandError) as refused:
        call_command("import", str(tmp_path), *words, stdout=StringIO(), stderr=StringIO())

    assert refused.value.returncode == 2
    assert str(refused.value).startswith(sentence)


def test_a_path_under_which_there_is_nothing_is_a_sentence(run, tmp_path):
    (tmp_path / "empty").mkdir()

    (missing,) = refusal("import", tmp_path / "nowhere", "--as", "labels", "--run", run.pk)
    (empty,) = refusal("import", tmp_path / "empty", "--as", "labels", "--run", run.pk)

    assert missing["text"] == "there is nothing under this path."
    assert empty["text"] == f"holds no {NAME} and no other .json."


def test_a_zip_that_leads_out_of_its_folder_is_refused(run, tmp_path):
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"../{NAME}", "{}")

    (problem,) = refusal("import", path, "--as", "labels", "--run", run.pk)

    assert "leads out" in problem["text"]


def test_a_campaign_that_was_removed_can_be_imported_again(run, tmp_path):
    folder = written(tmp_path, document(("c1", [outcome("c1", 0, "pass")])))
    first = labels(folder, run)
    Assignment.objects.all().delete()
    Campaign.objects.all().delete()

    again = labels(folder, run)

    assert again["is_new"]
    assert again["campaign"] != first["campaign"] or Campaign.objects.count() == 1


def test_labels_made_on_another_site_fit_a_run_of_the_same_task(tmp_path):
    elsewhere = judged.finished_run(make.benchmark(make.task("t1", make.criterion("c0"))))
    call_command("export", str(elsewhere.pk), "-o", str(tmp_path / "out"), stdout=StringIO())
    here = judged.finished_run(make.benchmark(make.task("t1", make.criterion("c0"))))
    shutil.move(tmp_path / "out/t1" / f"trial-{elsewhere.trials.get().pk}", tmp_path / "out/t1/trial-123456")

    imported = verdicts(tmp_path / "out", here)

    assert imported["verdicts"] == 1
    assert Judging.objects.get(judge="import:planned").round.trial.run == here
