"""Turn the failures of a round into what a user would say next."""

from __future__ import annotations

from django.db import transaction

from runs.context import StageContext
from runs.models import Round


def run(context: StageContext) -> None:
    """Store feedback on the executed criteria that did not fully pass; skipped ones stay hidden."""
    failed = context.protocol.criteria_for_feedback(context.record)
    feedback = context.toolbox.feedback_writer.write(context.record.task, context.round_record, failed)
    with transaction.atomic():
        context.claim.check()
        Round.objects.filter(pk=context.round.pk).update(feedback=feedback)
