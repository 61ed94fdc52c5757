"""The judge without a model: it performs each outcome's script in a real Chromium."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchmark.rules.protocol import BadSetting, SettingSpec
from benchmark.rules.scripts import MOST_STEPS
from runs.adapters.browsers import find_chromium
from runs.adapters.kinds import Settings

if TYPE_CHECKING:
    from runs.adapters.judges import JudgeKit
    from runs.ports import Judge

NAME = "scripted"
TITLE = "Scripts in a real browser"
SETTINGS = (
    SettingSpec(
        name="step_timeout",
        type=float,
        default=3.0,
        minimum=0.1,
        maximum=30.0,
        help="Seconds for which an expectation is retried and an element is looked for.",
    ),
    SettingSpec(
        name="page_timeout",
        type=float,
        default=15.0,
        minimum=0.5,
        maximum=120.0,
        help="Seconds that a page may take to load.",
    ),
    SettingSpec(
        name="time_limit",
        type=float,
        default=3600.0,
        minimum=1.0,
        maximum=86_400.0,
        help="Seconds for judging one round; what is not judged by then is an error.",
    ),
    SettingSpec(
        name="concurrency",
        type=int,
        default=3,
        minimum=1,
        maximum=16,
        help="Criteria that are judged at the same time.",
    ),
    SettingSpec(
        name="max_steps",
        type=int,
        default=MOST_STEPS,
        minimum=1,
        maximum=10_000,
        help="Steps that all scripts of one criterion may take together.",
    ),
    SettingSpec(
        name="retries",
        type=int,
        default=3,
        minimum=0,
        maximum=10,
        help="How often a criterion is tried again when the browser, not the candidate, fails.",
    ),
    SettingSpec(
        name="trace",
        type=str,
        default="off",
        choices=("off", "on"),
        help="Whether a Playwright trace of every outcome is kept.",
    ),
)


def build(settings: Settings, kit: JudgeKit) -> Judge:
    """Return the judge; where there is no browser, its sessions say so."""
    # The judge's own process imports this package too, and needs nothing of its parent.
    from runs.adapters.judges.scripted.judge import ScriptedJudge
    from runs.adapters.judges.scripted.settings import ScriptedSettings

    try:
        chosen = ScriptedSettings.from_mapping({**settings, "trace": settings["trace"] == "on"})
    except ValueError as error:
        raise BadSetting(str(error)) from None
    return ScriptedJudge(
        chosen,
        browser=find_chromium(kit.chromium, environment=os.environ),
        sandbox=kit.sandbox,
        scratch=kit.scratch,
        places=kit.places,
    )
