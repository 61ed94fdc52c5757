"""What judges and people said in a campaign, as ratings: who counts, and why somebody's mark does not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from annotation.agreement.ratings import Excluded, Ratings, RatingsError
from annotation.agreement.rows import Row, ratings_of
from annotation.models import Adjudication, Annotation, Campaign, Item
from annotation.vocabulary import AssignmentState, MarkSet
from benchmark.rules.vocabulary import Mark
from runs.models import Judging, Verdict

PEOPLE = "people"
"""The rater that stands for all people: the adjudicated mark, else that of their majority."""

JUDGE = "judge:"
"""Before the name of a judge, so that no person's name is taken for one."""


_WHY = {Mark.SKIPPED: "skipped it: a prerequisite is unsatisfied", Mark.ERROR: "could not judge it"}

type _Said = tuple[int, str, str]


class Whose(StrEnum):
    """Which raters are wanted: judges and each person, or judges and the people as one."""

    EACH = "each"
    PEOPLE_AS_ONE = "people_as_one"


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRatings:
    """The ratings of a campaign. `agents` names each unit's code agent, in the order of its units.

    `items` are their keys, in the same order. `people` and `judges` are the raters of either kind.
    """

    ratings: Ratings
    people: tuple[str, ...]
    judges: tuple[str, ...]
    agents: tuple[str, ...]
    items: tuple[int, ...]


class _ItemRow(NamedTuple):
    pk: int
    round: int
    outcome: int | None
    unit: str
    cluster: str
    kind: str | None
    agent: str
    judge_mark: str
    is_calibration: bool


def campaign_ratings(campaign: Campaign, *, whose: Whose = Whose.EACH, scale: str = "") -> CampaignRatings:
    """Return what was said of each item: a unit is an outcome of a round (or the round, for a scale).

    A judge is a rater for each judge, settings and vote; the primary judging's marks are those of the opening.
    People count with what they handed in. Clusters are projects (tasks), over all code agents. Left out, with
    counts: skipped and errored verdicts, environment problems, sets taken back or not handed in, marks given
    after a reveal, and calibration items, whose right mark somebody chose.

    Raises RatingsError where nothing can be compared, or a scale must be named.
    """
    items = {row.pk: row for row in _items(campaign, scale=_scale(campaign, scale))}
    left_out: Counter[str] = Counter()
    said = list(_by_people(campaign, items, left_out))
    people = {name for _, name, _ in said}
    if whose is Whose.PEOPLE_AS_ONE:
        said = list(_as_one(said, items, left_out))
        people = {PEOPLE}
    judged = list(_by_judges(items, left_out))
    if not (said or judged):
        raise RatingsError(
            f"Nothing was handed in or judged in campaign {campaign.pk}; hand in a set, then ask again."
        )
    place_of = {pk: place for place, pk in enumerate(items)}
    in_order = sorted((*judged, *said), key=lambda each: place_of[each[0]])
    ratings = ratings_of(
        (
            Row(items[pk].unit, rater, label, items[pk].cluster, items[pk].kind)
            for pk, rater, label in in_order
        ),
        labels=[mark.value for mark in campaign.marks] or None,
        is_numeric=campaign.mark_set == MarkSet.SCALES,
        excluded=[Excluded(reason=reason, n=n) for reason, n in sorted(left_out.items())],
    )
    row_of = {row.unit: row for row in items.values()}
    return CampaignRatings(
        ratings=ratings,
        people=tuple(name for name in ratings.raters if name in people),
        judges=tuple(name for name in ratings.raters if name not in people),
        agents=tuple(row_of[unit].agent for unit in ratings.units),
        items=tuple(row_of[unit].pk for unit in ratings.units),
    )


def _scale(campaign: Campaign, asked: str) -> str:
    known = [str(scale["key"]) for scale in campaign.scales] if campaign.mark_set == MarkSet.SCALES else []
    if asked in known or (not asked and len(known) < 2):
        return asked or "".join(known)
    if not known:
        raise RatingsError(f"Campaign {campaign.pk} asks for marks, not for ratings; leave out the scale.")
    raise RatingsError(
        f"Campaign {campaign.pk} has the scales {', '.join(known)}; name one of them"
        + (f", not {asked!r}." if asked else ".")
    )


def _items(campaign: Campaign, *, scale: str) -> Iterator[_ItemRow]:
    rows = Item.objects.filter(campaign=campaign, scale=scale).order_by("round", "position", "pk")
    for row in rows.values_list(
        "pk",
        "round_id",
        "outcome_id",
        "judge_mark",
        "known_mark",
        "known_score",
        "round__number",
        "round__trial_id",
        "round__trial__task__key",
        "round__trial__task__benchmark__key",
        "round__trial__task__benchmark__version",
        "round__trial__run__code_agent_label",
        "round__trial__run__code_agent",
        "outcome__criterion__key",
        "outcome__criterion__kind",
        "outcome__index",
    ):
        pk, round_, outcome, judge_mark, known_mark, known_score, number, trial, task, key, version = row[:11]
        label, agent, criterion, kind, index = row[11:]
        what = scale or f"{criterion}.{index}"
        yield _ItemRow(
            pk=pk,
            round=round_,
            outcome=outcome,
            unit=f"trial-{trial}/round-{number}/{what}",
            cluster=f"{key} v{version} / {task}",
            kind=kind or None,
            agent=label or agent,
            judge_mark=judge_mark,
            is_calibration=bool(known_mark) or known_score is not None,
        )


def _by_people(campaign: Campaign, items: Mapping[int, _ItemRow], left_out: Counter[str]) -> Iterator[_Said]:
    rows = Annotation.objects.filter(assignment__campaign=campaign, item__in=list(items)).order_by("pk")
    for item, mark, score, problem, state, rater, user, revealed_at, saved_at in rows.values_list(
        "item_id",
        "mark",
        "score",
        "problem",
        "assignment__state",
        "assignment__rater",
        "assignment__annotator__username",
        "assignment__revealed_at",
        "saved_at",
    ):
        reason = ""
        if not mark and score is None:
            reason = "" if state == AssignmentState.EXPIRED else "not marked yet"
        elif state == AssignmentState.EXPIRED:
            reason = "the set was taken back"
        elif items[item].is_calibration:
            reason = "a calibration item, whose right mark is known"
        elif problem or mark == Mark.ERROR:
            reason = "an environment problem kept a person from judging"
        elif state != AssignmentState.SUBMITTED:
            reason = "the set is not handed in"
        elif campaign.is_blind and revealed_at is not None and (saved_at is None or saved_at >= revealed_at):
            reason = "marked after the judge's verdict was revealed"
        elif mark == Mark.SKIPPED:
            reason = "a person skipped it"
        else:
            yield item, _person(user or rater or "nobody"), mark or repr(score)
        if reason:
            left_out[reason] += 1


def _person(name: str) -> str:
    """A person's name, told from people as one, from judges, and from the two names of a pair."""
    plain = name.replace("|", "/")
    return f"person:{plain}" if plain == PEOPLE or plain.startswith(JUDGE) else plain


def _by_judges(items: Mapping[int, _ItemRow], left_out: Counter[str]) -> Iterator[_Said]:
    """The marks of every judging; of the primary one those that the campaign froze at its opening."""
    at = {(row.round, row.outcome): pk for pk, row in items.items() if not row.is_calibration and row.outcome}
    rounds = {round_ for round_, _ in at}
    names = judge_names(rounds)
    primary = dict(
        Judging.objects.filter(round__in=rounds, is_primary=True).order_by().values_list("round_id", "pk")
    )
    marks = {
        (names[primary[round_]] if round_ in primary else JUDGE.rstrip(":"), pk): items[pk].judge_mark
        for (round_, _), pk in at.items()
        if items[pk].judge_mark
    }
    others = Verdict.objects.filter(judging__round__in=rounds, judging__is_primary=False)
    # Sorted by role: a refuter's mark comes after the one that it challenges, and stands.
    for judging, round_, outcome, mark in others.order_by("role", "pk").values_list(
        "judging_id", "judging__round_id", "outcome_id", "mark"
    ):
        if (round_, outcome) in at:
            marks[names[judging], at[round_, outcome]] = mark
    for (name, pk), mark in marks.items():
        if mark in (Mark.SKIPPED, Mark.ERROR):
            left_out[f"{name} {_WHY[Mark(mark)]}"] += 1
        else:
            yield pk, name, mark


def judge_names(rounds: Collection[int]) -> dict[int, str]:
    """Judging → its rater: equal for one judge with the same settings and vote, over all rounds."""
    found = Judging.objects.filter(round__in=rounds).order_by("pk")
    rows = list(found.values_list("pk", "judge", "settings_hash", "vote"))
    settings: dict[str, dict[str, int]] = defaultdict(dict)
    for _, judge, settings_hash, _ in rows:
        settings[judge].setdefault(settings_hash, len(settings[judge]) + 1)
    return {
        pk: JUDGE
        + judge
        + (f", settings {settings[judge][settings_hash]}" if len(settings[judge]) > 1 else "")
        + (f", vote {vote}" if vote > 1 else "")
        for pk, judge, settings_hash, vote in rows
    }


def _as_one(said: Sequence[_Said], items: Mapping[int, _ItemRow], left_out: Counter[str]) -> Iterator[_Said]:
    marks: dict[int, Counter[str]] = defaultdict(Counter)
    for pk, _, mark in said:
        marks[pk][mark] += 1
    settled: dict[int, str] = {}
    rows = Adjudication.objects.filter(item__in=list(items)).order_by("item", "number")
    for pk, mark, score in rows.values_list("item_id", "mark", "score"):
        if not items[pk].is_calibration:
            settled[pk] = mark or ("" if score is None else repr(score))
    for pk in sorted(marks.keys() | settled.keys()):
        if pk in settled:
            if settled[pk] in ("", Mark.ERROR, Mark.SKIPPED):
                left_out["adjudicated as not to be judged"] += 1
            else:
                yield pk, PEOPLE, settled[pk]
            continue
        mark, most = marks[pk].most_common(1)[0]
        if 2 * most > marks[pk].total():
            yield pk, PEOPLE, mark
        else:
            left_out["people are divided and nobody has settled it"] += 1
