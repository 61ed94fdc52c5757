"""Start a run: one code agent on one benchmark."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from benchmark.finding import BenchmarkUnknown, benchmark_named
from benchmark.management.door import Door
from benchmark.rules.vocabulary import RunState
from runs.launching import BadLaunch, launch, plan
from runs.models import Run
from runs.pages.capacity_words import text_of
from runs.past_trials import estimated
from runs.summaries import run_document
from runs.waiting import work_until_over

SHORTHANDS = {"rounds": "max_rounds", "threshold": "threshold", "mode": "mode"}


class Command(Door):
    """`proofroom launch`."""

    help = "Start a run of a code agent on a benchmark."
    example = "proofroom launch asuka-mini --agent replay --wait"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="Key, key@version or id of an imported benchmark.")
        parser.add_argument("--agent", required=True, help="Code agent: replay or command.")
        parser.add_argument("--judge", default="scripted", help="Judge (default: scripted).")
        parser.add_argument("--tasks", help="Task keys, separated by commas (default: all).")
        parser.add_argument("--repeats", type=int, default=1, help="Trials a task (default: 1).")
        parser.add_argument("--name", default="", help="A name for tables and lists.")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="A setting of the protocol; agent.KEY and judge.KEY set those of the adapters.",
        )
        parser.add_argument("--rounds", help="Same as --set max_rounds=N.")
        parser.add_argument("--threshold", help="Same as --set threshold=T.")
        parser.add_argument("--mode", help="Same as --set mode=dag or mode=flat.")
        parser.add_argument(
            "--workspaces",
            help="Candidate to replay: a recorded one's name, or a folder PATH/<task>/round_<n>.",
        )
        parser.add_argument("--command", help="Command line of the `command` agent.")
        parser.add_argument(
            "--sandbox",
            default="",
            metavar="LEVEL",
            help="auto, bubblewrap, docker, podman or none (default: PROOFROOM_SANDBOX).",
        )
        parser.add_argument(
            "--estimate",
            action="store_true",
            help="Say what the run will need, by past runs of its kind, and launch nothing.",
        )
        parser.add_argument(
            "--wait", action="store_true", help="Work on the run here and answer when it is over."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            benchmark = benchmark_named(options["benchmark"])
        except BenchmarkUnknown as unknown:
            self.bad_input(str(unknown))
        given = self._settings(options)
        tasks = options["tasks"]
        try:
            checked = plan(
                benchmark,
                agent=options["agent"],
                agent_settings=given["agent"],
                judge=options["judge"],
                judge_settings=given["judge"],
                settings=given["protocol"],
                tasks=None if tasks is None else [key.strip() for key in tasks.split(",") if key.strip()],
                repeats=options["repeats"],
                sandbox=options["sandbox"],
                by_operator=True,
            )
        except BadLaunch as bad:
            self.bad_input(str(bad))
        for warning in checked.warnings:
            self.say(f"Note: {warning}")
        if options["estimate"]:
            needed = estimated(
                benchmark,
                agent=checked.agent,
                agent_settings=checked.agent_settings,
                judge=checked.judge,
                judge_settings=checked.judge_settings,
                protocol_settings=checked.settings,
                trials=len(checked.tasks) * checked.repeats,
            )
            self.answer(needed.as_json(), text=text_of(needed))
            return
        run = launch(checked, name=options["name"])
        if options["wait"]:
            work_until_over(run, say=self.say)
        run = Run.objects.select_related("benchmark").get(pk=run.pk)
        self.answer(run_document(run), text=f"Run {run.pk} on {benchmark} is {run.state}.")
        if options["wait"] and run.state != RunState.FINISHED:
            self.failed_job(f"Run {run.pk} is {run.state}; `proofroom retry {run.pk}` continues it.")

    def _settings(self, options: dict[str, Any]) -> dict[str, dict[str, str]]:
        given: dict[str, dict[str, str]] = {"protocol": {}, "agent": {}, "judge": {}}
        for pair in options["set"]:
            key, separator, value = pair.partition("=")
            if not separator or not key.strip():
                self.bad_input(f"--set {pair!r} is not KEY=VALUE, such as --set threshold=0.5.")
            prefix, dot, name = key.strip().partition(".")
            if dot and prefix in ("agent", "judge"):
                given[prefix][name] = value
            else:
                given["protocol"][key.strip()] = value
        for option, name in SHORTHANDS.items():
            if options[option] is not None:
                given["protocol"][name] = options[option]
        if options["workspaces"]:
            given["agent"]["candidate"] = options["workspaces"]
        if options["command"]:
            given["agent"]["command"] = options["command"]
        return given
