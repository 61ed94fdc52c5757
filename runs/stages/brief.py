"""Write down what the code agent is given in this round."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction

from runs.context import StageContext
from runs.models import Round


def run(context: StageContext) -> None:
    """Store the request; a repeated brief writes the same text."""
    earlier = replace(context.record, rounds=context.record.rounds[: context.round.number - 1])
    request = context.protocol.request_for(earlier)
    with transaction.atomic():
        context.claim.check()
        Round.objects.filter(pk=context.round.pk).update(request=request)
