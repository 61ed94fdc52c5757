"""Pages that hang, crash, flood, open dialogs, close themselves or leave: the judging goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from benchmark.rules.vocabulary import Mark
from runs.adapters.browsers import FoundBrowser
from runs.adapters.judges.scripted.judge import ScriptedJudge
from runs.adapters.judges.scripted.settings import ScriptedSettings
from runs.ports import EvidenceKind, OutcomeVerdict
from tests.runs.adapters.judges.conftest import Answer, Page, Site, criterion, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

_SEES_HEADING: Sequence[Mapping[str, Any]] = ({"expect_visible": "h1"},)


class Hostile(NamedTuple):
    """A page below /, what is tried on it, and what comes of it."""

    page: Page
    script: Sequence[Mapping[str, Any]]
    mark: Mark
    rationale: str = ""


def _endless(path: str) -> Answer:
    return 302, {"Location": f"{path}x"}, b""


_HANG = "The page did not respond for 5 s."
HOSTILE = {
    "hangs-at-once": Hostile("<h1>Hi</h1><script>while (true);</script>", _SEES_HEADING, Mark.FAIL, _HANG),
    "hangs-on-click": Hostile(
        "<h1>Hi</h1><button onclick='while (true);'>Go</button>",
        ({"expect_visible": "h1"}, {"click": "button"}, {"expect_text": "h1", "equals": "Bye"}),
        Mark.FAIL,
        _HANG,
    ),
    "alerts-for-ever": Hostile(
        "<h1>Hi</h1><script>setTimeout(() => { while (true) alert('no'); }, 0)</script>",
        ({"wait": 2000}, {"expect_visible": "h1"}),
        Mark.FAIL,
        "The page opened dialogs without end (50 and more).",
    ),
    "crashes": Hostile(
        "<h1>Hi</h1><script>const a = []; while (true) a.push(new Array(1e5).fill(1.5))</script>",
        _SEES_HEADING,
        Mark.FAIL,
        "The page crashed its browser tab, also when it was tried again.",
    ),
    "redirects-for-ever": Hostile(_endless, _SEES_HEADING, Mark.FAIL, "redirects without end."),
    "leaves": Hostile(
        "<script>location = 'http://127.0.0.1:9/away'</script>",
        ({"wait": 300}, *_SEES_HEADING),
        Mark.FAIL,
        "Expected to see the heading, but it is not there. The page had left the application.",
    ),
    "closes-itself": Hostile(
        "<button onclick=\"window.open(location.href, 'x'); window.close(); setTimeout(() => window.close(), 50)\">x</button>",
        ({"click": "button"}, {"use_page": "newest"}, {"click": "button"}, {"wait": 500}, *_SEES_HEADING),
        Mark.FAIL,
        "The page closed itself (after clicking the button).",
    ),
    "reloads-for-ever": Hostile("<script>location.reload()</script>", _SEES_HEADING, Mark.FAIL),
    "never-answers": Hostile(
        lambda _path: _late(), _SEES_HEADING, Mark.FAIL, "did not load within 3 s."
    ),
    "holds-on": Hostile(
        "<h1>Hi</h1><input><script>onbeforeunload = e => { e.preventDefault(); return 'stay' }</script>",
        ({"type": "input", "value": "a"}, {"reload": True}, {"goto": "/fine"}, *_SEES_HEADING),
        Mark.PASS,
    ),
    "opens-many": Hostile(
        "<h1>Hi</h1><button onclick='for (let i = 0; i < 8; i++) window.open(\"/fine\")'>Go</button>",
        ({"click": "button"}, {"wait": 300}, *_SEES_HEADING),
        Mark.PASS,
    ),
    "prints": Hostile("<h1>Hi</h1><script>print()</script>", _SEES_HEADING, Mark.PASS),
    "says-much": Hostile(
        "<h1>Hi</h1><script>setInterval(() => { for (let i = 0; i < 200; i++) { console.log(i) } }, 5)</script>",
        ({"wait": 4000}, *_SEES_HEADING),
        Mark.FAIL,
        "The page wrote to its console without end (3,000 times and more).",
    ),
    "asks-much": Hostile(
        "<h1>Hi</h1><script>setInterval(() => { for (let i = 0; i < 50; i++) { fetch('/fine') } }, 5)</script>",
        ({"wait": 8000}, *_SEES_HEADING),
        Mark.FAIL,
        "The page sent requests without end (3,000 times and more).",
    ),
    "is-huge": Hostile(
        "<h1>Hi</h1><script>let s = ''; for (let i = 0; i < 10000; i++) s += `<p>${i}</p>`; document.body.innerHTML += s</script>",
        ({"expect_count": "p", "is": 10_000}, {"expect_texts": "p", "contains_all": ["none"]}),
        Mark.FAIL,
        'Expected "none" among the paragraphs',
    ),
    "downloads-for-ever": Hostile(
        "<h1>Hi</h1><script>for (let i = 0; i < 40; i++) { const a = document.createElement('a'); a.href = '/fine'; a.download = 'x' + i; a.click() }</script>",
        ({"wait": 300}, *_SEES_HEADING),
        Mark.PASS,
    ),
    "breaks-prototypes": Hostile(
        "<h1>Hi</h1><script>Array.prototype.map = Array.prototype.push = String.prototype.slice = () => { throw 1 };"
        "Object.defineProperty(window, 'Map', {value: undefined})</script>",
        ({"expect_text": "h1", "contains": "H"},),
        Mark.FAIL,
    ),
    "answers-nonsense": Hostile(
        (200, {"Content-Type": "text/html; charset=utf-8"}, b"\xff\xfe\x00<h1>\xed\xa0\x80</h1>"),
        ({"expect_text": "h1", "equals": "x"},),
        Mark.FAIL,
    ),
}  # fmt: skip


def _late() -> Answer:
    time.sleep(5)
    return 200, {}, b""


@pytest.fixture(scope="module")
def verdicts(chromium: FoundBrowser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, OutcomeVerdict]:
    site = Site(pages={"/": "<p>Start</p>", "/fine": "<h1>Fine</h1>"})
    site.pages |= {f"/{name}": hostile.page for name, hostile in HOSTILE.items()}
    for length in range(1, 40):
        site.pages[f"/redirects-for-ever{'x' * length}"] = _endless
    settings = ScriptedSettings(step_timeout=2.0, page_timeout=3.0)
    judge = ScriptedJudge(settings, browser=chromium, scratch=tmp_path_factory.mktemp("scratch"))
    criteria = [
        criterion(name, [{"goto": f"/{name}"}, *hostile.script], [{"goto": "/fine"}, *_SEES_HEADING])
        for name, hostile in HOSTILE.items()
    ]
    found = {}
    with serving(site), judge.session(site.app, uploads=None, is_cancelled=lambda: False) as session:
        for verdict in session.judge(criteria, on_start=lambda _key: None):
            found[verdict.key] = verdict.outcomes[0]
            found[f"{verdict.key} afterwards"] = verdict.outcomes[1]
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_gets_its_mark(name: str, verdicts: dict[str, OutcomeVerdict]):
    outcome = verdicts[name]

    if name == "breaks-prototypes":
        # What a page does to its own prototypes may be its own failure, never the bench's.
        assert outcome.mark in {Mark.PASS, Mark.FAIL}, (outcome.reason, outcome.rationale)
        return
    assert (outcome.mark, outcome.reason) == (HOSTILE[name].mark, ""), outcome.rationale
    assert HOSTILE[name].rationale in outcome.rationale


@pytest.mark.parametrize("name", HOSTILE)
def test_the_next_outcome_is_judged_as_if_nothing_had_happened(
    name: str, verdicts: dict[str, OutcomeVerdict]
):
    assert verdicts[f"{name} afterwards"].mark is Mark.PASS, verdicts[f"{name} afterwards"].rationale


def test_evidence_of_hostile_pages_stays_small(verdicts: dict[str, OutcomeVerdict]):
    for name, outcome in verdicts.items():
        sizes = {piece.kind: len(piece.content) for piece in outcome.evidence}
        assert sum(sizes.values()) < 3_000_000, (name, sizes)
        assert EvidenceKind.ACTIONS in sizes


def test_floods_are_marked_in_the_logs(verdicts: dict[str, OutcomeVerdict]):
    files = {piece.kind: piece for piece in verdicts["says-much"].evidence}

    assert json.loads(files[EvidenceKind.CONSOLE].content)["cut"] > 0
