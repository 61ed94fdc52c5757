"""A campaign's marks become ratings: who counts, who is left out and why, and what the door answers."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation import adjudication
from annotation.adjudication import Decision
from annotation.agreement.ratings import RatingsError
from annotation.models import Annotation, Campaign
from annotation.reports.campaign_ratings import PEOPLE, CampaignRatings, Whose, campaign_ratings
from benchmark.rules.vocabulary import Mark, Role
from people.models import AuditEntry
from runs.models import Judging, Round, Verdict
from tests import campaigns
from tests.annotation.seats import flag, mark_all, sets_of

pytestmark = pytest.mark.django_db
JUDGE = "judge:planned"


def marked_by(
    *names: str, fails: dict[str, dict[int, Mark]] | None = None, tasks: int = 2, **settings: Any
) -> Campaign:
    """A campaign in which everybody passed everything but `fails`; the judge failed the third outcome."""
    people = [campaigns.person(name) for name in names]
    run = campaigns.run(
        campaigns.benchmark(tasks=tasks, criteria=2), rounds=[{"c1": (Mark.FAIL, Mark.PASS)}], agent="heron"
    )
    campaign = campaigns.planned(run, annotators=people, overlap=len(names), **settings)
    for each in sets_of(campaign):
        assert each.annotator is not None
        mark_all(each, others=(fails or {}).get(each.annotator.username))
    return campaign


def said(found: CampaignRatings, rater: str) -> list[str]:
    ratings = found.ratings
    codes = ratings.codes[:, ratings.rater_index(rater)]
    return ["-" if code < 0 else ratings.labels[code] for code in codes]


def reasons(found: CampaignRatings) -> dict[str, int]:
    return {each.reason: each.n for each in found.ratings.excluded}


def report(*words: object) -> dict[str, Any]:
    out = StringIO()
    call_command("agreement", *map(str, words), "--json", "--resamples", "50", stdout=out)
    found = json.loads(out.getvalue())
    assert isinstance(found, dict)
    return found


def test_judge_and_people_are_raters_of_outcomes_in_projects():
    found = campaign_ratings(marked_by("ann", "bob", fails={"bob": {0: Mark.FAIL}}))

    ratings = found.ratings
    assert (found.judges, found.people) == ((JUDGE,), ("ann", "bob"))
    assert ratings.labels == ("fail", "pass")
    assert (ratings.n_units, ratings.n_clusters, ratings.is_clustered) == (8, 2, True)
    assert said(found, JUDGE) == ["pass", "pass", "fail", "pass"] * 2
    assert said(found, "ann") == ["pass"] * 8
    assert said(found, "bob") == ["fail", "pass", "pass", "pass"] * 2
    assert ratings.kinds == ("presence", "presence", "functionality", "functionality") * 2
    assert set(found.agents) == {"heron"}
    assert all("heron" not in unit for unit in ratings.units)
    assert ratings.are_labels_declared


def test_two_code_agents_on_one_task_are_one_cluster():
    benchmark = campaigns.benchmark(tasks=1, criteria=1)
    runs = [campaigns.run(benchmark, agent=agent) for agent in ("heron", "ibis")]
    campaign = campaigns.planned(*runs, annotators=[campaigns.person("ann")])
    for each in sets_of(campaign):
        mark_all(each)

    found = campaign_ratings(campaign)

    assert sorted(set(found.agents)) == ["heron", "ibis"]
    assert found.ratings.n_clusters == 1


def test_environment_problems_open_sets_and_sets_taken_back_are_left_out_with_counts():
    campaign = marked_by("ann", "bob", "cleo", tasks=1)
    bobs = campaign.assignments.get(annotator__username="bob")
    campaign.assignments.filter(pk=bobs.pk).update(state="open")
    cleos = campaign.assignments.get(annotator__username="cleo")
    campaign.assignments.filter(pk=cleos.pk).update(state="expired")
    anns = campaign.assignments.get(annotator__username="ann")
    campaign.assignments.filter(pk=anns.pk).update(state="open")
    flag(anns.annotations.select_related("assignment__campaign").order_by("item__position")[0])
    campaign.assignments.filter(pk=anns.pk).update(state="submitted")

    found = campaign_ratings(campaign)

    assert found.people == ("ann",)
    assert said(found, "ann") == ["-", "pass", "pass", "pass"]
    assert reasons(found) == {
        "an environment problem kept a person from judging": 1,
        "the set is not handed in": 4,
        "the set was taken back": 4,
    }


def test_outcomes_that_the_judge_skipped_or_could_not_judge_are_left_out_with_counts():
    run = campaigns.run(
        campaigns.benchmark(tasks=1),
        rounds=[{"c1": (Mark.ERROR, Mark.PASS), "c2": (Mark.SKIPPED, Mark.SKIPPED)}],
    )
    campaign = campaigns.planned(run, annotators=[campaigns.person("ann")], only_executed=False)
    for each in sets_of(campaign):
        mark_all(each)

    found = campaign_ratings(campaign)

    assert said(found, JUDGE) == ["pass", "pass", "-", "pass", "-", "-"]
    assert reasons(found) == {
        f"{JUDGE} could not judge it": 1,
        f"{JUDGE} skipped it: a prerequisite is unsatisfied": 2,
    }


def test_marks_after_a_reveal_are_left_out_of_a_blind_campaign():
    campaign = marked_by("ann", tasks=1)
    campaign.assignments.update(revealed_at=timezone.now())
    later = Annotation.objects.filter(assignment__campaign=campaign).order_by("item__position")[:2]
    Annotation.objects.filter(pk__in=[row.pk for row in later]).update(saved_at=timezone.now())

    found = campaign_ratings(campaign)

    assert said(found, "ann") == ["-", "-", "pass", "pass"]
    assert reasons(found) == {"marked after the judge's verdict was revealed": 2}


def test_calibration_items_are_left_out_for_judges_too():
    campaign = marked_by("ann", tasks=1)
    item = campaign.items.order_by("position")[0]
    campaign.items.filter(pk=item.pk).update(known_mark=Mark.FAIL)

    found = campaign_ratings(campaign)

    assert found.ratings.n_units == 3
    assert reasons(found) == {"a calibration item, whose right mark is known": 1}


def test_another_judging_is_another_rater_and_a_refuter_has_the_last_word():
    campaign = marked_by("ann", tasks=1)
    round_ = Round.objects.get(items__campaign=campaign, items__position=0)
    outcome = campaign.items.order_by("position")[0].outcome
    assert outcome is not None
    second = Judging.objects.create(round=round_, judge="planned", settings_hash="0" * 64, vote=2)
    other = Judging.objects.create(round=round_, judge="planned", settings_hash="1" * 64)
    for judging in (second, other):
        Verdict.objects.create(judging=judging, outcome=outcome, mark=Mark.PASS, role=Role.PRIMARY)
    Verdict.objects.create(judging=other, outcome=outcome, mark=Mark.FAIL, role=Role.REFUTED)

    found = campaign_ratings(campaign)

    first = "judge:planned, settings 1"
    assert set(found.judges) == {first, f"{first}, vote 2", "judge:planned, settings 2"}
    assert said(found, f"{first}, vote 2") == ["pass", "-", "-", "-"]
    assert said(found, "judge:planned, settings 2") == ["fail", "-", "-", "-"]


def test_people_as_one_are_their_majority_unless_somebody_settled_it():
    fails = {"ann": {0: Mark.FAIL}, "bob": {0: Mark.FAIL, 1: Mark.FAIL}}
    campaign = marked_by("ann", "bob", "cleo", fails=fails, tasks=1)
    second = campaign.items.order_by("position")[1]
    decision = Decision(mark=Mark.FAIL, note="It is not there.")
    adjudication.adjudicate(second, decision, by=campaigns.lead("chief"))

    found = campaign_ratings(campaign, whose=Whose.PEOPLE_AS_ONE)

    assert (found.people, found.judges) == ((PEOPLE,), (JUDGE,))
    assert said(found, PEOPLE) == ["fail", "fail", "pass", "pass"]


def test_people_who_are_divided_have_no_mark_together_and_are_counted():
    campaign = marked_by("ann", "bob", fails={"bob": {0: Mark.FAIL}}, tasks=1)

    found = campaign_ratings(campaign, whose=Whose.PEOPLE_AS_ONE)

    assert said(found, PEOPLE) == ["-", "pass", "pass", "pass"]
    assert reasons(found) == {"people are divided and nobody has settled it": 1}


def test_a_scale_gives_scores_of_people():
    campaign = campaigns.rated(annotators=campaigns.people(2), overlap=2)
    for place, row in enumerate(Annotation.objects.filter(item__scale="design").order_by("pk")):
        Annotation.objects.filter(pk=row.pk).update(score=60 + 5 * place)
    for place, assignment in enumerate(campaign.assignments.order_by("pk")):
        person = campaign.annotators.order_by("pk")[place % 2]
        campaign.assignments.filter(pk=assignment.pk).update(state="submitted", annotator=person)

    found = campaign_ratings(campaign, scale="design")

    assert found.ratings.numbers is not None
    assert sorted(found.ratings.scores.ravel().tolist()) == [60, 65, 70, 75]
    assert found.ratings.n_units == 2
    with pytest.raises(RatingsError, match="has the scales semantic, design; name one of them"):
        campaign_ratings(campaign)
    with pytest.raises(RatingsError, match="not 'beauty'"):
        campaign_ratings(campaign, scale="beauty")


def test_a_campaign_of_marks_has_no_scale_and_one_without_marks_nothing_to_compare():
    with pytest.raises(RatingsError, match="asks for marks, not for ratings"):
        campaign_ratings(marked_by("ann"), scale="design")
    with pytest.raises(RatingsError, match="Nothing was handed in or judged"):
        campaign_ratings(campaigns.campaign())


def test_the_number_of_queries_does_not_grow_with_items(django_assert_max_num_queries):
    campaign = marked_by("ann", "bob", tasks=3)

    with django_assert_max_num_queries(7):
        campaign_ratings(campaign, whose=Whose.PEOPLE_AS_ONE)


def test_the_door_compares_judges_with_people_as_one_and_shows_the_human_ceiling():
    campaign = marked_by("ann", "bob", fails={"bob": {0: Mark.FAIL}})

    found = report("--campaign", campaign.pk)

    assert found["gold"] == PEOPLE
    assert list(found["pairs"]) == [f"{PEOPLE}|{JUDGE}"]
    # Divided on one outcome of each project; of the other six the judge failed two that people passed.
    assert found["pairs"][f"{PEOPLE}|{JUDGE}"]["confusion"] == {"tp": 4, "fp": 0, "fn": 2, "tn": 0}
    assert found["excluded"] == [{"reason": "people are divided and nobody has settled it", "n": 2}]
    assert found["human_ceiling"]["people"] == ["ann", "bob"]
    assert found["human_ceiling"]["human_human"]["po"]["value"] == pytest.approx(6 / 8)
    assert found["pairs"][f"{PEOPLE}|{JUDGE}"]["statistics"]["always_pass_accuracy"]["value"] == 1
    assert AuditEntry.objects.filter(act="export", subject=f"campaign:{campaign.pk}").exists()


def test_one_person_may_be_the_gold_rater_of_everybody():
    campaign = marked_by("ann", "bob", fails={"bob": {0: Mark.FAIL}})

    found = report("--campaign", campaign.pk, "--gold", "bob")

    assert set(found["pairs"]) == {f"bob|{JUDGE}", "bob|ann", f"{JUDGE}|ann"}
    assert found["pairs"]["bob|ann"]["confusion"] == {"tp": 6, "fp": 2, "fn": 0, "tn": 0}


def test_a_campaign_that_was_not_blind_says_so_first():
    campaign = marked_by("ann", is_blind=False)

    assert "was not blind" in report("--campaign", campaign.pk)["warnings"][0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--campaign", "999"), "There is no campaign '999'"),
        (("--campaign", "{campaign}", "--gold", "eve"), "No rater is called 'eve'"),
        (("--campaign", "{campaign}", "--labels", "a,b"), "A campaign knows its own labels"),
        (("--campaign", "{campaign}", "--scale", "design"), "leave out the scale"),
    ],
)
def test_bad_input_is_one_sentence(words, sentence):
    campaign = marked_by("ann", tasks=1)

    with pytest.raises(CommandError, match=sentence) as caught:
        call_command(
            "agreement",
            *(str(campaign.pk) if word == "{campaign}" else word for word in words),
            stdout=StringIO(),
        )

    assert caught.value.returncode == 2
