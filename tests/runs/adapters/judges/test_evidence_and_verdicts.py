"""What a verdict carries, and how criteria are kept apart and judged at once."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from benchmark.rules.vocabulary import Mark
from runs.adapters.browsers import FoundBrowser
from runs.adapters.judges import JudgeKit
from runs.adapters.judges import judge as judge_kind
from runs.adapters.judges.scripted.judge import ScriptedJudge
from runs.adapters.sandboxes import ProcessSandbox
from runs.errors import Cancelled, StageError
from runs.ports import EvidenceKind
from tests.runs.adapters.judges.conftest import Site, criterion

pytestmark = pytest.mark.browser

_COUNTER = """<p id="seen"></p><button>Next</button><script>
const show = () => { seen.textContent = localStorage.getItem("visits") ?? "none"; };
document.querySelector("button").onclick = () => {
  localStorage.setItem("visits", Number(localStorage.getItem("visits")) + 1); document.cookie = "a=1"; show(); };
show();</script>"""


def test_storage_is_shared_by_outcomes_of_a_criterion_and_by_nothing_else(judged, site: Site):
    site.pages["/"] = _COUNTER
    counting = [{"click": "button"}]

    verdicts = judged(
        criterion("first", [{"expect_text": "#seen", "equals": "1"}], [{"expect_text": "#seen", "equals": "2"}], before=counting),
        criterion("second", [{"expect_text": "#seen", "equals": "none"}]),
        concurrency=1,
    )  # fmt: skip

    assert {key: [each.mark for each in verdict.outcomes] for key, verdict in verdicts.items()} == {
        "first": [Mark.PASS, Mark.PASS],
        "second": [Mark.PASS],
    }


def test_three_criteria_are_judged_at_once(judged, site: Site):
    meeting = threading.Barrier(3)
    most = 0
    inside = 0
    lock = threading.Lock()

    def meet(_path: str) -> Any:
        nonlocal most, inside
        with lock:
            inside += 1
            most = max(most, inside)
        # Only three requests at the same time get past this.
        meeting.wait(60)
        time.sleep(0.2)
        with lock:
            inside -= 1
        return 200, {"Content-Type": "text/html"}, b"<p>met</p>"

    site.pages["/"] = meet

    verdicts = judged(
        *[criterion(f"c{n}", [{"expect_text": "p", "equals": "met"}]) for n in range(6)], page_timeout=90
    )

    assert [verdict.outcomes[0].mark for verdict in verdicts.values()] == [Mark.PASS] * 6
    assert most == 3


def test_an_outcome_without_a_script_is_an_error_that_costs_no_browser(judged, site: Site):
    site.pages["/"] = "<h1>Hi</h1>"

    verdicts = judged(criterion("mixed", None, [{"expect_visible": "h1"}]), criterion("none", None))

    mixed, none = verdicts["mixed"].outcomes, verdicts["none"].outcomes
    assert [(each.mark, each.reason) for each in mixed] == [(Mark.ERROR, "no_script"), (Mark.PASS, "")]
    assert [(each.mark, each.reason) for each in none] == [(Mark.ERROR, "no_script")]
    assert site.requests.count("/") == 1


def test_evidence_tells_what_was_done_seen_said_and_asked(outcome_of, site: Site):
    site.pages["/missing.png"] = (404, {}, b"")
    outcome = outcome_of(
        """<h1>Hi</h1><button>Go</button><img src="/missing.png">
        <script>console.log("started \\u0000 \\ud800"); fetch("http://127.0.0.1:9/elsewhere").catch(() => 0)</script>""",
        {"note": "Press the button", "click": "button"},
        {"resize": [600, 400]},
        {"expect_text": "button", "equals": "Gone"},
    )

    files = {piece.kind: piece for piece in outcome.evidence}
    picture = Image.open(io.BytesIO(files[EvidenceKind.SCREENSHOT].content))
    actions = json.loads(files[EvidenceKind.ACTIONS].content)
    console = json.loads(files[EvidenceKind.CONSOLE].content)
    network = json.loads(files[EvidenceKind.NETWORK].content)
    assert picture.size == (600, 400)
    assert actions["schema"] == "proofroom/actions/1"
    assert [(step["action"], step["phase"], step["ok"]) for step in actions["steps"]] == [
        ("goto", "open", True),
        ("click", "script", True),
        ("resize", "script", True),
        ("expect_text", "script", False),
    ]
    assert actions["steps"][1]["note"] == "Press the button"
    assert actions["steps"][3]["reading"] == "Go"
    assert actions["failed"] == 4
    assert actions["window"] == {"width": 600, "height": 400}
    assert 0 < actions["box"]["width"] < 200
    assert actions["box"]["y"] > 0
    assert "started \ufffd \ufffd" in [entry["text"] for entry in console["entries"]]
    assert {entry["url"].rpartition("/")[2]: entry["status"] for entry in network["entries"]}[
        "missing.png"
    ] == 404
    assert network["blocked"] == 1
    assert (
        next(entry for entry in network["entries"] if entry["blocked"])["url"]
        == "http://127.0.0.1:9/elsewhere"
    )
    assert '- heading "Hi" [level=1]' in files[EvidenceKind.DOM].content.decode()
    assert outcome.rationale == (
        'Expected the button to be "Gone", saw "Go" (after the step "Press the button").'
    )


def test_logs_of_a_flood_are_cut_and_counted(outcome_of):
    outcome = outcome_of(
        "<h1>Hi</h1><script>for (let i = 0; i < 1500; i++) console.log('line ' + i + 'x'.repeat(3000))</script>",
        {"expect_visible": "h1"},
        {"wait": 500},
        step_timeout=10,
    )

    console = json.loads(next(p for p in outcome.evidence if p.kind is EvidenceKind.CONSOLE).content)
    assert len(console["entries"]) == 500
    assert console["cut"] >= 1
    assert max(len(entry["text"]) for entry in console["entries"]) == 2000


def test_a_trace_is_kept_on_request(outcome_of):
    outcome = outcome_of("<h1>Hi</h1>", {"expect_visible": "h1"}, trace=True)

    trace = next(piece for piece in outcome.evidence if piece.kind is EvidenceKind.TRACE)
    assert trace.media_type == "application/zip"
    assert trace.content.startswith(b"PK")


def test_a_pattern_that_runs_wild_is_an_error_of_the_script_and_stops_nothing(judged, site: Site):
    site.pages["/"] = f"<p>{'a' * 40}!</p>"

    verdicts = judged(
        criterion(
            "wild", [{"expect_text": "p", "matches": "^(a|a)+$"}], [{"expect_text": "p", "matches": "a!"}]
        )
    )

    wild, after = verdicts["wild"].outcomes
    assert (wild.mark, wild.reason) == (Mark.ERROR, "pattern_too_slow")
    assert after.mark is Mark.PASS


@pytest.mark.parametrize(
    ("script", "reason", "rationale"),
    [
        ([{"click": "#["}], "script", "The script names its target wrongly"),
        ([{"press": "Nokey"}], "script", "unknown key 'Nokey'"),
        (
            [{"upload": "input", "files": ["uploads/none.csv"]}],
            "missing_upload",
            "no file 'uploads/none.csv'",
        ),
        ([{"wait": 0}] * 6, "too_many_steps", "take more steps than are allowed"),
    ],
)
def test_a_script_that_cannot_be_performed_says_nothing_of_the_candidate(
    outcome_of, script: list[Mapping[str, Any]], reason: str, rationale: str
):
    outcome = outcome_of("<input type=file>", *script, max_steps=5)

    assert (outcome.mark, outcome.reason) == (Mark.ERROR, reason)
    assert rationale in outcome.rationale


def test_what_is_not_judged_within_the_time_limit_is_an_error(judged, site: Site):
    site.pages["/"] = "<h1>Hi</h1>"
    waiting = [{"wait": 10_000}] * 5

    began = time.monotonic()
    verdicts = judged(*[criterion(f"c{n}", waiting) for n in range(4)], time_limit=8)

    assert [verdict.outcomes[0].reason for verdict in verdicts.values()] == ["time_limit"] * 4
    assert "time limit of 8 s" in verdicts["c0"].outcomes[0].rationale
    assert time.monotonic() - began < 30


def test_cancelling_ends_the_judging_within_seconds(judge: Callable[..., ScriptedJudge], site: Site):
    site.pages["/"] = "<h1>Hi</h1>"
    begun: list[str] = []

    def cancelled() -> bool:
        return bool(begun)

    with judge().session(site.app, uploads=None, is_cancelled=cancelled) as session:
        began = time.monotonic()
        with pytest.raises(Cancelled):
            list(session.judge([criterion("c", [{"wait": 10_000}] * 6)], on_start=begun.append))

    assert begun == ["c"]
    assert time.monotonic() - began < 40


def test_a_session_judges_layer_after_layer_with_one_browser(judge: Callable[..., ScriptedJudge], site: Site):
    site.pages["/"] = "<h1>Hi</h1>"
    marks: list[Mark] = []

    with judge().session(site.app, uploads=None, is_cancelled=lambda: False) as session:
        for number in range(3):
            layer = [criterion(f"c{number}", [{"expect_visible": "h1"}])]
            verdicts = list(session.judge(layer, on_start=lambda _key: None))
            marks.extend(verdict.outcomes[0].mark for verdict in verdicts)

        assert session._starts == 1
    assert marks == [Mark.PASS] * 3


def test_no_browser_is_trouble_of_the_bench_with_the_way_out(site: Site):
    judge = ScriptedJudge(browser=FoundBrowser(path=None, problem="No Chromium was found. Install one."))

    with (
        pytest.raises(StageError, match="No Chromium was found"),
        judge.session(site.app, uploads=None, is_cancelled=lambda: False),
    ):
        pass


def test_a_browser_that_does_not_start_is_trouble_of_the_bench(site: Site, tmp_path: Path):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    broken.chmod(0o755)
    judge = ScriptedJudge(browser=FoundBrowser(path=broken), scratch=tmp_path / "scratch")

    with (
        judge.session(site.app, uploads=None, is_cancelled=lambda: False) as session,
        pytest.raises(StageError, match="could not be started: Chromium does not start"),
    ):
        list(session.judge([criterion("c", [{"wait": 0}])], on_start=lambda _key: None))

    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_judge_is_found_by_name_and_takes_its_settings(tmp_path: Path):
    kit = JudgeKit(sandbox=ProcessSandbox(), scratch=tmp_path)

    judge = judge_kind("scripted").with_settings({"step_timeout": "0.5", "trace": "on"}, kit)

    assert judge.name == "scripted"
    assert judge.settings == {
        "step_timeout": 0.5,
        "page_timeout": 15.0,
        "time_limit": 3600.0,
        "concurrency": 3,
        "max_steps": 100,
        "retries": 3,
        "trace": True,
    }
