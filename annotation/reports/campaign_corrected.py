"""A campaign's runs as people would have found them: the judge's pass rates corrected by what people labelled."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from annotation.agreement.corrected import Corrected, corrected, corrected_by_agent
from annotation.agreement.corrected_basis import Target
from annotation.agreement.judge_error_by_agent import ErrorTest, JudgeError, error_by_agent
from annotation.agreement.judged_sample import JudgedSample, all_passed, shares_within
from annotation.agreement.label_next import Stratum, label_next
from annotation.agreement.ratings import MISSING
from annotation.agreement.values import Reason, Undefined
from annotation.candidates import find
from annotation.designing import sample_plan, settings_of
from annotation.models import Campaign, Item
from annotation.reports.campaign_agreement import CampaignMarks
from annotation.reports.campaign_findings import Folding
from annotation.reports.campaign_ratings import PEOPLE
from annotation.sampling import stratum_of
from benchmark.rules.vocabulary import Mark

BUDGET = 50
"""How many more outcomes the page proposes to label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStratum:
    """Outcomes of one code agent that the judge marks alike, and how many more of them to label."""

    agent: str
    mark: str
    outcomes: int
    labelled: int
    wrong: int
    more: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectedRuns:
    """The pass rate of all code agents together and of each, whether the judge's error differs, and what to label next.

    `all` and `by_agent` are about these runs, `over_projects` has the same figure of all agents for projects like
    these, `per_project` the mean of projects' pass rates, as papers print it. `completed` is the share of projects (one code agent's round at one task) whose outcomes all passed.
    """

    all: Corrected
    by_agent: Mapping[str, Corrected]
    over_projects: Corrected
    per_project: Corrected
    completed: Corrected | Undefined
    tests: tuple[ErrorTest | Undefined, ...]
    following: tuple[NextStratum, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedOutcomes:
    """Every outcome that could have been drawn, as the judge marked it, with people's marks where there are any.

    `rounds` names the round of each. `is_whole` is false where the judge skipped or could not judge some outcome
    of these rounds: then nobody knows whether its project passes whole.
    """

    sample: JudgedSample
    marks: tuple[str, ...]
    rounds: tuple[int, ...]
    is_whole: bool

    @property
    def key(self) -> str:
        """A name for exactly these marks."""
        sample = self.sample
        digest = hashlib.sha256(repr((self.marks, sample.agents, self.rounds, self.is_whole)).encode())
        for column in (sample.judge, sample.gold, sample.cluster, sample.stratum, sample.agent):
            digest.update(column.tobytes())
        return digest.hexdigest()


def judged_outcomes(campaign: Campaign, marks: CampaignMarks, folding: Folding) -> JudgedOutcomes | None:
    """Return the outcomes a campaign was drawn from; None where no judge marked any, or nobody labelled one.

    Partial counts as `folding` says: nothing, all, or half a pass. Marks of drawn outcomes are those of the
    opening, the others' are those of now. What the judge skipped or could not judge is not among them.
    """
    if marks.as_one is None:
        return None
    plan = sample_plan(settings_of(campaign))
    runs = list(campaign.runs.order_by("pk").values_list("pk", flat=True))
    found = find(runs, tasks=campaign.tasks, numbers=campaign.rounds)
    frozen = {
        (round_, outcome): (pk, mark)
        for pk, round_, outcome, mark in Item.objects.filter(campaign=campaign, outcome__isnull=False)
        .order_by()
        .values_list("pk", "round_id", "outcome_id", "judge_mark")
    }
    given = _marks_of_people(marks)
    credit = {Mark.FAIL: 0.0, Mark.PARTIAL: _PARTIAL[folding], Mark.PASS: 1.0}
    rows = []
    for candidate in found.outcomes:
        assert candidate.outcome is not None
        item, mark = frozen.get((candidate.round, candidate.outcome), (0, ""))
        said = Mark(mark) if mark else candidate.mark
        if said is not None and said in credit:
            person = given.get(item)
            gold = credit[Mark(person)] if person is not None else np.nan
            # Drawn by the mark of the opening, whatever the judge says now.
            stratum = stratum_of(plan)(replace(candidate, mark=said))
            rows.append(
                (credit[said], gold, candidate.project, stratum, candidate.agent, said, candidate.round)
            )
    if not rows or all(np.isnan(row[1]) for row in rows):
        return None
    judge, gold_marks, projects, strata, agents, said_marks, rounds = zip(*rows, strict=True)
    sample = JudgedSample.of(judge=judge, gold=gold_marks, cluster=projects, stratum=strata, agent=agents)
    return JudgedOutcomes(
        sample=sample,
        marks=tuple(mark.value for mark in said_marks),
        rounds=rounds,
        is_whole=len(rows) == len(found.outcomes),
    )


def corrected_runs(outcomes: JudgedOutcomes) -> CorrectedRuns:
    """Return the judge's pass rates corrected, over all code agents and of each."""
    sample = outcomes.sample
    return CorrectedRuns(
        all=corrected(sample),
        by_agent=corrected_by_agent(sample),
        over_projects=corrected(sample, target=Target.PROJECTS),
        per_project=corrected(replace(sample, weight=shares_within(sample.weight, outcomes.rounds))),
        completed=_completed(outcomes),
        tests=tuple(error_by_agent(sample, error) for error in JudgeError),
        following=_following(outcomes),
    )


def _completed(outcomes: JudgedOutcomes) -> Corrected | Undefined:
    if not outcomes.is_whole:
        return Undefined(Reason.NEVER_DRAWN)
    projects = all_passed(outcomes.sample, outcomes.rounds)
    return projects if isinstance(projects, Undefined) else corrected(projects)


def _marks_of_people(marks: CampaignMarks) -> dict[int, str]:
    as_one = marks.as_one
    if as_one is None or PEOPLE not in as_one.ratings.raters:
        return {}
    codes = as_one.ratings.codes[:, as_one.ratings.rater_index(PEOPLE)].tolist()
    labels = as_one.ratings.labels
    return {item: labels[code] for item, code in zip(as_one.items, codes, strict=True) if code != MISSING}


def _following(outcomes: JudgedOutcomes) -> tuple[NextStratum, ...]:
    sample = outcomes.sample
    places: Counter[tuple[str, str]] = Counter()
    labelled: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    for agent, mark, judge, gold in zip(
        sample.agent.tolist(), outcomes.marks, sample.judge.tolist(), sample.gold.tolist(), strict=True
    ):
        place = (sample.agents[agent], mark)
        places[place] += 1
        labelled[place] += not np.isnan(gold)
        wrong[place] += not np.isnan(gold) and gold != judge
    order = sorted(places)
    strata = [
        Stratum(name=str(number), outcomes=places[place], labelled=labelled[place], wrong=wrong[place])
        for number, place in enumerate(order)
    ]
    more = label_next(strata, budget=BUDGET)
    return tuple(
        NextStratum(
            agent=agent,
            mark=mark,
            outcomes=stratum.outcomes,
            labelled=stratum.labelled,
            wrong=stratum.wrong,
            more=more[stratum.name],
        )
        for (agent, mark), stratum in zip(order, strata, strict=True)
    )


_PARTIAL = {Folding.FAIL: 0.0, Folding.PASS: 1.0, Folding.THREE: 0.5}
