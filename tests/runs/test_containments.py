"""The containment report: what is kept of each use, once, and that nothing is left of what ran."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from benchmark.importing import import_path
from benchmark.rules.vocabulary import ExitReason, RunState, StageName, TrialState
from runs import engine, launching
from runs.adapters.code_agents import AgentKit, code_agent
from runs.adapters.code_agents.replay import folder_workspaces
from runs.adapters.deployers import LocalDeployer
from runs.adapters.sandboxes import Limits, held_commands
from runs.adapters.scripted import ScriptedAgent, ScriptedDeployer, ScriptedJudge
from runs.containments import MOST_LEFT, Ledger, hit_words, merged
from runs.isolation import Look, SandboxLevel
from runs.models import ContainmentRow, Deployment, Run, Trial
from runs.ports import AgentTurn, CodeAgent, Containment, LimitHit, LimitKind, not_noted
from runs.sandbox_looks import look
from runs.sandboxing import RefusingSandbox, sandbox_at
from tests import make

SAMPLE = Path(__file__).parents[2] / "benchmark" / "protocols" / "asuka" / "sample" / "asuka-mini"
EVERY_TASK = bool(os.environ.get("PROOFROOM_WHOLE_DEMO"))
MIB = 1 << 20

figures = st.floats(min_value=0, max_value=1e12, allow_nan=False)
hits = st.lists(st.builds(LimitHit, kind=st.sampled_from(LimitKind), limit=figures, seen=figures), max_size=4)
reports = st.builds(
    Containment,
    level=st.just("bubblewrap"),
    stage=st.just("serve"),
    processes_left=st.integers(0, 9),
    ports_left=st.lists(st.integers(1, 65535), max_size=4).map(tuple),
    files_left=st.lists(st.text(max_size=4), max_size=4).map(tuple),
    seconds_to_end=figures,
    limits_hit=hits.map(tuple),
)


@hypothesis_settings(max_examples=40)
@given(reports, reports)
def test_a_report_that_comes_twice_adds_nothing(one, other):
    once = merged(one, other)

    assert merged(once, one) == merged(once, other) == merged(once, once) == once


@hypothesis_settings(max_examples=40)
@given(reports, reports, reports)
def test_reports_may_come_in_any_order(one, two, three):
    assert merged(merged(one, two), three) == merged(three, merged(two, one))


def test_of_two_reports_the_worse_of_each_fact_is_kept():
    small = LimitHit(kind=LimitKind.MEMORY, limit=100.0, seen=120.0)
    large = replace(small, seen=180.0)
    one = Containment(
        level="none", stage="serve", ports_left=(8000,), seconds_to_end=2.0, limits_hit=(small,)
    )
    other = Containment(
        level="none", stage="serve", processes_left=1, ports_left=(3000,), limits_hit=(large,)
    )

    both = merged(one, other)

    assert (both.processes_left, both.ports_left, both.seconds_to_end) == (1, (3000, 8000), 2.0)
    assert both.limits_hit == (large,)


def test_limits_are_told_in_units_that_a_person_reads():
    assert hit_words(LimitHit(kind=LimitKind.MEMORY, limit=4e9, seen=4.2e9)) == (
        "memory: 4.2 GB seen, 4.0 GB allowed"
    )
    assert hit_words(LimitHit(kind=LimitKind.PROCESSES, limit=512, seen=513)) == (
        "processes: 513 seen, 512 allowed"
    )
    assert hit_words(LimitHit(kind=LimitKind.WALL_CLOCK, limit=300, seen=301)) == (
        "wall clock: 5 min seen, 5 min allowed"
    )


class LeavingDeployer(ScriptedDeployer):
    """Stands, and tells of what was left as it is told."""

    report = Containment(level="bubblewrap", stage="serve")

    @contextmanager
    def serve(self, folder, *, deploy, is_cancelled, contained=not_noted):
        with super().serve(folder, deploy=deploy, is_cancelled=is_cancelled) as app:
            yield app
        contained(self.report)


def advance(run: Run, tools, worker: str = "worker-a") -> None:
    for trial in run.trials.all():
        engine.advance(trial.pk, toolbox=tools, worker=worker)
    run.refresh_from_db()


def rows() -> list[tuple[str, str, str]]:
    return list(ContainmentRow.objects.order_by("pk").values_list("stage", "use", "level"))


@pytest.mark.django_db(transaction=True)
def test_a_stage_that_a_crash_lets_run_again_doubles_no_report(tmp_path):
    run = make.run(make.benchmark(make.task("t1", make.criterion("c0"), make.criterion("c1"))), max_rounds=1)
    judge = ScriptedJudge(dies_after=0)
    tools = make.toolbox(tmp_path, judge=judge, deployer=LeavingDeployer())
    for _crash in range(2):
        with pytest.raises(RuntimeError):
            advance(run, tools)
        Trial.objects.update(not_before=None)
    assert rows() == [("deploy", "serve", "bubblewrap"), ("judge", "serve", "bubblewrap")]
    judge.dies_after = None

    advance(run, tools, worker="worker-b")

    assert run.state == RunState.FINISHED
    assert Deployment.objects.count() == 3
    assert rows() == [("deploy", "serve", "bubblewrap"), ("judge", "serve", "bubblewrap")]


@pytest.mark.django_db(transaction=True)
def test_a_stage_that_goes_on_at_another_level_says_both(tmp_path):
    run = make.run(max_rounds=1)
    judge = ScriptedJudge(dies_after=0)
    deployer = LeavingDeployer()
    with pytest.raises(RuntimeError):
        advance(run, make.toolbox(tmp_path, judge=judge, deployer=deployer))
    Trial.objects.update(not_before=None)
    judge.dies_after = None
    deployer.report = Containment(level="docker", stage="serve")

    advance(run, make.toolbox(tmp_path, judge=judge, deployer=deployer))

    assert rows() == [("deploy", "serve", "bubblewrap"), ("judge", "serve", "docker")]


@pytest.mark.django_db(transaction=True)
def test_what_a_cancelled_trial_left_is_written_down_too(tmp_path):
    run = make.run(max_rounds=1)
    deployer = LeavingDeployer()
    deployer.report = Containment(level="none", stage="serve", processes_left=2, files_left=("/tmp/x\0y",))

    class Canceller(ScriptedJudge):
        def judge(self, criteria, *, on_start):
            launching.cancel(Run.objects.get(pk=run.pk))
            yield from super().judge(criteria, on_start=on_start)

    advance(run, make.toolbox(tmp_path, judge=Canceller(), deployer=deployer))

    row = ContainmentRow.objects.get()
    assert run.state == RunState.CANCELLED
    assert (row.processes_left, row.files_left) == (2, ["/tmp/xy"])


@pytest.mark.django_db(transaction=True)
def test_a_report_without_end_is_cut_and_without_measure_is_finite(tmp_path):
    run = make.run(max_rounds=1)
    deployer = LeavingDeployer()
    deployer.report = Containment(
        level="none",
        stage="serve",
        ports_left=tuple(range(1, 1000)),
        seconds_to_end=float("nan"),
        limits_hit=(LimitHit(kind=LimitKind.OUTPUT, limit=1.0, seen=float("inf")),),
    )

    advance(run, make.toolbox(tmp_path, deployer=deployer))

    row = ContainmentRow.objects.get()
    assert len(row.ports_left) == MOST_LEFT
    assert row.limits_hit == [{"kind": "output", "limit": 1.0, "seen": 1e18}]
    assert run.state == RunState.FINISHED


@pytest.mark.django_db(transaction=True)
def test_notes_of_other_threads_wait_for_the_worker_s_own(tmp_path):
    run = make.run(max_rounds=1)
    trial = run.trials.get()
    engine.advance(trial.pk, toolbox=make.toolbox(tmp_path), worker="worker-a")
    ContainmentRow.objects.all().delete()
    ledger = Ledger(trial=trial)
    note = ledger.noting(trial.rounds.get(), StageName.CODE)

    note(Containment(level="none", stage="agent", seconds_to_end=1.0))
    note(Containment(level="none", stage="agent", seconds_to_end=3.0))
    assert not ContainmentRow.objects.exists()
    ledger.write()
    ledger.write()

    assert ContainmentRow.objects.get().seconds_to_end == 3.0


@pytest.mark.django_db(transaction=True)
def test_a_level_that_does_not_work_here_pauses_the_trial_and_never_goes_on_at_a_lower_one(tmp_path):
    run = make.run(max_rounds=1)
    gone = Look(level=SandboxLevel.BUBBLEWRAP, works=False, seen="bubblewrap was not found", mend="apt it")
    tools = replace(make.toolbox(tmp_path), deployer=_deployer(tmp_path, sandbox_at(gone)))

    for _ in range(3):
        Trial.objects.update(not_before=None)
        advance(run, tools)

    trial = run.trials.get()
    assert isinstance(sandbox_at(gone), RefusingSandbox)
    assert trial.state == TrialState.PAUSED
    assert (
        "sandbox 'bubblewrap', which does not work on this machine: bubblewrap was not found" in trial.trouble
    )
    assert "apt it" in trial.trouble


def _deployer(place: Path, sandbox, **options) -> LocalDeployer:
    return LocalDeployer(sandbox=sandbox, scratch=place / "deployments", cache=place / "cache", **options)


@pytest.fixture(params=[SandboxLevel.BUBBLEWRAP, SandboxLevel.NONE])
def sandbox(request):
    """A real sandbox of each level that this machine has."""
    seen = look(request.param)
    if not seen.works:
        pytest.skip(seen.seen)
    return sandbox_at(seen)


HUNGRY = """
import http.server, os
hoard = []
while True:
    hoard.append(bytearray(os.urandom(1 << 20)) * 8)
"""


@pytest.mark.django_db(transaction=True)
def test_a_candidate_that_fills_memory_fails_by_its_own_limit_and_the_report_has_the_figures(
    tmp_path, sandbox
):
    run = make.run(max_rounds=1)
    limits = Limits(memory_bytes=160 * MIB)

    class Hungry(ScriptedAgent):
        def work(self, brief, *, record, is_cancelled):
            (brief.workspace / "server.py").write_text(HUNGRY)
            return AgentTurn(exit_reason=ExitReason.FINISHED)

    tools = make.toolbox(tmp_path, agent=Hungry())
    advance(run, replace(tools, deployer=_deployer(tmp_path, sandbox, use=limits)))

    failed = Deployment.objects.earliest("pk")
    row = ContainmentRow.objects.filter(use="serve").earliest("pk")
    hit = next(hit for hit in row.limits_hit if hit["kind"] == "memory")
    assert run.state == RunState.FINISHED
    assert not failed.is_healthy
    assert "memory" in failed.reason
    assert hit["limit"] == 160 * MIB
    assert hit["seen"] >= 0.8 * hit["limit"]
    assert row.level == sandbox.name


LITTERER = (
    "import os, subprocess, sys\n"
    "open('index.html', 'w').write('<h1>Here</h1>')\n"
    "for _ in range(3):\n"
    "    if os.fork() == 0:\n"
    "        os.setsid()\n"
    "        if os.fork() == 0:\n"
    "            import socket, time\n"
    "            door = socket.socket(); door.bind(('127.0.0.1', 0)); door.listen()\n"
    "            time.sleep(600)\n"
    "        os._exit(0)\n"
)


@pytest.mark.django_db(transaction=True)
def test_an_agent_that_leaves_daemons_behind_leaves_nothing(tmp_path, sandbox):
    run = make.run(max_rounds=1)
    kit = AgentKit(sandbox=sandbox, scratch=tmp_path / "agents", workspace_for=lambda task, number: None)
    command = shlex.join([f"{sys.base_prefix}/bin/python3", "-c", LITTERER])
    agent = code_agent("command").with_settings({"command": command}, kit)
    tools = replace(make.toolbox(tmp_path), code_agent=always(agent))

    advance(run, replace(tools, deployer=_deployer(tmp_path, sandbox)))

    assert run.state == RunState.FINISHED
    assert {(row.use, row.level) for row in ContainmentRow.objects.all()} == {
        ("agent", sandbox.name),
        ("serve", sandbox.name),
    }
    _assert_nothing_is_left(tmp_path)


@pytest.mark.django_db(transaction=True)
def test_after_any_trial_of_the_sample_nothing_is_left(tmp_path, sandbox):
    of = import_path(SAMPLE).benchmark
    tools = replace(make.toolbox(tmp_path, judge=ScriptedJudge()), deployer=_deployer(tmp_path, sandbox))
    for candidate in ("recorded", "rival"):
        run = make.run(of, max_rounds=3 if EVERY_TASK else 1)
        if not EVERY_TASK:
            # The third one installs packages from the network.
            run.trials.exclude(task__key__in=["corner-shop", "score-atlas"]).delete()
        kit = AgentKit(
            sandbox=sandbox,
            scratch=tmp_path / "agents",
            workspace_for=folder_workspaces(SAMPLE / "candidates" / candidate),
        )
        replay = code_agent("replay").with_settings({}, kit)
        advance(run, replace(tools, code_agent=always(replay)))
        assert run.state == RunState.FINISHED

    assert {use for _stage, use, _level in rows()} >= {"serve"}
    _assert_nothing_is_left(tmp_path)


def always(agent: CodeAgent) -> Callable[..., CodeAgent]:
    return lambda *_asked: agent


def _assert_nothing_is_left(place: Path) -> None:
    for row in ContainmentRow.objects.all():
        assert (row.processes_left, row.ports_left, row.files_left) == (0, [], []), str(row)
    assert held_commands() == 0
    assert [path for path in (place / "deployments").glob("*") if path.is_dir()] == []
    assert _processes_below(place) == []


def _processes_below(place: Path) -> list[str]:
    """Processes of this machine that work below a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink().is_relative_to(place):
                    found.append((entry / "cmdline").read_text())
            except OSError:
                continue
    return found
