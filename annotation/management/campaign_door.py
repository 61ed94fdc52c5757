"""Base of the commands that speak of one campaign."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.models import Campaign
from benchmark.management.door import Door


class CampaignDoor(Door):
    """A command whose first argument is a campaign."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="Number of the campaign.")

    def campaign_of(self, text: str) -> Campaign:
        """Return the campaign, or end with exit 2 and a sentence."""
        number = whole_number(text)
        campaign = None if number is None else Campaign.objects.filter(pk=number).first()
        if campaign is None:
            latest = [str(pk) for pk in Campaign.objects.order_by("-pk").values_list("pk", flat=True)[:5]]
            there = f"the latest are {', '.join(latest)}" if latest else "none was made yet"
            self.bad_input(f"There is no campaign {text[:40]!r}; {there}.")
        return campaign


def whole_number(text: str) -> int | None:
    """A key as a person types it, or None; no database counts further than 19 digits."""
    number = text.strip().removeprefix("#")
    return int(number) if number.isdecimal() and len(number) < 20 else None
