"""The agreement page of a campaign: what it says, to whom, and at what price."""

from __future__ import annotations

import json

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation import adjudication
from annotation.agreement.corrected_basis import Target
from annotation.agreement.values import Reason, Value
from annotation.models import Annotation, Item
from annotation.reports.campaign_agreement import campaign_report, read_marks, report_of
from annotation.reports.campaign_corrected import corrected_runs, judged_outcomes
from annotation.reports.campaign_findings import Folding, content_key
from annotation.vocabulary import MarkSet, SampleMethod
from benchmark.rules.vocabulary import Mark, Role
from people.models import AuditEntry
from runs.models import Judging, Verdict
from tests import campaigns
from tests.annotation.seats import flag, mark_all, queries, seat, sets_of

pytestmark = pytest.mark.django_db
KEY = "people|judge:planned"


@pytest.fixture(autouse=True)
def nothing_is_kept():
    cache.clear()


@pytest.fixture
def client():
    return seat(campaigns.lead("the-lead"))


def compared(*, tasks: int = 3, agents: int = 1, people: int = 2, note: str = "I see it.", **settings):
    """A campaign whose judge fails c1.0; the second person agrees, the first passes everything but c0.0."""
    of = campaigns.benchmark(tasks=tasks, criteria=3)
    runs = [
        campaigns.run(of, agent=f"agent-{number}", rounds=[{"c1": (Mark.FAIL, Mark.PASS)}])
        for number in range(1, agents + 1)
    ]
    campaign = campaigns.planned(
        *runs, annotators=campaigns.people(people), overlap=people, **({"is_blind": True} | settings)
    )
    for each in sets_of(campaign):
        is_second = each.annotator_id == max(campaign.annotators.values_list("pk", flat=True))
        mark_all(each, others={2: Mark.FAIL} if is_second and people > 1 else {0: Mark.FAIL}, note=note)
    return campaign


def address(campaign, query: str = "") -> str:
    return reverse("annotation:agreement", args=[campaign.pk]) + query


def test_the_figures_on_top_are_those_of_the_report(client):
    campaign = compared(people=1)

    stats = {stat.name: stat for stat in client.get(address(campaign)).context["stats"]}

    # A person passes all of 18 but c0.0 of each of 3 projects; the judge fails c1.0: 12 of 18 agree.
    found = campaign_report(campaign).pairs[0].statistics
    assert stats["accuracy"].value == "66.7%"
    assert stats["always"].value == "83.3%"
    assert stats["prevalence"].under == ("15 of 18, by people",)
    assert stats["specificity"].value == "0.0%"
    kappa = found["cohen_kappa"]
    assert isinstance(kappa, Value)
    assert stats["kappa"].value == f"{kappa.value:.2f}".replace("-", "−")


def test_accuracy_is_never_alone_and_a_baseline_that_beats_the_judge_is_said_first(client):
    campaign = compared(people=1)

    answer = client.get(address(campaign))

    assert "High accuracy, little evidence." in answer.text
    assert "would agree in 83.3%, which is more than this judge&#x27;s 66.7%" in answer.text
    assert "Only 3 outcomes of 18 did not pass, and the judge found 0 of them." in answer.text


def test_a_judge_that_always_agrees_is_not_warned_of_in_vain(client):
    campaign = compared(people=1)
    for each in Annotation.objects.filter(assignment__campaign=campaign).select_related("item"):
        Annotation.objects.filter(pk=each.pk).update(mark=each.item.judge_mark)

    answer = client.get(address(campaign))

    assert answer.context["headline"] == ""
    assert "High accuracy" not in answer.text


def test_few_projects_show_the_jackknife_beside_the_bootstrap_and_the_caption_says_so(client):
    answer = client.get(address(compared()))

    accuracy = next(stat for stat in answer.context["stats"] if stat.name == "accuracy")
    assert "bootstrap over 3 projects, 2,000 resamples, seed" in answer.context["caption"]
    assert "jackknife" in answer.context["caption"]
    assert len(answer.context["forest"]) == 3
    assert accuracy.under[0]


def test_the_table_of_counts_leads_to_the_outcomes_of_each_cell(client):
    campaign = compared(people=1)

    counts = client.get(address(campaign)).context["counts"]
    cells = {(cell.people, cell.judge): cell for row in counts.rows for cell in row.cells}
    answer = client.get(address(campaign, "?people=pass&said=fail"))

    assert cells["pass", "fail"].count == "3"
    assert "?people=pass&amp;said=fail#outcomes" in client.get(address(campaign)).text
    rows = answer.context["outcomes"].rows
    assert [(row.people, row.judge) for row in rows] == [("pass", "fail")] * 3
    assert {row.item.outcome.criterion.key for row in rows} == {"c1"}


def test_disagreements_are_listed_with_both_notes_and_evidence(client):
    campaign = compared(people=1, note="<script>alert(1)</script> kaputt")

    answer = client.get(address(campaign, "?show=too-strict"))

    assert answer.context["outcomes"].total == 3
    row = answer.context["outcomes"].rows[0]
    assert row.annotations[0].note == "<script>alert(1)</script> kaputt"
    assert row.verdict.mark == "fail"
    assert len(row.pictures) == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt; kaputt" in answer.text
    assert "<script>alert(1)" not in answer.text


def test_groups_by_agent_kind_and_project_add_up_and_lead_to_their_disagreements(client):
    campaign = compared(agents=2, people=1)

    for by, names in (
        ("agent", ["agent-1", "agent-2"]),
        ("kind", ["functionality", "presence", "robustness"]),
        ("project", ["t1", "t2", "t3"]),
    ):
        groups = client.get(address(campaign, f"?by={by}")).context["groups"]
        assert [row["group"].name for row in groups] == names
        assert sum(row["group"].n for row in groups) == 36
        listed = client.get(address(campaign, f"?by={by}&group={names[0]}"))
        group = groups[0]["group"]
        assert listed.context["outcomes"].total == group.too_kind + group.too_strict


def test_a_list_of_outcomes_goes_on_after_the_last_one_and_holds_each_once(client):
    campaign = compared(tasks=4, people=1)
    path, seen = address(campaign, "?show=all"), []

    while path:
        context = client.get(path).context
        seen += [row.item.pk for row in context["outcomes"].rows]
        path = address(campaign, context["next_page"].partition("#")[0]) if context["next_page"] else ""

    assert seen == sorted(Item.objects.filter(campaign=campaign).values_list("pk", flat=True))


def test_partial_counts_as_fail_as_pass_or_as_a_mark_of_its_own(client):
    campaign = compared(people=1, mark_set=MarkSet.THREE)
    # On c0.0, which the judge passes, each person now says partial.
    Annotation.objects.filter(assignment__campaign=campaign, mark="fail").update(mark="partial")

    def shown(partial: str):
        context = client.get(address(campaign, f"?partial={partial}")).context
        return context["stats"][0].value, context["stats"][1].value, len(context["counts"].marks)

    # The judge fails c1.0 of each of the 3 projects, which people pass: 3 of 18 differ whatever partial is.
    assert shown("fail") == ("66.7%", "83.3%", 2)
    assert shown("pass") == ("83.3%", "100.0%", 2)
    assert shown("three") == ("66.7%", "83.3%", 3)


def test_a_campaign_of_two_marks_offers_no_folding(client):
    assert "What Partial counts as" not in client.get(address(compared())).text


def test_what_was_adjudicated_counts_for_people(client):
    campaign = compared(people=2)
    before = client.get(address(campaign)).context["n"]
    divided = Item.objects.filter(campaign=campaign, outcome__criterion__key="c0", outcome__index=0)
    decided = adjudication.decision(campaign, divided[0], mark="pass", score="", note="", seen="0")
    adjudication.adjudicate(divided[0], decided, by=campaigns.lead())

    after = client.get(address(campaign))

    # c0.0 and c1.0 are divided in each of 3 projects; one of them is settled now.
    assert (before, after.context["n"]) == ("12", "13")
    assert "People are divided and nobody has settled it" in after.text


def test_several_judges_are_picked_from_and_stand_beside_each_other(client):
    campaign = compared(people=1)
    for first in Judging.objects.filter(round__items__campaign=campaign).distinct():
        second = Judging.objects.create(round=first.round, judge="second-look", settings_hash="1" * 64)
        Verdict.objects.bulk_create(
            Verdict(
                judging=second, outcome_id=outcome, mark=Mark.PASS, role=Role.PRIMARY, rationale="Looks fine."
            )
            for outcome in first.verdicts.values_list("outcome", flat=True)
        )

    answer = client.get(address(campaign, "?judge=judge:second-look"))

    assert "Judge second-look against people" in answer.text
    assert [row["name"] for row in answer.context["judge_rows"]] == ["Judge planned", "Judge second-look"]
    assert answer.context["stats"][0].value == "83.3%"
    assert {row.verdict.rationale for row in answer.context["outcomes"].rows} == {"Looks fine."}


def test_what_is_left_out_is_counted_with_its_reason(client):
    campaign = compared(people=1)
    row = Annotation.objects.filter(assignment__campaign=campaign).select_related("assignment__campaign")[0]
    campaign.assignments.filter(pk=row.assignment_id).update(state="open")
    row.assignment.refresh_from_db()
    flag(row)
    campaign.assignments.filter(pk=row.assignment_id).update(state="submitted")

    answer = client.get(address(campaign))

    assert answer.context["n"] == "17"
    assert "An environment problem kept a person from judging" in answer.text


def test_people_alone_are_compared_with_each_other_where_ratings_are_asked(client):
    campaign = campaigns.rated(
        campaigns.run(campaigns.benchmark(tasks=6)), annotators=campaigns.people(2), overlap=2
    )
    for place, row in enumerate(
        Annotation.objects.filter(assignment__campaign=campaign).order_by("item", "pk")
    ):
        Annotation.objects.filter(pk=row.pk).update(score=20 + 5 * (place // 2) + 3 * (place % 2))
    campaign.assignments.update(state="submitted", annotator=None, rater="")
    for place, assignment in enumerate(campaign.assignments.order_by("round", "copy")):
        campaign.assignments.filter(pk=assignment.pk).update(rater=("ann", "ben")[place % 2])

    answer = client.get(address(campaign, "?scale=design"))

    assert "People among themselves" in answer.text
    assert [stat.label for stat in answer.context["stats"]][:2] == ["ICC(A,1)", "ICC(C,1)"]
    assert [(row["row"].first, row["row"].second, row["row"].n) for row in answer.context["pairs"]] == [
        ("ann", "ben", 6)
    ]
    assert (
        "ben gives 3.0 more on average; 95% of differences lie between 3.0 and 3.0."
        in answer.context["scatter"][0].words
    )


def test_drift_on_known_answers_is_drawn_where_there_are_any(client):
    campaign = compared(people=1)
    assert client.get(address(campaign)).context["drift"] == []

    Item.objects.filter(campaign=campaign, position=0).update(known_mark="pass")
    answer = client.get(address(campaign))

    assert "Share of known answers marked right over time" in answer.context["drift"][0].words
    assert answer.context["n"] == "15"


def test_nothing_handed_in_says_how_much_is_assigned(client):
    campaign = campaigns.planned(campaigns.run(campaigns.benchmark(tasks=2)), annotators=campaigns.people(1))

    answer = client.get(address(campaign))

    assert answer.status_code == 200
    assert "Nobody has handed in yet" in answer.text
    assert "12 marks are assigned" in answer.text


def test_corrected_pass_rates_are_the_ones_of_the_pure_code_and_of_every_agent(client):
    campaign = compared(agents=2, people=1, method=SampleMethod.PER_PROJECT, sample_size=8, seed=1)

    answer = client.get(address(campaign))

    outcomes = judged_outcomes(campaign, read_marks(campaign), Folding.FAIL)
    assert outcomes is not None
    # Every judged outcome of both runs, of which 8 of each of 3 projects were drawn.
    assert (outcomes.sample.judge.size, int(outcomes.sample.labelled.sum())) == (36, 24)
    assert float(outcomes.sample.judge.mean()) == pytest.approx(30 / 36)
    found = corrected_runs(outcomes)
    rows = answer.context["corrected"]
    assert [row["name"] for row in rows][:1] == ["All agents"]
    assert {row["name"] for row in rows[1:]} == {"agent-1", "agent-2"}
    assert isinstance(found.all.raw, Value)
    assert rows[0]["figures"][0]["value"] == "83.3%"
    over_projects, per_project, completed = answer.context["corrected_others"]
    # Every project has as many outcomes, so the mean over projects is the share of all.
    assert per_project["figures"][0]["value"] == "83.3%"
    # The target moves the interval alone; and too few projects were labelled whole.
    assert over_projects["figures"][1]["value"] == rows[0]["figures"][1]["value"]
    assert found.over_projects.target is Target.PROJECTS
    assert completed["reason"] == Reason.NOT_LABELLED_WHOLE.sentence
    assert sum(each.labelled for each in answer.context["following"]) == 24
    assert 0 < sum(each.more for each in answer.context["following"]) <= 12


def test_completed_projects_are_corrected_where_people_marked_enough_of_them_whole(client):
    campaign = compared(tasks=6, agents=2, people=1)

    *_, completed = client.get(address(campaign)).context["corrected_others"]

    # Each of the twelve has a failed outcome, by the judge's marks and by people's.
    assert [cell["value"] for cell in completed["figures"][:2]] == ["0.0%", "0.0%"]


def test_a_new_mark_is_seen_at_once_and_the_same_marks_are_not_computed_again(client, monkeypatch):
    campaign = compared(people=1)
    computed = []

    def counted(*args, **more):
        computed.append(args)
        return report_of(*args, **more)

    monkeypatch.setattr("annotation.reports.campaign_findings.report_of", counted)

    first = client.get(address(campaign)).context["stats"][0].value
    again = client.get(address(campaign)).context["stats"][0].value
    key = content_key(campaign, read_marks(campaign))
    Annotation.objects.filter(assignment__campaign=campaign, mark="fail").update(mark="pass")
    after = client.get(address(campaign)).context["stats"][0].value

    assert (first, again, after) == ("66.7%", "66.7%", "83.3%")
    assert len(computed) == 2
    assert key != content_key(campaign, read_marks(campaign))


def test_the_page_takes_as_many_queries_for_a_large_campaign_as_for_a_small_one(client):
    small, large = compared(tasks=2, people=1), compared(tasks=5, agents=2, people=1)

    taken = [queries(client, address(each)) for each in (small, large)]

    assert taken[0] == taken[1]
    assert taken[0] <= 50


def test_programs_get_the_document_of_the_command(client):
    campaign = compared()

    answer = client.get(f"/api/v1/campaigns/{campaign.pk}/agreement")

    assert answer.status_code == 200
    assert answer.json() == json.loads(json.dumps(campaign_report(campaign).document()))
    assert {"accuracy", "always_pass_accuracy", "cohen_kappa", "gwet_ac1"} <= set(
        answer.json()["pairs"][KEY]["statistics"]
    )


def test_programs_are_told_in_a_sentence_that_nothing_is_marked(client):
    campaign = campaigns.rated()

    answer = client.get(f"/api/v1/campaigns/{campaign.pk}/agreement")

    assert answer.status_code == 409
    assert "name one of them" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("file", "begins"),
    [
        ("statistics.csv", "scope,first,second"),
        ("agreement.json", "{"),
        ("confusion.svg", "<svg xmlns"),
        ("forest.svg", "<svg xmlns"),
        ("corrected.svg", "<svg xmlns"),
        ("statistics.tex", ""),
    ],
)
def test_files_of_the_page_are_downloads_and_are_written_down(client, file, begins):
    campaign = compared()
    name, _, extension = file.partition(".")

    answer = client.get(reverse("annotation:agreement_file", args=[campaign.pk, name, extension]))

    assert answer.status_code == 200
    assert answer.text.lstrip("\ufeff").startswith(begins)
    assert answer["Content-Disposition"] == f'attachment; filename="campaign-{campaign.pk}-{file}"'
    assert AuditEntry.objects.filter(act="export", subject=f"campaign:{campaign.pk}").count() == 1


def test_a_file_that_does_not_exist_is_404(client):
    campaign = compared()

    assert (
        client.get(reverse("annotation:agreement_file", args=[campaign.pk, "forest", "exe"])).status_code
        == 404
    )
    assert (
        client.get(reverse("annotation:agreement_file", args=[campaign.pk, "statistics", "svg"])).status_code
        == 404
    )


def test_a_lead_who_still_marks_blind_is_refused_with_the_way_out():
    lead = campaigns.lead("both")
    campaign = campaigns.planned(annotators=[lead, *campaigns.people(1)], overlap=2)
    client = seat(lead)

    for path in (
        address(campaign),
        reverse("annotation:agreement_file", args=[campaign.pk, "agreement", "json"]),
        f"/api/v1/campaigns/{campaign.pk}/agreement",
    ):
        answer = client.get(path)
        assert answer.status_code == 403
        assert "blind and open" in answer.text


def test_the_door_lists_campaigns_for_leads_and_hides_those_a_lead_marks_blind():
    lead = campaigns.lead("both")
    campaigns.planned(annotators=[lead, *campaigns.people(1)], overlap=2, name="Mine, blind")
    other = compared(people=1, name="Open to me")
    draft = campaigns.campaign(name="Not opened")

    page = seat(lead).get(reverse("annotation:agreements")).text
    reader = seat(campaigns.person("a-reader")).get(reverse("annotation:agreements")).text

    assert "hidden while you mark blind" in page
    assert address(other) in page
    assert draft.name not in page
    assert "Open to me" not in reader
    assert "Plan a study" in reader
