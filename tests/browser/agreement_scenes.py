"""Scenes for the agreement page: people and a judge who differ as people and judges do."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from annotation import opening
from annotation.designing import KnownAnswer
from annotation.drafting import set_known_answers
from annotation.models import Annotation, Assignment, Campaign
from annotation.vocabulary import Distribution, EnvironmentProblem, MarkSet, SampleMethod
from benchmark.rules.vocabulary import Mark
from runs.models import Round, Run, Verdict
from tests.browser import campaign_stage, stage_set
from tests.browser.person import NAME

AGENTS = ("heron-2", "marlin-xl", "quill-34b", "tern-9b")
PROJECTS = (
    "seed-library", "tool-loan", "bread-log", "tide-table", "corner-shop", "score-atlas", "shift-planner",
    "bee-diary", "ferry-queue", "choir-sheets", "allotment-map", "bike-kitchen", "harvest-swap", "rain-gauge",
    "lamp-rota", "village-radio", "walk-finder", "post-office", "parish-archive", "pond-survey", "jam-stall",
    "bus-shelter", "film-night", "orchard-book",
)  # fmt: skip
NOTES = {
    Mark.FAIL: (
        "A sixth packet goes in without a word.",
        "The count stays at 4 after I borrowed one.",
        "Nothing happens when I press the button on a narrow window.",
    ),
    Mark.PARTIAL: (
        "The message is out of sight until one scrolls back up to the basket.",
        "It refuses, but does not say why.",
    ),
    Mark.PASS: ("I see it.", ""),
}


def compared(
    *,
    projects: int = 24,
    agents: int = 4,
    marks: str = "three",
    size: int = 17,
    seed: int = 7,
    is_blind: bool = True,
) -> dict[str, Any]:
    """A closed campaign: a judge that is kind to failures, and people of whom two mark each third trial."""
    luck = Random(seed)  # the same scene each time
    of = stage_set.benchmark(f"village-{Campaign.objects.count()}", tasks=PROJECTS[:projects])
    runs = [_judged(of, agent, luck, projects=projects) for agent in AGENTS[:agents]]
    made = Campaign.objects.create(
        name="Village study, May",
        mark_set=MarkSet(marks),
        method=SampleMethod.PER_PROJECT,
        sample_size=size,
        seed=seed,
        overlap=2,
        overlap_share=0.34,
        distribution=Distribution.PLANNED,
        is_blind=is_blind,
    )
    made.runs.set(runs)
    made.annotators.set(campaign_stage.annotators())
    known = [
        KnownAnswer(round=verdict.judging.round_id, outcome=verdict.outcome_id, mark=Mark.PASS)
        for verdict in Verdict.objects.filter(judging__round__trial__run__in=runs, mark=Mark.PASS)
        .select_related("judging")
        .order_by("judging", "pk")[:: max(1, projects * agents)]
    ]
    set_known_answers(made, known)
    opening.open_campaign(made, by=User.objects.get(username=NAME))
    _mark(made, luck, hand_in=True)
    Campaign.objects.filter(pk=made.pk).update(state="closed", closed_at=timezone.now())
    return {"campaign": made.pk}


def not_handed_in() -> dict[str, Any]:
    """An open campaign in which nobody has handed in a set."""
    made = campaign_stage.queue_of_sets(
        list(Run.objects.filter(state="finished").order_by("pk")[:1]),
        campaign_stage.annotators(),
        by=User.objects.get(username=NAME),
    )
    return {"campaign": made.pk}


def scored(*, projects: int = 16, seed: int = 5) -> dict[str, Any]:
    """A campaign in which three people rate the same applications."""
    luck = Random(seed)  # the same scene each time
    of = stage_set.benchmark(f"rated-{Campaign.objects.count()}", tasks=PROJECTS[:projects])
    runs = [_judged(of, agent, luck, projects=projects) for agent in AGENTS[:2]]
    scales = [
        {
            "key": "design",
            "title": "Design",
            "definition": "How well made is it?",
            "minimum": 0,
            "maximum": 100,
        },
        {
            "key": "meaning",
            "title": "Meaning",
            "definition": "Does it do what was asked?",
            "minimum": 0,
            "maximum": 100,
        },
    ]
    made = Campaign.objects.create(
        name="Ratings of design", mark_set=MarkSet.SCALES, scales=scales, seed=seed, overlap=3,
        distribution=Distribution.PLANNED,
    )  # fmt: skip
    made.runs.set(runs)
    made.annotators.set(campaign_stage.annotators())
    opening.open_campaign(made, by=User.objects.get(username=NAME))
    truth = {item: luck.gauss(62, 17) for item in made.items.order_by("pk").values_list("pk", flat=True)}
    kindness = {pk: luck.gauss(0, 6) for pk in made.annotators.order_by("pk").values_list("pk", flat=True)}
    rows = list(
        Annotation.objects.filter(assignment__campaign=made).select_related("assignment").order_by("pk")
    )
    for row in rows:
        person = row.assignment.annotator_id
        assert person is not None
        row.score = float(min(100, max(0, round(truth[row.item_id] + kindness[person] + luck.gauss(0, 8)))))
        row.saved_at = timezone.now()
    Annotation.objects.bulk_update(rows, ["score", "saved_at"], batch_size=500)
    _hand_in(made)
    return {"campaign": made.pk}


def _judged(of: Any, agent: str, luck: Random, *, projects: int) -> Run:
    made = stage_set.run(of, agent=agent)
    share = {"heron-2": 0.96, "marlin-xl": 0.93, "quill-34b": 0.9, "tern-9b": 0.82}[agent]
    for key in PROJECTS[:projects]:
        letters = "".join("p" if luck.random() < share else luck.choice("af") for _ in stage_set.RUBRIC)
        stage_set.trial(made, key, [letters])
    return made


def _mark(made: Campaign, luck: Random, *, hand_in: bool) -> None:
    """People pass what the judge passed, mostly; a lenient judge's passes fail more often for some agents."""
    now = timezone.now()
    truth: dict[int, Mark] = {}
    agent_of = dict(
        Round.objects.filter(items__campaign=made).values_list("pk", "trial__run__code_agent_label")
    )
    is_three = made.mark_set == MarkSet.THREE
    rows = list(
        Annotation.objects.filter(assignment__campaign=made)
        .select_related("item", "assignment")
        .order_by("pk")
    )
    for place, row in enumerate(rows):
        item = row.item
        if item.pk not in truth:
            truth[item.pk] = _truth(item.judge_mark, agent_of[item.round_id], luck, is_three=is_three)
        mark = truth[item.pk]
        if item.known_mark:
            mark = Mark(item.known_mark) if luck.random() < 0.9 - 0.25 * place / len(rows) else Mark.FAIL
        elif luck.random() < 0.05:
            mark = Mark.PASS if mark is not Mark.PASS else Mark.PARTIAL if is_three else Mark.FAIL
        row.mark, row.note = mark, luck.choice(NOTES[mark])
        if luck.random() < 0.015:
            row.mark, row.problem, row.note = Mark.ERROR, EnvironmentProblem.DIED, None
        row.saved_at = now - timedelta(days=20) + timedelta(days=19) * (place / len(rows))
    Annotation.objects.bulk_update(rows, ["mark", "note", "problem", "saved_at"], batch_size=500)
    if hand_in:
        _hand_in(made)


def _truth(judge: str, agent: str, luck: Random, *, is_three: bool) -> Mark:
    too_kind = {"heron-2": 0.03, "marlin-xl": 0.04, "quill-34b": 0.06, "tern-9b": 0.09}[agent]
    if judge == Mark.PASS:
        if luck.random() > too_kind:
            return Mark.PASS
        return Mark.PARTIAL if is_three and luck.random() < 0.5 else Mark.FAIL
    return (
        Mark.PASS if luck.random() < 0.45 else Mark.PARTIAL if is_three and luck.random() < 0.4 else Mark.FAIL
    )


def _hand_in(made: Campaign) -> None:
    Assignment.objects.filter(campaign=made).update(
        state="submitted", submitted_at=timezone.now(), lease_until=None, taken_at=timezone.now()
    )
