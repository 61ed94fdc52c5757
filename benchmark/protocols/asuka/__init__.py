"""Asuka: underspecified intent, feedback rounds, and evaluation along a graph of prerequisites."""

from __future__ import annotations

from benchmark.protocols.asuka.decisions import decisions
from benchmark.protocols.asuka.dialogue import criteria_for_feedback, request_for, wants_another_round
from benchmark.protocols.asuka.metrics import CHARTS, KINDS, METRIC_SPECS, TABLES
from benchmark.protocols.asuka.reading import MARKS, WEIGHTS, read_marks
from benchmark.protocols.asuka.scoring import score
from benchmark.protocols.asuka.settings import SETTINGS
from benchmark.rules.protocol import Protocol
from benchmark.rules.vocabulary import StageName

PROTOCOL = Protocol(
    name="asuka",
    title="Asuka: underspecified intent and feedback rounds",
    stages=(
        StageName.BRIEF,
        StageName.CODE,
        StageName.DEPLOY,
        StageName.JUDGE,
        StageName.FEEDBACK,
        StageName.SCORE,
    ),
    kinds=KINDS,
    allowed_marks=MARKS,
    weights=WEIGHTS,
    settings=SETTINGS,
    request_for=request_for,
    wants_another_round=wants_another_round,
    criteria_for_feedback=criteria_for_feedback,
    score=score,
    read_marks=read_marks,
    metric_specs=METRIC_SPECS,
    tables=TABLES,
    charts=CHARTS,
    decisions=decisions,
)
