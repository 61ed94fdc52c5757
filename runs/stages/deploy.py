"""Build and start the candidate once, and keep what was seen; a broken one is no trouble of ours."""

from __future__ import annotations

from benchmark.rules.vocabulary import StageName
from runs.context import StageContext
from runs.models import RunEventKind
from runs.ports import CandidateBroken


def run(context: StageContext) -> None:
    """Leave the candidate standing for the judge; a candidate that never answers is recorded."""
    try:
        context.stand.app(context.round, deploy=context.record.task.deploy, stage=StageName.DEPLOY)
    except CandidateBroken as broken:
        context.say(RunEventKind.STAGE, f"The application did not start: {broken.report.reason}")
