"""Opening a campaign: a sample drawn once, sets for every copy, calibration for everybody, or a sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import pytest

from annotation import designing, guidelines, opening
from annotation.designing import KnownAnswer
from annotation.drafting import set_known_answers
from annotation.models import Annotation, Assignment, Campaign, Item
from annotation.vocabulary import CampaignState, MarkSet, OverlapUnit, SampleMethod
from benchmark.rules.vocabulary import Mark, RoundState, TrialState
from people.models import AuditEntry
from runs.models import Round, Run, Trial
from tests import campaigns
from tests.campaigns import MIXED

pytestmark = pytest.mark.django_db


def preview(of: Campaign) -> designing.DesignPreview:
    return designing.preview(designing.settings_of(of))


def test_each_trials_final_closed_round_is_drawn_from_unless_rounds_are_named():
    run = campaigns.run(campaigns.benchmark(tasks=2), rounds=[MIXED, {}])

    final, named = campaigns.opened(run), campaigns.opened(run, rounds=[1])

    assert {item.round.number for item in final.items.all()} == {2}
    assert {item.round.number for item in named.items.all()} == {1}


def test_a_round_that_is_still_open_is_not_drawn_from():
    run = campaigns.run(campaigns.benchmark(tasks=1), rounds=[{}, {}])
    Round.objects.filter(number=2).update(state=RoundState.OPEN)

    assert {item.round.number for item in campaigns.opened(run).items.all()} == {1}


def test_trials_at_work_have_no_final_round_and_are_counted():
    run = campaigns.run(campaigns.benchmark(tasks=2))
    Trial.objects.filter(pk=run.trials.earliest("pk").pk).update(state=TrialState.RUNNING)

    shown = preview(campaigns.campaign(run, annotators=campaigns.people(1)))

    assert (shown.trials, shown.unfinished_trials, shown.trials_without_round) == (1, 1, 0)


def test_the_preview_says_what_the_opening_then_makes():
    benchmark = campaigns.benchmark(tasks=3)
    of = campaigns.campaign(
        campaigns.run(benchmark, agent="a", rounds=[MIXED]),
        campaigns.run(benchmark, agent="b"),
        annotators=campaigns.people(3),
        overlap=2,
        overlap_share=0.5,
        method=SampleMethod.STRATIFIED,
        strata=["agent", "mark"],
        sample_size=4,
    )

    shown = preview(of)
    opening.open_campaign(of, by=None)

    assert shown.problems == ()
    assert shown.items == of.items.count() == 11
    assert shown.marks == Annotation.objects.filter(assignment__campaign=of).count()
    assert shown.sets == of.assignments.count()
    assert dict(shown.excluded) == {"skipped by the judge": 6}
    assert [asdict(stratum) for stratum in shown.strata] == [
        {"name": "a · fail", "found": 3, "drawn": 3},
        {"name": "a · pass", "found": 9, "drawn": 4},
        {"name": "b · pass", "found": 18, "drawn": 4},
    ]


def test_previewing_costs_as_many_queries_whatever_the_size(django_assert_max_num_queries):
    for tasks in (1, 12):
        of = campaigns.campaign(
            campaigns.run(campaigns.benchmark(tasks=tasks)), annotators=campaigns.people(1)
        )
        with django_assert_max_num_queries(9):
            preview(of)


def test_a_campaign_is_opened_once_with_a_guideline_and_a_line_in_the_log():
    lead = campaigns.lead()
    of = campaigns.opened(by=lead)

    with pytest.raises(opening.CannotOpen, match="opened already"):
        opening.open_campaign(of, by=lead)

    assert of.state == CampaignState.OPEN
    assert of.opened_at is not None
    guideline = guidelines.current(of)
    assert guideline is not None
    assert (guideline.version, guideline.text.count("\n")) == (1, 3)
    assert AuditEntry.objects.filter(act="open", user=lead, subject=f"campaign:{of.pk}").count() == 1


def test_a_guideline_that_was_written_before_is_kept_and_another_text_is_a_new_version():
    of = campaigns.campaign(annotators=campaigns.people(1))
    guidelines.write(of, "Only the literal text.", by=None)
    opening.open_campaign(of, by=None)

    newer = guidelines.write(of, "Only the literal text, and nothing else.", by=None)

    assert guidelines.write(of, " Only the literal text, and nothing else.\n", by=None) == newer
    assert [each.version for each in of.guidelines.all()] == [1, 2]
    for text in (" ", "x" * 20_001):
        with pytest.raises(guidelines.BadGuideline, match="1 to 20000"):
            guidelines.write(of, text, by=None)


def test_whole_trials_are_given_to_several_people_or_single_outcomes_are():
    run = campaigns.run(campaigns.benchmark(tasks=4))
    people = campaigns.people(2)

    trials = campaigns.opened(run, annotators=people, overlap=2, overlap_share=0.5)
    outcomes = campaigns.opened(
        run, annotators=people, overlap=2, overlap_share=0.5, overlap_unit=OverlapUnit.OUTCOME
    )

    copies = Counter((item.round_id, item.copies) for item in trials.items.all())
    assert sorted(copies.values()) == [6, 6, 6, 6]
    assert Counter(item.copies for item in outcomes.items.all()) == {1: 12, 2: 12}
    for of in (trials, outcomes):
        for item in of.items.all():
            assert item.annotations.count() == item.copies


def test_names_of_candidates_are_the_same_for_a_trial_and_tell_no_agent():
    benchmark = campaigns.benchmark(tasks=2)
    of = campaigns.opened(
        campaigns.run(benchmark, agent="secret-agent", rounds=[{}, {}]),
        campaigns.run(benchmark, agent="other"),
        annotators=campaigns.people(2),
        overlap=2,
        rounds=[1, 2],
    )

    by_trial: dict[int, set[str]] = {}
    for assignment in of.assignments.select_related("round"):
        by_trial.setdefault(assignment.round.trial_id, set()).add(assignment.alias)
    aliases = [alias for (alias,) in by_trial.values()]
    assert sorted(aliases) == [f"Candidate {number}" for number in (1, 2, 3, 4)]


def test_the_same_settings_and_seed_make_the_same_sets():
    run = campaigns.run(campaigns.benchmark(tasks=5))
    people = campaigns.people(3)
    drawn: dict[str, Any] = {"method": SampleMethod.PER_PROJECT, "sample_size": 3}
    one, again, other = (
        campaigns.planned(run, annotators=people, overlap=2, seed=seed, **drawn) for seed in (7, 7, 8)
    )

    def made(of: Campaign) -> object:
        items = of.items.values_list("round_id", "outcome_id", "position", "copies")
        sets = of.assignments.order_by("pk").values_list("round_id", "copy", "annotator_id", "alias")
        return sorted(items), list(sets)

    assert made(one) == made(again) != made(other)


def test_calibration_items_are_given_to_every_copy_and_keep_what_is_right():
    of = campaigns.campaign(
        campaigns.run(campaigns.benchmark(tasks=2)),
        annotators=campaigns.people(2),
        overlap=2,
        overlap_share=0.0,
        method=SampleMethod.PER_PROJECT,
        sample_size=1,
    )
    round_ = Round.objects.earliest("pk")
    outcomes = [verdict.outcome_id for verdict in round_.judgings.get().verdicts.all()]
    set_known_answers(
        of,
        [KnownAnswer(round=round_.pk, outcome=outcome, mark=Mark.FAIL) for outcome in outcomes[:2]],
    )

    opening.open_campaign(of, by=None)

    known = of.items.exclude(known_mark="")
    assert {(item.outcome_id, item.known_mark, item.copies) for item in known} == {
        (outcomes[0], "fail", 2),
        (outcomes[1], "fail", 2),
    }
    assert all(item.annotations.count() == 2 for item in known)
    assert all(item.copies == 1 for item in of.items.filter(known_mark=""))


def test_calibration_may_come_from_a_run_that_is_not_drawn_from():
    gold = campaigns.run(campaigns.benchmark(tasks=1), agent="gold")
    of = campaigns.campaign(annotators=campaigns.people(1))
    round_ = Round.objects.get(trial__run=gold)
    outcome = round_.judgings.get().verdicts.earliest("pk").outcome_id
    set_known_answers(of, [KnownAnswer(round=round_.pk, outcome=outcome, mark=Mark.PASS)])

    opening.open_campaign(of, by=None)

    assert Item.objects.get(campaign=of, round=round_).stratum == "calibration"
    assert preview_sets(of) == 3


def preview_sets(of: Campaign) -> int:
    return Assignment.objects.filter(campaign=of).count()


def test_ratings_are_an_item_for_each_scale_of_each_round():
    of = campaigns.rated(campaigns.run(campaigns.benchmark(tasks=3)))

    assert Counter(item.scale for item in of.items.all()) == {"semantic": 3, "design": 3}
    assert of.assignments.count() == 3


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"overlap": 3}, "An overlap of 3 needs 3 different people, and there are 2"),
        ({"overlap": 0}, "choose 1 or more"),
        ({"overlap_share": 1.5}, "choose one from 0 to 1"),
        ({"method": "per_project"}, "at least 1"),
        ({"method": "stratified", "sample_size": 2}, "needs a stratum"),
        ({"mark_set": "scales"}, "No scale is defined"),
        (
            {
                "mark_set": "scales",
                "scales": [{"key": "a"}],
                "method": "stratified",
                "sample_size": 1,
                "strata": ["kind"],
            },
            "only be of the code agent",
        ),
        ({"tasks": ["absent"]}, "No outcome can be drawn"),
    ],
)
def test_what_stands_against_an_opening_is_said_and_nothing_is_made(wrong, words):
    of = campaigns.campaign(annotators=campaigns.people(2), **wrong)

    assert words in " ".join(preview(of).problems)
    with pytest.raises(opening.CannotOpen, match=words.split(":")[0]):
        opening.open_campaign(of, by=None)

    of.refresh_from_db()
    assert (of.state, of.items.count(), Assignment.objects.count()) == (CampaignState.DRAFT, 0, 0)


def test_without_a_run_there_is_nothing_to_open():
    of = campaigns.campaign(annotators=campaigns.people(1))
    of.runs.clear()

    assert preview(of).problems == ("No run is chosen: choose at least one whose outcomes are to be marked.",)


def test_a_run_of_skipped_outcomes_alone_says_so():
    run = campaigns.run(campaigns.benchmark(tasks=1, criteria=1), rounds=[{"c0": (Mark.ERROR, Mark.ERROR)}])
    of = campaigns.campaign(run, annotators=campaigns.people(1))

    assert "2 could not be judged" in " ".join(preview(of).problems)
    of.only_executed = False
    of.save()
    assert preview(of).items == 2


def test_a_closed_campaign_can_be_opened_again_and_a_draft_not_closed():
    of = campaigns.campaign(annotators=campaigns.people(1), mark_set=MarkSet.THREE)
    with pytest.raises(opening.CannotOpen):
        opening.close_campaign(of, by=None)
    opening.open_campaign(of, by=None)

    assert opening.close_campaign(of, by=None).closed_at is not None
    assert opening.reopen_campaign(of, by=None).closed_at is None
    with pytest.raises(opening.CannotOpen):
        opening.reopen_campaign(of, by=None)
    assert Run.objects.count() == 1
