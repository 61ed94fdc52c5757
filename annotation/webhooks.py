"""Tell another site what happened in a campaign: kept in the database until it was taken, or given up."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from annotation.models import Campaign, WebhookDelivery
from annotation.posting import PostFailed, post
from annotation.times import moment

ANSWER_WITHIN = 10.0
HELD = timedelta(seconds=90)
"""How long a delivery is a worker's own; one whose worker died is tried again after that."""

WAITS = (
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(minutes=30),
    timedelta(hours=1),
    timedelta(hours=2),
    timedelta(hours=4),
    timedelta(hours=6),
    timedelta(hours=10),
)
"""Before each repetition; together nearly a day. Then a message is given up."""


def announce(campaign: Campaign, event: str, body: dict[str, Any]) -> WebhookDelivery | None:
    """Put a message in line; None where the campaign tells nobody.

    Call it inside the transaction of what it tells, so that neither exists without the other.
    """
    if not campaign.webhook_url:
        return None
    if not campaign.webhook_secret:
        Campaign.objects.filter(pk=campaign.pk, webhook_secret="").update(webhook_secret=new_secret())
    return WebhookDelivery.objects.create(campaign=campaign, event=event, body=body, next_at=timezone.now())


def new_secret() -> str:
    """A campaign's secret for signatures: 256 bits, as 64 hexadecimal digits."""
    return secrets.token_hex(32)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What `X-Proofroom-Signature` says: HMAC-SHA256 over the time stamp, a full stop, and the body."""
    signed = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={signed.hexdigest()}"


def deliver_due(*, at_most: int = 50, stopping: threading.Event | None = None) -> int:
    """Try every delivery whose time has come, each by one worker alone; return how many were taken."""
    due = WebhookDelivery.objects.filter(next_at__lte=timezone.now()).order_by("next_at", "pk")
    taken = 0
    for delivery in due[:at_most]:
        if stopping is not None and stopping.is_set():
            break
        # One UPDATE decides between workers that saw the same row.
        won = WebhookDelivery.objects.filter(pk=delivery.pk, next_at=delivery.next_at).update(
            next_at=timezone.now() + HELD, attempts=F("attempts") + 1
        )
        if won:
            taken += _attempt(WebhookDelivery.objects.select_related("campaign").get(pk=delivery.pk))
    return taken


def put_in_line_again(campaign: Campaign) -> int:
    """Let every message that was given up be tried anew; return how many."""
    given_up = WebhookDelivery.objects.filter(campaign=campaign, delivered_at=None, next_at=None)
    return given_up.update(next_at=timezone.now(), attempts=0)


def body_of(delivery: WebhookDelivery) -> bytes:
    """The bytes that are sent and signed: the same at every attempt."""
    document = {
        "id": delivery.pk,
        "event": delivery.event,
        "at": moment(delivery.created_at),
        "campaign": {"id": delivery.campaign_id, "name": delivery.campaign.name},
        "data": delivery.body,
    }
    return json.dumps(document, ensure_ascii=False, sort_keys=True).encode()


def _attempt(delivery: WebhookDelivery) -> bool:
    campaign, body = delivery.campaign, body_of(delivery)
    now = timezone.now()
    timestamp = str(int(now.timestamp()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Proofroom",
        "X-Proofroom-Delivery": str(delivery.pk),
        "X-Proofroom-Event": delivery.event,
        "X-Proofroom-Timestamp": timestamp,
        "X-Proofroom-Signature": signature(campaign.webhook_secret, timestamp, body),
    }
    row = WebhookDelivery.objects.filter(pk=delivery.pk)
    try:
        post(
            campaign.webhook_url,
            body,
            headers=headers,
            to_private=settings.WEBHOOKS_TO_PRIVATE,
            seconds=ANSWER_WITHIN,
        )
    except PostFailed as failed:
        following = _next_try(delivery.attempts) if failed.may_repeat else None
        given_up = "" if following else f"Given up after {_times(delivery.attempts)}: "
        row.update(next_at=following, problem=f"{given_up}{failed}"[:300])
        return False
    row.update(next_at=None, delivered_at=timezone.now(), problem="")
    return True


def _next_try(attempts: int) -> datetime | None:
    return timezone.now() + WAITS[attempts - 1] if attempts <= len(WAITS) else None


def _times(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"
