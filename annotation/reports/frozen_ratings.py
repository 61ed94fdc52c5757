"""Ratings as they may be published: aliases for raters, units, clusters and code agents, and no word of anybody."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotation.agreement.ratings import MISSING, Excluded, Ratings
from annotation.reports.campaign_agreement import CampaignMarks
from annotation.reports.campaign_ratings import PEOPLE, CampaignRatings

type Names = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrozenRatings:
    """The ratings that a report compares, and those of each person where it compares people as one.

    `agents` is the alias of each unit's code agent, by the unit's alias; empty where no agent is known.
    """

    compared: Ratings
    each: Ratings | None
    agents: Names

    @property
    def people_columns(self) -> tuple[str, ...]:
        """The raters that only `each` has."""
        return () if self.each is None else tuple(set_aside(self.each.raters, self.compared.raters))


def frozen_file(ratings: Ratings) -> tuple[FrozenRatings, Names]:
    """Return the ratings of a file under aliases, and the alias of each rater: rater-1 for the first, and so on."""
    ratings = ratings.only(ratings.counts > 0)
    raters = _numbered("rater", ratings.raters)
    units = _numbered("unit", ratings.units)
    compared = _renamed(ratings, raters=raters, units=units, clusters=_clusters(ratings))
    return FrozenRatings(compared=compared, each=None, agents={}), raters


def frozen_marks(marks: CampaignMarks) -> tuple[CampaignMarks, FrozenRatings, Names]:
    """Return a campaign's marks under aliases, the same as frozen ratings, and the alias of each rater.

    Judges and code agents are numbered in the order of their names, so that who knows the names can tell them;
    people are numbered in an order that says nothing. The people as one keep their name.
    """
    each, as_one = marks.each, marks.as_one
    order = each.ratings.units if as_one is None else merged(each.ratings.units, as_one.ratings.units)
    units = _numbered("unit", order)
    judges = sorted({*each.judges, *(as_one.judges if as_one else ())})
    raters = _numbered("person", _shuffled(each.people, order)) | {PEOPLE: PEOPLE}
    raters |= {judges[0]: "judge"} if len(judges) == 1 else _numbered("judge", judges)
    agents = _numbered("agent", sorted({*each.agents, *(as_one.agents if as_one else ())}))
    cluster_names = dict(_cluster_of_units(each.ratings))
    if as_one is not None:
        cluster_names |= dict(_cluster_of_units(as_one.ratings))
    clusters = _numbered("cluster", list(dict.fromkeys(cluster_names[unit] for unit in order)))

    def of(found: CampaignRatings) -> CampaignRatings:
        # People first: a reader of the file has them in this order too.
        ordered = found.ratings.among([*found.people, *found.judges])
        return replace(
            found,
            ratings=_renamed(ordered, raters=raters, units=units, clusters=clusters),
            people=tuple(raters[name] for name in found.people),
            judges=tuple(raters[name] for name in found.judges),
            agents=tuple(agents[name] for name in found.agents),
        )

    renamed = CampaignMarks(each=of(each), as_one=None if as_one is None else of(as_one))
    whole = renamed.each if renamed.as_one is None else renamed.as_one
    agent_of = {
        unit: agent
        for found in (renamed.each, whole)
        for unit, agent in zip(found.ratings.units, found.agents, strict=True)
    }
    frozen = FrozenRatings(
        compared=whole.ratings,
        each=None if renamed.as_one is None else renamed.each.ratings,
        agents=agent_of,
    )
    return renamed, frozen, raters


def ratings_csv(frozen: FrozenRatings) -> str:
    """Return one row a rating in the long form that `proofroom agreement` reads."""
    compared, each = frozen.compared, frozen.each
    columns = ["unit", "rater", "label"]
    columns += ["cluster"] if compared.is_clustered else []
    columns += ["kind"] if compared.kinds is not None else []
    columns += ["agent"] if frozen.agents else []
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    rows = dict(_rows_by_unit(compared, compared.raters))
    people = {} if each is None else dict(_rows_by_unit(each, frozen.people_columns))
    for unit in rows if each is None else merged(tuple(people), tuple(rows)):
        for row in (*rows.get(unit, ()), *people.get(unit, ())):
            writer.writerow(row | {"agent": frozen.agents.get(unit, "")})
    return out.getvalue()


def merged(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """Return all names of two sequences that are parts of one order, in that order."""
    known, found, rest = set(first), [], iter(first)
    for name in second:
        if name not in known:
            found.append(name)
            continue
        for before in rest:
            found.append(before)
            if before == name:
                break
    return tuple(dict.fromkeys([*found, *rest]))


def set_aside(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the names that are not among the known."""
    return [name for name in names if name not in known]


def _rows_by_unit(ratings: Ratings, raters: Sequence[str]) -> Iterator[tuple[str, list[dict[str, str]]]]:
    columns = [(rater, ratings.rater_index(rater)) for rater in raters]
    for index, unit in enumerate(ratings.units):
        codes = ratings.codes[index]
        about = {"unit": unit, "cluster": ratings.clusters[ratings.cluster_of[index]]}
        about["kind"] = (ratings.kinds[index] or "") if ratings.kinds is not None else ""
        rows = [
            about | {"rater": rater, "label": ratings.labels[codes[column]]}
            for rater, column in columns
            if codes[column] != MISSING
        ]
        if rows:
            yield unit, rows


def _renamed(ratings: Ratings, *, raters: Names, units: Names, clusters: Names) -> Ratings:
    """The ratings under aliases, with clusters in the order in which units mention them."""
    used, first, cluster_of = np.unique(ratings.cluster_of, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place: NDArray[np.intp] = np.empty_like(order)
    place[order] = np.arange(len(order))
    alias = [units[name] for name in ratings.units]
    return replace(
        ratings,
        units=tuple(alias),
        raters=tuple(raters[name] for name in ratings.raters),
        clusters=tuple(clusters[ratings.clusters[used[index]]] for index in order)
        if ratings.is_clustered
        else tuple(alias),
        cluster_of=place[cluster_of.ravel()].astype(np.int32),
        excluded=_reasons(ratings.excluded),
    )


def _reasons(excluded: Sequence[Excluded]) -> tuple[Excluded, ...]:
    """Reasons without the names of judges and the labels that they quote."""
    counted: Counter[str] = Counter()
    for each in excluded:
        reason = re.sub(r"^label .* (is not among|says that)", r"a label \1", each.reason, flags=re.DOTALL)
        reason = re.sub(r"^judge:.* (skipped it|could not judge it)", r"a judge \1", reason, flags=re.DOTALL)
        counted[reason] += each.n
    return tuple(Excluded(reason=reason, n=n) for reason, n in counted.items())


def _cluster_of_units(ratings: Ratings) -> Iterator[tuple[str, str]]:
    for unit, cluster in zip(ratings.units, ratings.cluster_of.tolist(), strict=True):
        yield unit, ratings.clusters[cluster]


def _clusters(ratings: Ratings) -> Names:
    return _numbered("cluster", list(dict.fromkeys(name for _, name in _cluster_of_units(ratings))))


def _numbered(noun: str, names: Sequence[str]) -> dict[str, str]:
    """Aliases with as many digits as the last one needs, so that they sort."""
    width = len(str(len(names)))
    return {name: f"{noun}-{number:0{width}}" for number, name in enumerate(names, start=1)}


def _shuffled(names: Sequence[str], salt: Sequence[str]) -> list[str]:
    begin = "\n".join(salt)
    return sorted(names, key=lambda name: hashlib.sha256(f"{begin}\n{name}".encode()).digest())
