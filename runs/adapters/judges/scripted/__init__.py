"""The judge without a model: it performs each outcome's script in a real Chromium."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchmark.rules.protocol import SettingSpec
from benchmark.rules.scripts import MOST_STEPS
from runs.adapters.kinds import Settings

if TYPE_CHECKING:
    from runs.adapters.judges import JudgeKit
    from runs.ports import Judge

NAME = "scripted"
TITLE = "Scripted: plays each outcome's steps in Chromium"
SETTINGS = (
    SettingSpec(
        name="step_timeout",
        type=float,
        default=3.0,
        minimum=0.1,
        maximum=30,
        help="Seconds that an expectation is retried and an element looked for.",
    ),
    SettingSpec(
        name="page_timeout",
        type=float,
        default=15.0,
        minimum=0.5,
        maximum=120,
        help="Seconds that a page may take to load.",
    ),
    SettingSpec(
        name="time_limit",
        type=float,
        default=3600.0,
        minimum=1,
        maximum=86_400,
        help="Seconds that the judging of one round may take.",
    ),
    SettingSpec(
        name="concurrency",
        type=int,
        default=3,
        minimum=1,
        maximum=16,
        help="Criteria judged at the same time.",
    ),
    SettingSpec(
        name="max_steps",
        type=int,
        default=MOST_STEPS,
        minimum=1,
        maximum=10_000,
        help="Steps that one criterion may take.",
    ),
    SettingSpec(
        name="retries",
        type=int,
        default=3,
        minimum=0,
        maximum=10,
        help="Tries again where the browser, not the candidate, fails.",
    ),
    SettingSpec(
        name="trace",
        type=str,
        default="off",
        choices=("off", "on"),
        help="Keep a Playwright trace of each criterion.",
    ),
)


def build(settings: Settings, kit: JudgeKit) -> Judge:
    """Return the judge; whether there is a browser shows when a session is opened."""
    # Imported here: the child process that drives the browser imports this package too.
    from runs.adapters.browsers import find_chromium
    from runs.adapters.judges.scripted.judge import ScriptedJudge
    from runs.adapters.judges.scripted.settings import ScriptedSettings

    given = {**settings, "trace": settings["trace"] == "on"}
    kit.scratch.mkdir(parents=True, exist_ok=True)
    return ScriptedJudge(
        ScriptedSettings.from_mapping(given),
        browser=find_chromium(kit.chromium, environment=os.environ),
        sandbox=kit.sandbox,
        scratch=kit.scratch,
    )
