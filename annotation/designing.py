"""Lay out a campaign before it is opened: what is drawn, how many people mark it, and what stands against it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from annotation import assigning
from annotation.candidates import Found, find
from annotation.models import Campaign, Item
from annotation.sampling import Candidate, Drawn, DrawnStratum, Exclusion, SamplePlan, draw
from annotation.vocabulary import Distribution, MarkSet, OverlapUnit, SampleMethod, Stratum
from benchmark.rules.vocabulary import Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """A calibration item: the mark (or rating) that is right, on an outcome (or scale) of a round."""

    round: int
    outcome: int | None = None
    scale: str = ""
    mark: Mark | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignSettings:
    """What the design of a campaign depends on; the set-up page makes one from its form."""

    runs: tuple[int, ...]
    tasks: tuple[str, ...] = ()
    rounds: tuple[int, ...] = ()
    mark_set: MarkSet = MarkSet.BINARY
    scales: tuple[str, ...] = ()
    method: SampleMethod = SampleMethod.ALL
    sample_size: int = 0
    strata: tuple[Stratum, ...] = ()
    seed: int = 0
    only_executed: bool = True
    overlap: int = 1
    overlap_unit: OverlapUnit = OverlapUnit.TRIAL
    overlap_share: float = 1.0
    distribution: Distribution = Distribution.QUEUE
    annotators: tuple[int, ...] = ()
    known: tuple[KnownAnswer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedItem:
    """An item as it will be: what it is, where it stands in its round, and how many people mark it."""

    round: int
    position: int
    copies: int
    outcome: int | None
    scale: str
    stratum: str
    judge_mark: Mark | None
    known: KnownAnswer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Everything that an opening makes rows of; `problems` are sentences that stand against it."""

    items: tuple[PlannedItem, ...]
    rounds: dict[int, Candidate]
    strata: tuple[DrawnStratum, ...]
    excluded: dict[Exclusion, int]
    found: Found
    problems: tuple[str, ...]

    @property
    def sets(self) -> tuple[assigning.PlannedSet, ...]:
        """The sets to be given to people: every copy of every round, with its number of items."""
        copies: dict[int, Counter[int]] = defaultdict(Counter)
        for item in self.items:
            copies[item.round].update(range(1, item.copies + 1))
        return tuple(
            assigning.PlannedSet(round=round_, copy=copy, size=size)
            for round_, sizes in sorted(copies.items())
            for copy, size in sorted(sizes.items())
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignPreview:
    """The numbers of a design, for the page that sets a campaign up.

    `outcomes` is how many outcomes (rounds, where ratings are asked) could be drawn, `items` how many
    are, `marks` items times people, `sets` how many sets are given out. `excluded` says in words what was
    left out and how often; `unfinished_trials` and `trials_without_round` were left out whole.
    """

    outcomes: int
    projects: int
    trials: int
    rounds: int
    items: int
    calibration: int
    marks: int
    sets: int
    shared_items: int
    strata: tuple[DrawnStratum, ...]
    excluded: tuple[tuple[str, int], ...]
    unfinished_trials: int
    trials_without_round: int
    problems: tuple[str, ...]


def settings_of(campaign: Campaign) -> CampaignSettings:
    """Return what a stored campaign is set to; items that a draft has are its calibration items."""
    return CampaignSettings(
        runs=tuple(campaign.runs.order_by("pk").values_list("pk", flat=True)),
        tasks=tuple(campaign.tasks),
        rounds=tuple(campaign.rounds),
        mark_set=MarkSet(campaign.mark_set),
        scales=tuple(scale["key"] for scale in campaign.scales),
        method=SampleMethod(campaign.method),
        sample_size=campaign.sample_size,
        strata=tuple(Stratum(word) for word in campaign.strata),
        seed=campaign.seed,
        only_executed=campaign.only_executed,
        overlap=campaign.overlap,
        overlap_unit=OverlapUnit(campaign.overlap_unit),
        overlap_share=campaign.overlap_share,
        distribution=Distribution(campaign.distribution),
        annotators=tuple(campaign.annotators.order_by("pk").values_list("pk", flat=True)),
        known=known_answers(campaign),
    )


def known_answers(campaign: Campaign) -> tuple[KnownAnswer, ...]:
    """Return the calibration items of a campaign."""
    return tuple(
        KnownAnswer(
            round=item.round_id,
            outcome=item.outcome_id,
            scale=item.scale,
            mark=Mark(item.known_mark) if item.known_mark else None,
            score=item.known_score,
        )
        for item in Item.objects.filter(campaign=campaign).order_by("pk")
        if item.is_calibration
    )


def preview(settings: CampaignSettings) -> DesignPreview:
    """Return what opening a campaign with these settings would make; writes nothing."""
    made = design(settings)
    items = made.items
    rounds = {item.round for item in items}
    return DesignPreview(
        outcomes=sum(stratum.found for stratum in made.strata),
        projects=len({made.rounds[round_].project for round_ in rounds}),
        trials=len({made.rounds[round_].trial for round_ in rounds}),
        rounds=len(rounds),
        items=len(items),
        calibration=sum(item.known is not None for item in items),
        marks=sum(item.copies for item in items),
        sets=len(made.sets),
        shared_items=sum(item.copies > 1 for item in items),
        strata=made.strata,
        excluded=tuple((reason.words, number) for reason, number in made.excluded.items()),
        unfinished_trials=made.found.unfinished_trials,
        trials_without_round=made.found.trials_without_round,
        problems=made.problems,
    )


def design(settings: CampaignSettings) -> Design:
    """Draw the sample and lay out items and copies."""
    found = find(
        settings.runs,
        tasks=settings.tasks,
        numbers=settings.rounds,
        known={answer.round for answer in settings.known},
    )
    rated = settings.mark_set is MarkSet.SCALES
    problems = _problems(settings)
    is_drawable = not problems
    # Said, though it stands against opening only: what is drawn does not depend on people.
    problems += _lack_of_people(settings)
    drawn: tuple[Drawn, ...] = ()
    strata: tuple[DrawnStratum, ...] = ()
    excluded: dict[Exclusion, int] = {}
    if is_drawable:
        sample = draw(found.rounds if rated else found.outcomes, sample_plan(settings))
        drawn, strata, excluded = sample.drawn, sample.strata, sample.excluded
    items = _items(settings, found, drawn)
    if is_drawable and not items:
        problems.append(_nothing(found, excluded))
    return Design(
        items=items,
        rounds={each.round: each for each in found.rounds + found.known_rounds},
        strata=strata,
        excluded=excluded,
        found=found,
        problems=tuple(problems),
    )


def sample_plan(settings: CampaignSettings) -> SamplePlan:
    """Return how a campaign draws its outcomes."""
    return SamplePlan(
        method=settings.method,
        seed=settings.seed,
        size=settings.sample_size,
        strata=_strata(settings),
        only_executed=settings.only_executed,
    )


def _strata(settings: CampaignSettings) -> tuple[Stratum, ...]:
    """The strata that count: another method keeps those that were ticked, and asks for none."""
    return settings.strata if settings.method is SampleMethod.STRATIFIED else ()


def _problems(settings: CampaignSettings) -> list[str]:
    problems = []
    rated = settings.mark_set is MarkSet.SCALES
    if not settings.runs:
        problems.append("No run is chosen: choose at least one whose outcomes are to be marked.")
    if settings.overlap < 1:
        problems.append("An overlap of 0 gives the work to nobody: choose 1 or more.")
    if not 0 <= settings.overlap_share <= 1:
        problems.append(f"The share of overlap is {settings.overlap_share:g}; choose one from 0 to 1.")
    if rated and not settings.scales:
        problems.append("No scale is defined: ratings need at least one with its definition.")
    if rated and set(_strata(settings)) - {Stratum.AGENT}:
        problems.append("Ratings are of a whole trial, so strata can only be of the code agent.")
    try:
        sample_plan(settings)
    except ValueError as error:
        problems.append(str(error))
    return problems


def _lack_of_people(settings: CampaignSettings) -> list[str]:
    people = len(settings.annotators)
    return [assigning.few_people(settings.overlap, people)] if people < settings.overlap else []


def _nothing(found: Found, excluded: dict[Exclusion, int]) -> str:
    if excluded:
        counts = ", ".join(f"{number} {reason.words}" for reason, number in excluded.items())
        return f"No outcome can be drawn: {counts}. Ask for all outcomes, or choose other runs."
    if found.unfinished_trials:
        return "No outcome can be drawn: the trials of these runs are not finished. Wait, or name rounds."
    return "No outcome can be drawn: the chosen runs, tasks and rounds have none that is closed."


def _items(settings: CampaignSettings, found: Found, drawn: tuple[Drawn, ...]) -> tuple[PlannedItem, ...]:
    rated = settings.mark_set is MarkSet.SCALES
    scales = settings.scales if rated else ("",)
    known = {(answer.round, answer.outcome, answer.scale): answer for answer in settings.known}
    strata = {
        (each.candidate.round, each.candidate.outcome, scale): each.stratum
        for each in drawn
        for scale in scales
    }
    candidates = found.rounds + found.known_rounds if rated else found.outcomes + found.known_outcomes
    wanted = [
        (candidate, scale)
        for candidate in candidates
        for scale in scales
        if (key := (candidate.round, candidate.outcome, scale)) in strata or key in known
    ]
    by_trial = settings.overlap_unit is OverlapUnit.TRIAL
    units = assigning.copies_of(
        ((c.trial,) if by_trial else (c.round, c.outcome, scale) for c, scale in wanted),
        overlap=max(1, settings.overlap),
        share=settings.overlap_share,
        seed=settings.seed,
    )
    positions: Counter[int] = Counter()
    items = []
    for candidate, scale in wanted:
        key = (candidate.round, candidate.outcome, scale)
        copies = units[(candidate.trial,) if by_trial else key]
        items.append(
            PlannedItem(
                round=candidate.round,
                position=positions[candidate.round],
                # Everybody meets what is known, or their drift could not be compared.
                copies=settings.overlap if key in known else copies,
                outcome=candidate.outcome,
                scale=scale,
                stratum=strata.get(key, "calibration"),
                judge_mark=candidate.mark,
                known=known.get(key),
            )
        )
        positions[candidate.round] += 1
    return tuple(items)
