"""Log lines: each names its run, trial, round, stage and request; none holds a secret."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.test import RequestFactory

from proofroom.probes import observed
from runs import engine
from runs.log_lines import HIDDEN, JsonLines, LineFormatter, log_words
from tests import make

KEY = 'ke"y-of-this-site'


@pytest.fixture
def lines() -> Iterator[StringIO]:
    """What is logged while the test runs, as JSON lines."""
    out = StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines(secrets=[KEY]))
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel("INFO")
    yield out
    root.removeHandler(handler)
    root.setLevel(before)


def documents(out: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def record(text: str, *args: object) -> logging.LogRecord:
    return logging.LogRecord("runs.engine", logging.WARNING, "x.py", 1, text, args, None)


def test_a_line_carries_the_words_of_where_it_was_logged_and_of_nowhere_else():
    with log_words(run=3, trial=4), log_words(round=1, stage="judge"):
        inside = LineFormatter("%(levelname)s %(message)s").format(record("Slow."))
    outside = LineFormatter("%(levelname)s %(message)s").format(record("Slow."))

    assert inside == "WARNING Slow. [run 3 trial 4 round 1 stage judge]"
    assert outside == "WARNING Slow."


def test_in_json_they_are_members_and_a_line_is_one_document(lines):
    with log_words(run=3, stage="code"):
        logging.getLogger("runs").warning("Two\nlines and %s", "é")

    (document,) = documents(lines)
    assert (document["run"], document["stage"], document["level"], document["logger"]) == (
        3,
        "code",
        "WARNING",
        "runs",
    )
    assert document["message"] == "Two\nlines and é"
    assert document["at"].startswith("20")


@pytest.mark.django_db(transaction=True)
def test_trouble_of_a_stage_is_logged_with_its_run_trial_round_and_stage(lines, tmp_path):
    trial = make.run(max_rounds=1).trials.get()

    class Breaks(RuntimeError):
        pass

    def no_judge(*_: object) -> Any:
        raise Breaks("the bench broke")

    from dataclasses import replace

    tools = replace(make.toolbox(tmp_path), judge=no_judge)
    with pytest.raises(Breaks):
        engine.advance(trial.pk, toolbox=tools, worker="w")

    told = [line for line in documents(lines) if "exc_info" in line]
    assert {name: told[0][name] for name in ("run", "trial")} == {"run": trial.run_id, "trial": trial.pk}
    assert "the bench broke" in told[0]["exc_info"]


def test_a_request_is_named_in_what_it_logs(lines):
    def view(request):
        logging.getLogger("annotation").warning("Saved.")
        from django.http import HttpResponse

        return HttpResponse()

    request = RequestFactory().get("/")
    request.request_id = "abc123"  # type: ignore[attr-defined]
    request.resolver_match = None
    observed(view)(request)

    assert documents(lines)[0]["request"] == "abc123"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"the key is {KEY}", KEY),
        ("postgres://bench:hunter2-pw@db:5432/rooms refused", "hunter2-pw"),
        ("redis://:hunter2-pw@cache:6379/0 refused", "hunter2-pw"),
        ("Authorization: Bearer abc.def.ghi", "abc.def.ghi"),
        ("{'Authorization': 'Bearer abc.def'}", "abc.def"),
        ("OPENAI_API_KEY=sk-123456 was refused", "sk-123456"),
        ('{"password": "opensesame"}', "opensesame"),
        ("?token=abcdef&x=1", "abcdef"),
    ],
)
def test_a_secret_is_hidden_in_both_formats_also_in_a_traceback(text, secret):
    for formatter in (LineFormatter("%(message)s", secrets=[KEY]), JsonLines(secrets=[KEY])):
        told = record("%s", text)
        try:
            int(text)
        except ValueError:
            told.exc_info = sys.exc_info()
        written = formatter.format(told)

        assert secret not in written
        assert json.dumps(secret)[1:-1] not in written
        assert HIDDEN in written


def test_what_is_no_secret_stays():
    text = "Trial 4: the token count is 12; 3 tokens of 5; see http://x.localhost:8000/a and secret santa"

    assert LineFormatter("%(message)s", secrets=["", "abc"]).format(record(text)) == text
