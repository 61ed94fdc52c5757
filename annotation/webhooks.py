"""Tell another site what happened in a campaign: kept in the database until it was taken."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from annotation.models import Campaign, WebhookDelivery


def announce(campaign: Campaign, event: str, body: dict[str, Any]) -> WebhookDelivery | None:
    """Put a message in line; None where the campaign tells nobody.

    Call it inside the transaction of what it tells, so that neither exists without the other.
    """
    if not campaign.webhook_url:
        return None
    return WebhookDelivery.objects.create(campaign=campaign, event=event, body=body, next_at=timezone.now())
