"""Messages to other sites: what waits, what was taken, what was given up."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation import webhooks
from annotation.management.campaign_door import CampaignDoor
from annotation.models import WebhookDelivery
from annotation.times import moment

SHOWN = 50


class Command(CampaignDoor):
    """`proofroom webhooks CAMPAIGN`."""

    help = "Show a campaign's messages to another site, newest first, and deliver those that are due."
    example = "proofroom webhooks 3 --again"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--again", action="store_true", help="Put those that were given up in line again first."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = self.campaign_of(options["campaign"])
        again = webhooks.put_in_line_again(campaign) if options["again"] else 0
        delivered = webhooks.deliver_due()
        rows = list(WebhookDelivery.objects.filter(campaign=campaign).order_by("-pk")[:SHOWN])
        lines = [f"{row.pk} {row.event}: {_state(row)}" for row in rows]
        self.answer(
            {
                "campaign": campaign.pk,
                "again": again,
                "delivered": delivered,
                "deliveries": [
                    {
                        "id": row.pk,
                        "event": row.event,
                        "at": moment(row.created_at),
                        "attempts": row.attempts,
                        "next_at": moment(row.next_at),
                        "delivered_at": moment(row.delivered_at),
                        "problem": row.problem or None,
                    }
                    for row in rows
                ],
            },
            text="\n".join(lines or ["Nothing was sent yet."]),
        )


def _state(row: WebhookDelivery) -> str:
    if row.delivered_at is not None:
        return f"taken at {moment(row.delivered_at)}"
    if row.next_at is None:
        return row.problem
    waiting = f"waits until {moment(row.next_at)}"
    return f"{waiting}. {row.problem}" if row.problem else waiting
