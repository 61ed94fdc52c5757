"""What is wrong with a set-up form, a sentence for each field, and what a good one becomes."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils import timezone

from annotation.campaign_forms import Given, GivenScale
from annotation.models import Campaign
from annotation.posting import is_public
from annotation.texts import row_key
from annotation.vocabulary import (
    CampaignState,
    Centre,
    Distribution,
    MarkSet,
    OverlapUnit,
    SampleMethod,
    Stratum,
)
from benchmark.display import counted, listed

MOST_SCALE_POINTS = 1_000_000
_SEED_BOUND = 2**63
_KEY = re.compile(r"[^a-z0-9]+")


class BadCampaign(ValueError):
    """Raised with a sentence for each field at fault, by the field's name."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = dict(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A form without a fault: values as the campaign's fields take them."""

    fields: Mapping[str, Any]
    runs: tuple[int, ...]
    annotators: tuple[int, ...]
    guideline: str


ALWAYS_OPEN_FIELDS = ("name", "lease_hours", "deadline", "webhook_url", "webhook_secret")
"""What may still change once the sample is drawn; people and guideline besides."""


def checked(given: Given) -> Design:
    """Return the values of a form; raises BadCampaign with a sentence for each bad field.

    A draft may be incomplete: what opening takes besides is `missing_for_opening`.
    """
    desk = _Desk()
    fields: dict[str, Any] = {
        "name": desk.name(given.name),
        "tasks": list(dict.fromkeys(given.tasks)),
        "rounds": desk.rounds(given.rounds),
        "method": desk.word("method", given.method, SampleMethod),
        "strata": [str(desk.word("strata", each, Stratum)) for each in dict.fromkeys(given.strata)],
        "seed": desk.number("seed", "Seed", given.seed, lowest=-_SEED_BOUND, highest=_SEED_BOUND - 1),
        "only_executed": given.only_executed,
        "overlap": desk.number("overlap", "People for each", given.overlap, lowest=1, highest=50),
        "overlap_unit": desk.word("overlap_unit", given.overlap_unit, OverlapUnit),
        "overlap_share": desk.share(given.overlap_share),
        "distribution": desk.word("distribution", given.distribution, Distribution),
        "lease_hours": desk.number("lease_hours", "Hours", given.lease_hours, lowest=1, highest=720),
        "is_blind": given.is_blind,
        "mark_set": desk.word("mark_set", given.mark_set, MarkSet),
        "centre": desk.word("centre", given.centre, Centre),
        "deadline": desk.deadline(given.deadline),
        "webhook_url": desk.address(given.webhook_url),
        "webhook_secret": desk.secret(given.webhook_secret),
    }
    # A size that no method asks for is kept as it was, and may be blank.
    is_sized = given.method != SampleMethod.ALL
    fields["sample_size"] = (
        desk.number("sample_size", "Outcomes", given.sample_size, lowest=1, highest=100_000)
        if is_sized
        else 0
    )
    if given.method == SampleMethod.STRATIFIED and not given.strata:
        desk.problems["strata"] = "A stratified sample takes at least one of agent, kind and mark."
    fields["scales"] = desk.scales(given.scales) if given.mark_set == MarkSet.SCALES else _kept(given.scales)
    if desk.problems:
        raise BadCampaign(desk.problems)
    return Design(
        fields=fields,
        runs=_numbers(given.runs),
        annotators=_numbers(given.annotators),
        guideline=given.guideline,
    )


def missing_for_opening(campaign: Campaign, *, runs: int, annotators: int, now: datetime) -> dict[str, str]:
    """Return what a complete draft still lacks, a sentence by the field's name."""
    lacks: dict[str, str] = {}
    if campaign.state != CampaignState.DRAFT:
        return {"name": "This campaign is open already: its sample was drawn and stays."}
    if not runs:
        lacks["runs"] = "Choose at least one run: there is nothing to mark yet."
    if annotators < campaign.overlap:
        lacks["annotators"] = (
            f"Each {campaign.overlap_unit} goes to {counted(campaign.overlap, 'person', 'people')}, and {annotators or 'nobody'} "
            f"{'is' if annotators < 2 else 'are'} chosen. Choose more people, or lower the overlap."
        )
    if campaign.mark_set == MarkSet.SCALES and not campaign.scales:
        lacks["scales"] = "Ratings take at least one scale with a title."
    if campaign.deadline and campaign.deadline <= now:
        lacks["deadline"] = "The deadline is over already. Choose a later one, or none."
    return lacks


def save(campaign: Campaign, design: Design) -> Campaign:
    """Write a design into a campaign: all of it into a draft, what may still change into an open one."""
    is_draft = campaign.state == CampaignState.DRAFT
    names = [name for name in design.fields if is_draft or name in ALWAYS_OPEN_FIELDS]
    for name in names:
        setattr(campaign, name, design.fields[name])
    # Never its state: somebody may have opened or closed it meanwhile.
    campaign.save(update_fields=names if campaign.pk else None)
    if is_draft:
        campaign.runs.set(design.runs)
    campaign.annotators.set(design.annotators)
    return campaign


@dataclass(slots=True)
class _Desk:
    """Reads one field after the other and collects a sentence for each that is wrong."""

    problems: dict[str, str] = field(default_factory=dict)

    def name(self, text: str) -> str:
        if not text:
            self.problems["name"] = "A campaign needs a name: people find it by that."
        elif len(text) > 200:
            self.problems["name"] = f"The name has {len(text)} characters; it takes at most 200."
        return text

    def word[W: StrEnum](self, name: str, text: str, words: type[W]) -> W:
        try:
            return words(text)
        except ValueError:
            known = listed([word.value.replace("_", " ") for word in words], last="or")
            self.problems[name] = f"{text[:40]!r} is not known here; it takes {known}."
            return next(iter(words))

    def number(self, name: str, label: str, text: str, *, lowest: int, highest: int) -> int:
        is_number = text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 21
        if is_number and lowest <= int(text) <= highest:
            return int(text)
        said = f"{text[:40]!r}" if text else "empty"
        if abs(lowest) > MOST_SCALE_POINTS:
            self.problems[name] = f"{label} is {said}; it takes a whole number."
        else:
            self.problems[name] = f"{label} is {said}; it takes a whole number from {lowest} to {highest:,}."
        return lowest

    def share(self, text: str) -> float:
        value = _float(text.removesuffix("%").strip())
        if value is None or not 0 < value <= 100:
            self.problems["overlap_share"] = (
                f"The share is {text[:40]!r}; it takes per cent above 0, at most 100."
            )
            return 1.0
        return value / 100

    def rounds(self, text: str) -> list[int]:
        parts = [part for part in re.split(r"[\s,;]+", text) if part]
        wrong = [part for part in parts if not (part.isdecimal() and len(part) < 4 and int(part))]
        if wrong:
            self.problems["rounds"] = (
                f"{wrong[0][:40]!r} is not a round. Give numbers such as 1, 3, or nothing for the final round."
            )
            return []
        return sorted({int(part) for part in parts})

    def deadline(self, text: str) -> datetime | None:
        if not text:
            return None
        try:
            return timezone.make_aware(datetime.fromisoformat(text).replace(tzinfo=None))
        except ValueError:
            self.problems["deadline"] = f"{text[:40]!r} is not a time; it takes one such as 2027-03-01T18:00."
            return None

    def address(self, text: str) -> str:
        if text:
            try:
                URLValidator(schemes=["http", "https"])(text)
            except ValidationError:
                self.problems["webhook_url"] = (
                    f"{text[:80]!r} is not an address; it takes one such as https://lab.example.org/marks."
                )
            if not settings.WEBHOOKS_TO_PRIVATE and _is_inside(text):
                self.problems["webhook_url"] = (
                    f"{text[:80]!r} is an address inside a private network; messages go there only with "
                    "PROOFROOM_WEBHOOKS_TO_PRIVATE=True. Choose one outside, or none."
                )
            if len(text) > 500:
                self.problems["webhook_url"] = (
                    f"The address has {len(text)} characters; it takes at most 500."
                )
        return text

    def secret(self, text: str) -> str:
        if len(text) > 64:
            self.problems["webhook_secret"] = f"The secret has {len(text)} characters; it takes at most 64."
        return text

    def scales(self, rows: Sequence[GivenScale]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for row in rows:
            low, high = _float(row.minimum), _float(row.maximum)
            if not row.title:
                self.problems["scales"] = f"The rating {row.definition[:40]!r} needs a title."
            elif low is None or high is None or low >= high:
                self.problems["scales"] = (
                    f"{row.title[:40]!r} goes from {row.minimum[:20]!r} to {row.maximum[:20]!r}; "
                    "it takes two numbers, the lower first."
                )
            else:
                found.append(_scale(row, low=low, high=high, taken={scale["key"] for scale in found}))
        return found


def _is_inside(url: str) -> bool:
    """Whether an address says by itself that it is a private one; names are looked up at each delivery only."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return False  # said to be no address already
    try:
        return not is_public(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _scale(row: GivenScale, *, low: float, high: float, taken: set[str]) -> dict[str, Any]:
    # A key once given stays although the title is worded anew: ratings are found by it.
    key = _KEY.sub("_", (row.key or row.title).lower()).strip("_")[:56] or "scale"
    while key in taken:
        key = f"{key}_2"
    return {
        "key": key,
        "title": row.title[:200],
        "definition": row.definition[:2000],
        "minimum": low,
        "maximum": high,
    }


def _kept(rows: Sequence[GivenScale]) -> list[dict[str, Any]]:
    """Scales that nobody is asked for stay with the draft, so that looking at another mark set loses nothing."""
    try:
        return _Desk().scales(rows)
    except (ValueError, TypeError):
        return []


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) <= MOST_SCALE_POINTS else None


def _numbers(texts: Sequence[str]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(key for text in texts if (key := row_key(text))))
