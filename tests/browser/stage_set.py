"""A small world for pages: a benchmark, runs in every state, marks, logs and pictures."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from PIL import Image, ImageDraw

from benchmark import blobs, snapshots
from benchmark.models import (
    Benchmark,
    Criterion,
    ExpectedOutcome,
    Prerequisite,
    RecordedWorkspace,
    Task,
    TaskFile,
)
from benchmark.rules.vocabulary import Mark, RoundState, RunState, StageName, TrialState
from runs import scoring
from runs.models import (
    Deployment,
    Evidence,
    Judging,
    Round,
    Run,
    RunEvent,
    StageRecord,
    TrajectoryEvent,
    Trial,
    Verdict,
)

LETTERS = {"p": Mark.PASS, "a": Mark.PARTIAL, "f": Mark.FAIL, "s": Mark.SKIPPED, "e": Mark.ERROR}
STAGES = (
    StageName.BRIEF,
    StageName.CODE,
    StageName.DEPLOY,
    StageName.JUDGE,
    StageName.FEEDBACK,
    StageName.SCORE,
)

# key, title, kind, weight, prerequisites, number of outcomes
RUBRIC: tuple[tuple[str, str, str, int, tuple[str, ...], int], ...] = (
    ("c0", "Page layout", "presence", 2, (), 2),
    ("c1", "Catalogue cards", "presence", 3, ("c0",), 2),
    ("c2", "Search by name", "functionality", 3, ("c0",), 2),
    ("c3", "Sowing month", "functionality", 3, ("c0",), 1),
    ("c4", "Search with month", "functionality", 2, ("c2", "c3"), 1),
    ("c5", "Borrow a packet", "functionality", 5, ("c1",), 3),
    ("c6", "Basket persists", "robustness", 3, ("c5",), 1),
    ("c7", "Limit of five packets", "robustness", 4, ("c5",), 3),
    ("c8", "Stock stays at or above 0", "robustness", 4, ("c5",), 1),
    ("c9", "Return a packet", "functionality", 3, ("c5",), 2),
    ("c10", "Unknown code", "robustness", 1, ("c9",), 1),
    ("c11", "Loan history", "functionality", 2, ("c9",), 1),
    ("c12", "Empty search", "robustness", 2, ("c2",), 1),
    ("c13", "Fits a phone", "presence", 2, ("c0",), 2),
)

SCRIPT: list[dict[str, Any]] = [
    {"click": {"role": "button", "name": "Borrow", "nth": 0}},
    {"fill": {"label": "Search seeds"}, "value": "bean"},
    {"expect_count": {"css": ".card"}, "at_least": 1},
    {"expect_text": {"css": ".basket"}, "contains": "Broad bean"},
]


def benchmark(
    key: str = "seed-shed",
    *,
    tasks: Sequence[str] = ("seed-library", "score-atlas", "corner-shop"),
    rubric: Sequence[tuple[str, str, str, int, tuple[str, ...], int]] = RUBRIC,
    version: str = "1",
) -> Benchmark:
    """A benchmark whose tasks share one rubric; the last outcome of the last criterion has no script."""
    made = Benchmark.objects.create(
        key=key,
        version=version,
        title="Seed shed",
        description="Small applications of a village, each asked for in a sentence or two.",
        protocol="asuka",
        licence="CC-BY-4.0",
        source="benchmark pack",
        settings={"threshold": 0.5, "mode": "dag", "max_rounds": 3},
        content_hash="7c1e09ab" * 8,
    )
    for position, task_key in enumerate(tasks):
        _task(made, task_key, position=position, rubric=rubric)
    return made


def _task(made: Benchmark, key: str, *, position: int, rubric: Sequence[Any]) -> Task:
    task = Task.objects.create(
        benchmark=made,
        position=position,
        key=key,
        title=key.replace("-", " ").capitalize(),
        request="Build me a page where people of our village can borrow seeds.\n"
        "They should find a plant, see when to sow it and put it in a basket.",
        prd="## Borrowing\nAt most five packets at a time. A sixth is refused with a message that says why.\n\n"
        "## Stock\nThe number left falls by one with each loan and never goes below zero.",
        deploy={"kind": "static"},
        facts={"category": "library"},
        content_hash="ab12cd34" * 8,
    )
    criteria = Criterion.objects.bulk_create(
        Criterion(task=task, position=place, key=c, title=title, kind=kind, weight=weight)
        for place, (c, title, kind, weight, _, _) in enumerate(rubric)
    )
    by_key = {criterion.key: criterion for criterion in criteria}
    Prerequisite.objects.bulk_create(
        Prerequisite(criterion=by_key[c], needs=by_key[need])
        for c, _, _, _, needs, _ in rubric
        for need in needs
    )
    ExpectedOutcome.objects.bulk_create(
        ExpectedOutcome(
            criterion=by_key[c],
            index=index,
            text=f"{title}: what a person sees is right, in the {('first', 'second', 'third', 'fourth')[index]} way.",
            script=None if c == rubric[-1][0] and index == outcomes - 1 else SCRIPT,
        )
        for c, title, _, _, _, outcomes in rubric
        for index in range(outcomes)
    )
    TaskFile.objects.create(
        task=task,
        role="data",
        path="seeds.csv",
        digest=blobs.save_bytes(b"name,month\nBroad bean,11\n"),
        size=25,
    )
    for number in (1, 2, 3):
        RecordedWorkspace.objects.create(
            task=task, candidate="fieldbook", round_number=number, snapshot=workspace(number)
        )
    return task


def workspace(number: int) -> str:
    """The digest of a snapshot whose files differ from round to round."""
    lines = ["export function borrow(packet) {", "  basket.push(packet.id);", "  packet.left -= 1;", "}"]
    if number > 1:
        lines[1:2] = [
            "  if (basket.length >= 5) {",
            '    return refuse("Five packets at a time.");',
            "  }",
            "  basket.push(packet.id);",
        ]
    files = {
        "index.html": f"<h1>Seed library</h1>\n<!-- {number} -->\n",
        "src/basket.js": "\n".join(lines) + "\n",
    }
    if number > 2:
        files["src/stock.js"] = "export const floor = 0;\n"
    return snapshots.save(
        snapshots.Snapshot(
            files=tuple(
                snapshots.SnapshotFile(
                    path=path, digest=blobs.save_bytes(text.encode()), size=len(text), executable=False
                )
                for path, text in files.items()
            )
        )
    )


def run(
    of: Benchmark,
    *,
    agent: str = "heron-2",
    state: RunState = RunState.FINISHED,
    started_ago: timedelta = timedelta(minutes=52),
    settings: Mapping[str, Any] | None = None,
) -> Run:
    """A run without trials."""
    now = timezone.now()
    made = Run.objects.create(
        benchmark=of,
        benchmark_hash=of.content_hash,
        protocol=of.protocol,
        code_agent="replay",
        code_agent_label=agent,
        code_agent_settings={"candidate": agent},
        judge="scripted",
        judge_settings={"step_timeout": 3.0},
        sandbox="bubblewrap",
        settings={"threshold": 0.5, "mode": "dag", "max_rounds": 3, "request": "query"}
        | dict(settings or {}),
        state=state,
        started_at=now - started_ago,
        finished_at=now - timedelta(minutes=2) if state in (RunState.FINISHED, RunState.CANCELLED) else None,
    )
    RunEvent.objects.create(run=made, kind="run", text="The run began.")
    return made


def trial(
    of: Run,
    task_key: str,
    rounds: Sequence[str] = (),
    *,
    state: TrialState = TrialState.FINISHED,
    stage: StageName | None = None,
    trouble: str = "",
    repeat: int = 1,
    with_evidence: bool = True,
) -> Trial:
    """A trial with a round for each word of letters: p a f s e a criterion, `.` not judged yet."""
    task = Task.objects.get(benchmark=of.benchmark, key=task_key)
    begun = of.started_at or timezone.now()
    made = Trial.objects.create(
        run=of,
        task=task,
        repeat=repeat,
        state=state,
        stage=stage.value if stage else "",
        trouble=trouble,
        started_at=begun if rounds else None,
        finished_at=begun + timedelta(minutes=9 * len(rounds)) if state is TrialState.FINISHED else None,
    )
    for number, letters in enumerate(rounds, start=1):
        is_open = number == len(rounds) and state in (TrialState.RUNNING, TrialState.PAUSED)
        _round(made, number, letters, begun=begun, is_open=is_open, stage=stage, with_evidence=with_evidence)
    return made


def _round(
    trial: Trial,
    number: int,
    letters: str,
    *,
    begun: datetime,
    is_open: bool,
    stage: StageName | None,
    with_evidence: bool,
) -> Round:
    feedback = (
        "I could put a sixth packet in my basket. The library lends five at a time, so please stop me there "
        "and say why.\nThe month filter shows plants of other months."
    )
    made = Round.objects.create(
        trial=trial,
        number=number,
        state=RoundState.OPEN if is_open else RoundState.CLOSED,
        request=trial.task.request if number == 1 else feedback,
        feedback="" if is_open else feedback,
        snapshot=workspace(number),
        exit_reason="finished",
        closed_at=None if is_open else begun + timedelta(minutes=9 * number),
    )
    _stages(made, begun=begun + timedelta(minutes=9 * (number - 1)), is_open=is_open, current=stage)
    Deployment.objects.create(
        round=made,
        kind="static",
        is_healthy=True,
        commands=["serve index.html"],
        build_log=blobs.save_bytes(b"nothing to build\n"),
        server_log=blobs.save_bytes(b"GET / 200\nGET /src/basket.js 200\n"),
        start_seconds=0.4,
    )
    for place, text in enumerate(("I read the request.", "Wrote src/basket.js", "Done.")):
        TrajectoryEvent.objects.create(
            round=made,
            position=place,
            at=begun + timedelta(seconds=place),
            kind="message" if place != 1 else "tool_call",
            text=text,
        )
    judging = Judging.objects.create(
        round=made, judge="scripted", judge_version="1", settings_hash="0" * 64, is_primary=True
    )
    judge(judging, letters, with_evidence=with_evidence)
    return made


def _stages(round_: Round, *, begun: datetime, is_open: bool, current: StageName | None) -> None:
    at = begun
    for stage in STAGES:
        minutes = {StageName.CODE: 4.0, StageName.JUDGE: 3.2, StageName.DEPLOY: 0.8}.get(stage, 0.3)
        is_current = is_open and stage is current
        end = at + timedelta(minutes=minutes)
        StageRecord.objects.create(
            round=round_, stage=stage, started_at=at, finished_at=None if is_current else end
        )
        if is_current:
            return
        at = end


def judge(judging: Judging, letters: str, *, with_evidence: bool = True) -> None:
    """Save verdicts: `p` passes all outcomes, `a` all but the last, `f` none, `.` is left open."""
    criteria = list(judging.round.trial.task.criteria.order_by("position").prefetch_related("outcomes"))
    picture = _picture() if with_evidence else ""
    actions = _actions() if with_evidence else ""
    verdicts, pieces = [], []
    for criterion, letter in zip(criteria, letters, strict=False):
        if letter == ".":
            continue
        outcomes = list(criterion.outcomes.all())
        for outcome in outcomes:
            mark = LETTERS[letter]
            if letter == "a":
                mark = Mark.FAIL if outcome is outcomes[-1] and len(outcomes) > 1 else Mark.PASS
            verdicts.append(Verdict(judging=judging, outcome=outcome, mark=mark, **_words(mark)))
    saved = Verdict.objects.bulk_create(verdicts)
    for verdict in saved:
        if not with_evidence or verdict.mark in (Mark.SKIPPED, Mark.ERROR):
            continue
        for position, (kind, name, media_type, digest) in enumerate(
            (
                ("screenshot", "end.png", "image/png", picture),
                ("actions", "actions.json", "application/json", actions),
                ("console", "console.json", "application/json", _console()),
                ("network", "network.json", "application/json", _network()),
            )
        ):
            pieces.append(
                Evidence(
                    verdict=verdict,
                    kind=kind,
                    name=name,
                    media_type=media_type,
                    digest=digest,
                    size=100,
                    position=position,
                )
            )
    Evidence.objects.bulk_create(pieces)


def _words(mark: Mark) -> dict[str, Any]:
    words: dict[Mark, dict[str, Any]] = {
        Mark.PASS: {
            "rationale": "The basket holds the packet, and the stock shown fell from 4 to 3.",
            "seconds": 1.2,
        },
        Mark.FAIL: {"rationale": "Expected at most 5 packets in the basket; it held 6.", "seconds": 3.4},
        Mark.PARTIAL: {"rationale": "The message appears, but does not say why."},
        Mark.SKIPPED: {
            "rationale": "Not judged, because c3 Sowing month is not satisfied.",
            "reason": "needs:c3",
        },
        Mark.ERROR: {"rationale": "No script was written for this outcome.", "reason": "no_script"},
    }
    return words[mark]


def _picture() -> str:
    image = Image.new("RGB", (1280, 800), "#fbf8f1")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 1280, 72), fill="#33523d")
    draw.text((40, 26), "Hollow Lane Seed Library", fill="#ffffff", font_size=22)
    draw.rectangle((40, 104, 420, 148), outline="#b6a98a", fill="#ffffff")
    draw.text((56, 116), "Search seeds", fill="#8c8672", font_size=18)
    for place in range(6):
        x, y = 40 + place % 4 * 222, 180 + place // 4 * 250
        draw.rectangle((x, y, x + 200, y + 220), outline="#ded4bd", fill="#ffffff")
        draw.rectangle((x, y, x + 200, y + 90), fill="#e6eee2")
        draw.ellipse((x + 80, y + 20, x + 120, y + 70), fill="#6c9150")
        draw.text((x + 16, y + 108), "Broad bean", fill="#26301f", font_size=20)
        draw.text((x + 16, y + 140), "Sow Nov to Mar", fill="#6a6a5c", font_size=15)
        draw.rectangle((x + 104, y + 176, x + 184, y + 206), fill="#33523d")
        draw.text((x + 118, y + 182), "Borrow", fill="#ffffff", font_size=16)
    draw.rectangle((950, 180, 1240, 500), outline="#ded4bd", fill="#ffffff")
    draw.text((970, 200), "My basket", fill="#26301f", font_size=20)
    draw.text((1130, 202), "6 packets", fill="#6a6a5c", font_size=17)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return blobs.save_bytes(stream.getvalue())


def _actions() -> str:
    steps = [
        {
            "number": 1,
            "words": "clicked the button “Borrow”",
            "ok": True,
            "ms": 61,
            "reading": None,
            "problem": "",
        },
        {
            "number": 2,
            "words": "expected the basket to hold at most 5 packets",
            "ok": False,
            "ms": 3002,
            "reading": "6 packets",
            "problem": "It held 6 packets.",
        },
    ]
    box = {"x": 1120.0, "y": 194.0, "width": 110.0, "height": 34.0}
    document = {"schema": "proofroom/actions/1", "failed": 2, "steps": steps, "box": box}
    return blobs.save_bytes(
        json.dumps(document | {"window": {"width": 1280, "height": 800}, "address": "/catalogue"}).encode()
    )


def _console() -> str:
    entries = [
        {"ms": 120, "type": "error", "text": "packet.left is undefined\u001b[0m", "url": "/src/basket.js"}
    ]
    return blobs.save_bytes(json.dumps({"entries": entries, "cut": 0, "flooded": False}).encode())


def _network() -> str:
    entries = [
        {"ms": 3, "method": "GET", "url": "/", "status": 200},
        {"ms": 40, "method": "GET", "url": "/seeds.json", "status": 404},
    ]
    return blobs.save_bytes(
        json.dumps({"blocked": 2, "entries": entries, "cut": 0, "flooded": False}).encode()
    )


def live_run(of: Benchmark | None = None) -> Run:
    """A run half-way: finished trials, one being judged, one coding, one in trouble, one queued."""
    tasks = (
        "seed-library", "score-atlas", "trail-diary", "corner-shop", "rota-board", "tide-table",
        "plot-planner", "quiz-night", "noise-map", "tool-loan", "choir-sheet", "bread-log",
    )  # fmt: skip
    of = of or benchmark(tasks=tasks)
    made = run(of, state=RunState.RUNNING)
    done, busy = TrialState.FINISHED, TrialState.RUNNING
    judged = trial(
        made, "seed-library", ["ppffsppfpfsspa", "pppfsp...f..pp"], state=busy, stage=StageName.JUDGE
    )
    trial(made, "score-atlas", ["ppppffpppsspsa", "ppppppppaspppp", "pppppppppppppp"], state=done)
    trial(made, "trail-diary", ["fsssssssssssss", "ppppfsppppppfp", "ppppppppppppfp"], state=done)
    trial(made, "corner-shop", ["ppppppfpppsspp", "pppppppppppppp"], state=done)
    trial(made, "rota-board", ["ppffsppfpfsspe", "ppppppappfsspp"], state=busy, stage=StageName.FEEDBACK)
    trial(made, "tide-table", ["pppppppppppppp"], state=done)
    trial(made, "plot-planner", ["pppappfpppsspp", "ppppppppppffpp", ""], state=busy, stage=StageName.CODE)
    trial(made, "quiz-night", ["ppeppppppppfsp", "pppppppppppppf", "pppppppppppppp"], state=done)
    trial(made, "noise-map", ["pfsspfsssssspp", "ppppsppppppppp", "pppfspppppffpp"], state=done)
    trial(
        made, "tool-loan", ["pppppfsss....."], state=TrialState.PAUSED, stage=StageName.JUDGE,
        trouble="The browser closed three times while c9 was judged.",
    )  # fmt: skip
    trial(made, "choir-sheet", [""], state=busy, stage=StageName.DEPLOY)
    trial(made, "bread-log", [], state=TrialState.QUEUED)
    _events(made, judged)
    scoring.store(made)
    return made


def _events(of: Run, judged: Trial) -> None:
    for kind, criterion, mark, text in (
        ("begin", "c6", "", "c6 Basket persists is being judged."),
        ("begin", "c7", "", "c7 Limit of five packets is being judged."),
        ("stage", "", "", "seed-library, round 2: judging began."),
        ("verdict", "c3", "fail", "c3 Sowing month failed: expected 3 rows, saw 6."),
        ("verdict", "c4", "skipped", "c4 Search with month was skipped: c3 is not satisfied."),
        ("verdict", "c5", "pass", "c5 Borrow a packet passed, 3 of 3 outcomes."),
    ):
        RunEvent.objects.create(
            run=of, trial=judged, round_number=2, kind=kind, criterion=criterion, mark=mark, text=text
        )


def finished_runs(of: Benchmark | None = None) -> list[Run]:
    """Three agents on the same tasks, so that there is something to compare."""
    tasks = ("seed-library", "score-atlas", "corner-shop", "tide-table", "quiz-night", "rota-board")
    of = of or benchmark("seed-race", tasks=tasks)
    words = {
        "heron-2": (
            ["ppppffpppsspsp", "pppppppppppppp"],
            ["pppppppppsspsf", "ppppppppppppaf", "ppppppppppppap"],
        ),
        "quill-34b": (
            ["ppffsppfpfsspa", "pppppppfpppppa", "ppppppppfpppfa"],
            ["pppfspppppppsf", "pppppppppppppf", "pppppppppppppf"],
        ),
        "tern-9b": (
            ["pfsspfsssssspf", "pppfsfsssssspf", "ppppppsffsssff"],
            ["fsssssssssssss", "pffsssssssssff", "ppffsppfpfssff"],
        ),
    }
    made = []
    for agent, (one, other) in words.items():
        of_agent = run(of, agent=agent)
        for place, key in enumerate(of.tasks.order_by("position").values_list("key", flat=True)):
            rounds = list(one if place % 2 else other)
            if place > 3 and agent != "heron-2":
                rounds[-1] = rounds[-1].replace("ppp", "pfp", 1)
            trial(of_agent, key, rounds, with_evidence=place == 0)
        scoring.store(of_agent)
        made.append(of_agent)
    return made
