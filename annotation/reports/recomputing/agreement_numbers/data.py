"""Read the frozen ratings and the settings of the report that is checked."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Ints = NDArray[np.int64]

MOST_LABELS = 128


class BadRatings(ValueError):
    """Raised with a sentence for ratings that contradict themselves, or the report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What agreement.json says of how it was made: taken as given, everything else is recomputed.

    `grouped` says for which pairs it shows groups, and by which columns.
    """

    gold: str | None
    people: tuple[str, ...] | None
    positive: int
    resamples: int
    seed: int
    grouped: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Data:
    """Ratings: `codes` (units, raters) holds indices into `labels`, -1 where missing.

    `cluster_of` (units,) numbers clusters as they first appear, None where there are none. `numbers` (labels,)
    are the labels as scores where they are scores; `places` are the values their names have in any case.
    `columns` are further columns of units by name.
    """

    labels: tuple[str, ...]
    raters: tuple[str, ...]
    codes: Ints
    cluster_of: Ints | None
    numbers: Floats | None
    columns: Mapping[str, tuple[str, ...]]

    @property
    def places(self) -> Floats | None:
        try:
            values = np.array([float(label) for label in self.labels])
        except ValueError:
            return None
        return values if np.isfinite(values).all() else None

    @property
    def n_clusters(self) -> int:
        return len(self.codes) if self.cluster_of is None else int(self.cluster_of.max(initial=-1)) + 1

    def of_two(self, first: str, second: str) -> Ints:
        """The codes of two raters: (units, 2)."""
        return self.codes[:, [self.raters.index(first), self.raters.index(second)]]

    def folded(self, *, partial_as_pass: bool) -> Data:
        """Two labels, the lowest and the highest; those between become the one or the other."""
        is_high = self.codes > 0 if partial_as_pass else self.codes == len(self.labels) - 1
        codes = np.where(self.codes < 0, -1, is_high.astype(np.int64))
        return replace(self, labels=(self.labels[0], self.labels[-1]), codes=codes)


def settings_in(report: Mapping[str, Any]) -> Settings:
    """Return the settings of a report."""
    ceiling = report.get("human_ceiling")
    return Settings(
        gold=report["gold"],
        people=None if ceiling is None else tuple(ceiling["people"]),
        positive=report["labels"].index(report["positive"]),
        resamples=report["resamples"],
        seed=report["seed"],
        grouped={pair: tuple(groups) for pair, groups in report["groups"].items()},
    )


def data_in(folder: Path, report: Mapping[str, Any]) -> Data:
    """Return the ratings of ratings.csv by the raters that a report compares."""
    return _data_of(folder, report, tuple(report["raters"]))


def people_in(folder: Path, report: Mapping[str, Any], compared: Data) -> Data | None:
    """Return the ratings by each person and by the others whom a report's ceiling compares; None without one."""
    ceiling = report.get("human_ceiling")
    if ceiling is None:
        return None
    raters = (*ceiling["people"], *ceiling["others"])
    return compared if set(raters) == set(compared.raters) else _data_of(folder, report, raters)


def _data_of(folder: Path, report: Mapping[str, Any], raters: tuple[str, ...]) -> Data:
    labels = list(report["labels"])
    units: dict[str, int] = {}
    clusters: dict[str, int] = {}
    cells: dict[tuple[int, int], int] = {}
    cluster_of: list[int] = []
    columns: dict[str, list[str]] = {"kind": [], "agent": [], "cluster": []}
    with (folder / "ratings.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            if row["rater"] not in raters:
                continue
            if row["label"] not in labels:
                raise BadRatings(
                    f"ratings.csv has a label {row['label']!r} that agreement.json does not name."
                )
            unit = units.setdefault(row["unit"], len(units))
            if (
                cells.setdefault((unit, raters.index(row["rater"])), label := labels.index(row["label"]))
                != label
            ):
                raise BadRatings(f"ratings.csv has two labels of {row['rater']} for {row['unit']}.")
            if unit < len(columns["kind"]):
                continue
            for name, column in columns.items():
                column.append(row.get(name) or ("no kind" if name == "kind" else ""))
            if "cluster" in row:
                cluster_of.append(clusters.setdefault(row["cluster"], len(clusters)))
    codes = np.full((len(units), len(raters)), -1, dtype=np.int64)
    if cells:
        places = np.array(list(cells))
        codes[places[:, 0], places[:, 1]] = list(cells.values())
    return Data(
        labels=tuple(labels),
        raters=raters,
        codes=codes,
        cluster_of=np.array(cluster_of) if cluster_of else None,
        numbers=np.array([float(label) for label in labels]) if report["numeric"] else None,
        columns={name: tuple(column) for name, column in columns.items()},
    )
