"""What a campaign's agreement page is made from: marks read once, and statistics kept as long as the marks stay."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from django.core.cache import cache

from annotation.agreement.ceiling import Ceiling, human_ceiling
from annotation.agreement.estimating import Resampling
from annotation.agreement.groups import GroupAgreement, group_agreements
from annotation.agreement.ratings import Fold, Ratings
from annotation.agreement.report import Report
from annotation.agreement.report_parts import PairReport
from annotation.models import Campaign
from annotation.reports.campaign_agreement import CampaignMarks, report_of
from annotation.reports.campaign_ratings import PEOPLE, CampaignRatings

KEPT_SECONDS = 24 * 3600
_REVISION = "1"
"""Changed whenever what is kept is computed in another way."""


class Folding(StrEnum):
    """What Partial counts as."""

    FAIL = "fail"
    PASS = "pass"
    THREE = "three"

    @property
    def fold(self) -> Fold | None:
        """How ratings are folded; None where all marks stay."""
        return {Folding.FAIL: Fold.FAIL, Folding.PASS: Fold.PASS, Folding.THREE: None}[self]


class By(StrEnum):
    """What outcomes are grouped by."""

    AGENT = "agent"
    KIND = "kind"
    PROJECT = "project"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """One judge against the people as one, on the outcomes that both marked.

    `ratings` has two raters, people first. `items` and `agents` have an entry an outcome.
    """

    judge: str
    folding: Folding
    pair: PairReport
    ratings: Ratings
    items: tuple[int, ...]
    agents: tuple[str, ...]

    @property
    def positive(self) -> int:
        return self.ratings.n_labels - 1

    def names(self, by: By) -> list[str]:
        """What each outcome is grouped under."""
        if by is By.AGENT:
            return list(self.agents)
        if by is By.KIND:
            return [kind or "no kind" for kind in self.ratings.kinds or ()]
        return [
            self.ratings.clusters[cluster].rpartition(" / ")[2]
            for cluster in self.ratings.cluster_of.tolist()
        ]


def content_key(campaign: Campaign, marks: CampaignMarks) -> str:
    """Return a name for exactly these marks: any mark that is given, changed or left out gives another."""
    digest = hashlib.sha256(f"{campaign.pk}/{campaign.is_blind}".encode())
    for each in (marks.each, marks.as_one):
        if each is not None:
            _add(digest.update, each)
    return digest.hexdigest()


def kept[T](key: str, part: str, compute: Callable[[], T]) -> T:
    """Return a part of what was found for some marks, computed once for all who ask."""
    name = f"agreement/{_REVISION}/{key}/{hashlib.sha256(part.encode()).hexdigest()[:24]}"
    found: T | None = cache.get(name)
    if found is None:
        found = compute()
        cache.set(name, found, KEPT_SECONDS)
    return found


def kept_report(campaign: Campaign, marks: CampaignMarks, *, key: str) -> Report:
    """Return the report of marks. Raises RatingsError."""
    return kept(key, "report", lambda: report_of(campaign, marks))


def comparison(marks: CampaignMarks, report: Report, *, judge: str, folding: Folding) -> Comparison | None:
    """Return a judge against the people as one; None where they are not compared."""
    as_one = marks.as_one
    if as_one is None or PEOPLE not in as_one.ratings.raters or judge not in as_one.ratings.raters:
        return None
    is_folded = folding.fold is not None and as_one.ratings.n_labels > 2
    pairs = report.folds[folding.fold] if is_folded and folding.fold is not None else report.pairs
    columns = [as_one.ratings.rater_index(name) for name in (PEOPLE, judge)]
    both = (as_one.ratings.codes[:, columns] >= 0).all(axis=1)
    ratings = as_one.ratings.pair(PEOPLE, judge)
    chosen = np.flatnonzero(both).tolist()
    return Comparison(
        judge=judge,
        folding=folding,
        pair=next(pair for pair in pairs if pair.raters == (PEOPLE, judge)),
        ratings=ratings.fold(folding.fold) if is_folded and folding.fold is not None else ratings,
        items=tuple(as_one.items[index] for index in chosen),
        agents=tuple(as_one.agents[index] for index in chosen),
    )


def kept_groups(compared: Comparison, by: By, *, report: Report, key: str) -> tuple[GroupAgreement, ...]:
    """Return the judge against people in each group of outcomes."""
    return kept(
        key,
        f"groups/{compared.judge}/{compared.folding}/{by}",
        lambda: group_agreements(
            compared.ratings,
            compared.names(by),
            positive=compared.positive,
            resampling=_resampling(report, compared.ratings),
        ),
    )


def kept_ceiling(marks: CampaignMarks, folding: Folding, *, report: Report, key: str) -> Ceiling | None:
    """Return how well people agree among themselves, folded as asked; None with fewer than two people."""
    if report.ceiling is None or folding.fold is None or marks.each.ratings.n_labels <= 2:
        return report.ceiling
    folded = marks.each.ratings.fold(folding.fold)
    return kept(
        key,
        f"ceiling/{folding}",
        lambda: human_ceiling(
            folded,
            people=marks.each.people,
            positive=folded.n_labels - 1,
            resampling=_resampling(report, folded),
        ),
    )


def _resampling(report: Report, ratings: Ratings) -> Resampling:
    return Resampling(resamples=report.resamples, seed=report.seed, is_clustered=ratings.is_clustered)


def _add(update: Callable[[bytes], None], marks: CampaignRatings) -> None:
    ratings = marks.ratings
    names: Sequence[object] = (
        ratings.labels,
        ratings.raters,
        ratings.units,
        ratings.clusters,
        ratings.kinds,
        ratings.excluded,
        ratings.are_labels_declared,
        marks.people,
        marks.agents,
    )
    update(repr(names).encode())
    update(ratings.codes.tobytes())
    update(ratings.cluster_of.tobytes())
