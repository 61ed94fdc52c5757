"""The set-up form of a campaign as plain values: every field still the text that was typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from django.http import QueryDict
from django.utils import timezone

from annotation import guidelines
from annotation.models import Campaign
from annotation.vocabulary import Centre, Distribution, MarkSet, OverlapUnit, SampleMethod, Stratum

SCALE_ROWS = 4
"""Rows of the form for ratings: three are usual (semantics, interface, design), one is spare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenScale:
    """One row of the table of ratings as it was typed."""

    title: str = ""
    definition: str = ""
    minimum: str = "0"
    maximum: str = "100"
    key: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether nothing was typed that would name a rating."""
        return not self.title and not self.definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A form as it was filled in, every value still the text that was typed."""

    name: str = ""
    runs: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    rounds: str = ""
    method: str = SampleMethod.ALL
    sample_size: str = "20"
    strata: tuple[str, ...] = (Stratum.AGENT, Stratum.KIND)
    seed: str = "1"
    only_executed: bool = True
    annotators: tuple[str, ...] = ()
    overlap: str = "1"
    overlap_unit: str = OverlapUnit.TRIAL
    overlap_share: str = "100"
    distribution: str = Distribution.QUEUE
    lease_hours: str = "48"
    is_blind: bool = True
    mark_set: str = MarkSet.BINARY
    scales: tuple[GivenScale, ...] = ()
    centre: str = Centre.LIVE
    guideline: str = ""
    deadline: str = ""
    webhook_url: str = ""
    webhook_secret: str = ""

    @classmethod
    def from_values(cls, values: QueryDict) -> Self:
        """Read a form that was sent."""
        read: dict[str, Any] = {
            name: str(values.get(name, "")).strip()
            for name in _PLAIN
            if name in values  # what a browser left out keeps its default
        }
        for name in ("runs", "tasks", "strata", "annotators"):
            read[name] = tuple(map(str, values.getlist(name)))
        return cls(
            **read,
            only_executed="only_executed" in values,
            is_blind="is_blind" in values,
            scales=tuple(_scales_of(values)),
            guideline=str(values.get("guideline", "")).replace("\r\n", "\n").strip(),
        )

    @classmethod
    def from_campaign(cls, campaign: Campaign) -> Self:
        """Read what a campaign holds already (three queries)."""
        return cls(
            name=campaign.name,
            runs=tuple(str(pk) for pk in campaign.runs.values_list("pk", flat=True)),
            tasks=tuple(campaign.tasks),
            rounds=", ".join(map(str, campaign.rounds)),
            method=campaign.method,
            sample_size=str(campaign.sample_size or 20),
            strata=tuple(campaign.strata),
            seed=str(campaign.seed),
            only_executed=campaign.only_executed,
            annotators=tuple(str(pk) for pk in campaign.annotators.values_list("pk", flat=True)),
            overlap=str(campaign.overlap),
            overlap_unit=campaign.overlap_unit,
            overlap_share=f"{campaign.overlap_share * 100:g}",
            distribution=campaign.distribution,
            lease_hours=str(campaign.lease_hours),
            is_blind=campaign.is_blind,
            mark_set=campaign.mark_set,
            scales=tuple(
                GivenScale(
                    title=str(scale.get("title", "")),
                    definition=str(scale.get("definition", "")),
                    minimum=f"{scale.get('minimum', 0):g}",
                    maximum=f"{scale.get('maximum', 100):g}",
                    key=str(scale.get("key", "")),
                )
                for scale in campaign.scales
            ),
            centre=campaign.centre,
            guideline=newest.text if (newest := guidelines.current(campaign)) else "",
            deadline=f"{timezone.localtime(campaign.deadline):%Y-%m-%dT%H:%M}" if campaign.deadline else "",
            webhook_url=campaign.webhook_url,
            webhook_secret=campaign.webhook_secret,
        )

    @property
    def scale_rows(self) -> list[GivenScale]:
        """The rows to show: those that were filled in, and blank ones up to the usual number."""
        return [*self.scales, *[GivenScale()] * max(1 if self.scales else 0, SCALE_ROWS - len(self.scales))]


_PLAIN = (
    "name", "rounds", "method", "sample_size", "seed", "overlap", "overlap_unit", "overlap_share", "distribution",
    "lease_hours", "mark_set", "centre", "deadline", "webhook_url", "webhook_secret",
)  # fmt: skip


def _scales_of(values: QueryDict) -> list[GivenScale]:
    """The rows that say something; a row that was emptied is gone."""
    columns = [
        values.getlist(f"scale_{name}") for name in ("title", "definition", "minimum", "maximum", "key")
    ]
    rows = [
        GivenScale(title=a.strip(), definition=b.strip(), minimum=c.strip(), maximum=d.strip(), key=e.strip())
        for a, b, c, d, e in zip(*columns, strict=False)
    ]
    return [row for row in rows if not row.is_blank]
