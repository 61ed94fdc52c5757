"""`proofroom score`: hand-checkable numbers of the published rubric, and every kind of bad input."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = (2, 3, 3, 4, 3, 5, 5, 4, 4, 3, 4, 3, 3, 4, 4, 3)
OUTCOMES = (4, 3, 3, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3)
NEEDS: dict[int, tuple[int, ...]] = {13: (0, 7), 14: (0, 7), 15: (0, 8)}


def proj_34(**marks: Any) -> dict[str, Any]:
    """The rubric's structure with one round: given marks by criterion, everything else passes."""
    return {
        "protocol": "asuka",
        "settings": {"threshold": 0.5, "mode": "dag"},
        "tasks": [
            {
                "key": "proj_34",
                "criteria": [
                    {
                        "key": str(number),
                        "kind": "functionality",
                        "weight": weight,
                        "needs": [str(need) for need in NEEDS.get(number, (0,) if number else ())],
                        "outcomes": outcomes,
                    }
                    for number, (weight, outcomes) in enumerate(zip(WEIGHTS, OUTCOMES, strict=True))
                ],
            }
        ],
        "rounds": [
            {
                "task": "proj_34",
                "round": 1,
                "marks": {str(number): "pass" for number in range(16)}
                | {key.removeprefix("c"): given for key, given in marks.items()},
            }
        ],
    }


def scored(folder: Path, document: object, *options: str) -> dict[str, Any]:
    file = folder / "marks.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    out = StringIO()
    call_command("score", str(file), "--protocol", "asuka", "--json", *options, stdout=out)
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def refused(folder: Path, content: bytes, *options: str) -> str:
    """The one sentence of a refusal, which is exit 2 and, with --json, a document too."""
    file = folder / "marks.json"
    file.write_bytes(content)
    out = StringIO()
    with pytest.raises(CommandError) as raised:
        call_command("score", str(file), "--protocol", "asuka", "--json", *options, stdout=out)
    sentence = str(raised.value)
    assert raised.value.returncode == 2
    assert json.loads(out.getvalue()) == {"error": sentence}
    assert "\n" not in sentence
    assert len(sentence) < 600
    return sentence


def share(scores: dict[str, Any], name: str) -> Fraction:
    return Fraction(scores["metrics"][name]["value"]).limit_denominator(1000)


def test_all_16_passing_is_57_of_57(tmp_path):
    scores = scored(tmp_path, proj_34())

    for name in ("task_pass_rate", "criteria_pass_rate", "implemented_rate", "project_completion_rate"):
        assert share(scores, name) == 1
    assert (scores["errors"], scores["skipped"]) == (0, 0)


def test_only_the_first_passing_is_2_of_57_with_46_executed(tmp_path):
    failing = {f"c{number}": "fail" for number in range(1, 16)}

    scores = scored(tmp_path, proj_34(**failing))

    assert share(scores, "task_pass_rate") == Fraction(2, 57)
    # 57 less 13, 14 and 15, whose second prerequisites fail: 57 - 4 - 4 - 3.
    assert share(scores, "implemented_rate") == Fraction(46, 57)
    assert scores["skipped"] == 3


def test_number_7_at_ratio_0_skips_13_and_14(tmp_path):
    scores = scored(tmp_path, proj_34(c7="fail"))

    assert scores["criteria"]["proj_34"]["13"] == scores["criteria"]["proj_34"]["14"] == "skipped"
    assert share(scores, "implemented_rate") == Fraction(49, 57)
    assert share(scores, "task_pass_rate") == Fraction(57 - 4 - 8, 57)


@pytest.mark.parametrize(("threshold", "mark"), [("0.5", "pass"), ("0.67", "skipped"), ("1", "skipped")])
def test_number_7_at_two_thirds_is_enough_at_a_half_and_not_at_one(tmp_path, threshold, mark):
    document = proj_34(c7=["pass", "pass", "fail"])

    scores = scored(tmp_path, document, "--threshold", threshold)

    assert scores["criteria"]["proj_34"]["7"] == "fail"
    assert scores["criteria"]["proj_34"]["13"] == mark


def test_flat_mode_skips_nothing_and_knows_the_gap(tmp_path):
    scores = scored(tmp_path, proj_34(c7="fail"), "--mode", "flat")

    assert scores["skipped"] == 0
    # Full 53/57; skipping would also take 13 and 14: 45/57.
    assert share(scores, "dag_gap") == Fraction(8, 57)


def test_the_output_has_exactly_the_documented_parts(tmp_path):
    scores = scored(tmp_path, proj_34())

    assert list(scores) == [
        *("metrics", "per_task", "per_round", "criteria", "errors", "skipped"),
        *("infrastructure_failures", "audit_failed"),
    ]
    for metric in scores["metrics"].values():
        assert set(metric) - {"denominator"} in ({"value", "half_width", "n"}, {"value", "reason"})
    cumulative = ("task_pass_rate", "criteria_pass_rate", "project_completion_rate", "implemented_rate")
    expected = {f"{name}{suffix}" for name in cumulative for suffix in ("", "_state", "_judged")}
    expected |= {"task_fix_rate", "criteria_fix_rate", "regressions", "regressions_unreached"}
    expected |= {"dag_gap", "dag_gap_strict"}
    expected |= {f"task_pass_rate_{kind}" for kind in ("presence", "functionality", "robustness")}
    assert set(scores["metrics"]) == expected
    assert scores["metrics"]["dag_gap"]["reason"]
    assert scores["per_round"][0]["round"] == 1


def changed(path: str, value: object) -> bytes:
    """The document with the value at a dotted path replaced."""
    document: Any = proj_34()
    *parents, last = path.split(".")
    node = document
    for step in parents:
        node = node[int(step)] if isinstance(node, list) else node[step]
    if isinstance(node, list):
        node[int(last)] = value
    else:
        node[last] = value
    return json.dumps(document).encode()


CRITERION = "tasks.0.criteria.1"


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[]", "holds no object"),
        (b"null", "holds no object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"tasks": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (b"{}", "None"),
        (changed("protocol", "icae"), "'icae'"),
        (changed("protocol", None), "None"),
        (changed("settings", []), "settings"),
        (changed("settings", {"treshold": 1}), "'treshold'"),
        (changed("settings.threshold", 2), "2"),
        (changed("settings.threshold", float("nan")), "nan"),
        (changed("settings.threshold", True), "True"),
        (changed("settings.mode", "tree"), "'tree'"),
        (changed("tasks", {}), "tasks"),
        (changed("tasks.0.key", ""), "''"),
        (changed("tasks.0.key", 34), "34"),
        (changed("tasks.0.criteria", []), "'proj_34'"),
        (changed(f"{CRITERION}.key", "0"), "'0'"),
        (changed(f"{CRITERION}.kind", "Presence"), "'Presence'"),
        (changed(f"{CRITERION}.weight", 0), "0"),
        (changed(f"{CRITERION}.weight", 6), "6"),
        (changed(f"{CRITERION}.weight", 1.5), "1.5"),
        (changed(f"{CRITERION}.weight", "2"), "'2'"),
        (changed(f"{CRITERION}.outcomes", 0), "0"),
        (changed(f"{CRITERION}.outcomes", 10**9), "1000000000"),
        (changed(f"{CRITERION}.needs", ["1"]), "1"),
        (changed(f"{CRITERION}.needs", ["99"]), "'99'"),
        (changed(f"{CRITERION}.needs", [7]), "7"),
        (changed("tasks.0.criteria.0.needs", ["15"]), "0"),
        (changed("rounds.0.task", "other"), "'other'"),
        (changed("rounds.0.round", 2), "2"),
        (changed("rounds.0.round", 0), "0"),
        (changed("rounds.0.repeat", 0), "0"),
        (changed("rounds.0.marks", []), "marks"),
        (changed("rounds.0.marks.99", "pass"), "'99'"),
        (changed("rounds.0.marks.3", "partial"), "'partial'"),
        (changed("rounds.0.marks.3", "PASS"), "'PASS'"),
        (changed("rounds.0.marks.3", ["pass"]), "4"),
        (changed("rounds.0.marks.3", ["pass", "pass", "pass", "skipped"]), "skipped"),
        (changed("rounds.0.marks.3", "skipped"), "'3'"),
        (changed("rounds.0.marks.3", None), "None"),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, bytes) else value,
)
def test_bad_input_is_one_sentence_that_names_the_value(tmp_path, content, named):
    assert named in refused(tmp_path, content)


def test_the_same_round_twice_and_the_same_task_twice_are_refused(tmp_path):
    twice: dict[str, Any] = proj_34()
    twice["rounds"] *= 2
    doubled: dict[str, Any] = proj_34()
    doubled["tasks"] *= 2

    assert "Round 1 of task 'proj_34' is given twice" in refused(tmp_path, json.dumps(twice).encode())
    assert "The task 'proj_34' is declared twice" in refused(tmp_path, json.dumps(doubled).encode())


def test_skipped_is_refused_in_flat_mode(tmp_path):
    document = json.dumps(proj_34(c7="fail", c13="skipped")).encode()

    assert "skipped" in refused(tmp_path, document, "--mode", "flat")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--threshold", "half"), "'half'"),
        (("--threshold", "inf"), "'inf'"),
        (("--mode", "both"), "'both'"),
    ],
)
def test_a_bad_override_is_one_sentence_that_names_the_value(tmp_path, options, named):
    assert named in refused(tmp_path, json.dumps(proj_34()).encode(), *options)


def test_an_unknown_protocol_names_the_known_ones(tmp_path):
    file = tmp_path / "marks.json"
    file.write_text(json.dumps(proj_34()))

    with pytest.raises(CommandError, match=r"'evo'.*asuka") as raised:
        call_command("score", str(file), "--protocol", "evo")

    assert raised.value.returncode == 2


@pytest.mark.parametrize("name", ["", "nowhere.json"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    with pytest.raises(CommandError, match="cannot be read") as raised:
        call_command("score", str(tmp_path / name), "--protocol", "asuka")

    assert raised.value.returncode == 2


def test_marks_come_through_a_pipe_with_a_byte_order_mark_and_half_characters():
    document = proj_34()
    document["tasks"][0]["key"] = document["rounds"][0]["task"] = "\ud800 测试"

    done = subprocess.run(
        [sys.executable, "manage.py", "score", "-", "--protocol", "asuka", "--json"],
        input=b"\xef\xbb\xbf" + json.dumps(document).encode(),
        capture_output=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert list(json.loads(done.stdout)["per_task"]) == ["\ud800 测试"]


def test_bad_input_through_a_pipe_is_exit_2_with_the_sentence_alone_on_stderr():
    done = subprocess.run(
        [sys.executable, "manage.py", "score", "-", "--protocol", "asuka"],
        input=b"[" * 100_000,
        capture_output=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"'-' is nested too deeply; a marks file needs six levels.\n"


def test_text_shows_undefined_numbers_with_their_reason(tmp_path):
    file = tmp_path / "marks.json"
    file.write_text(json.dumps(proj_34()), encoding="utf-8-sig")
    out = io.StringIO()

    call_command("score", str(file), "--protocol", "asuka", stdout=out)

    lines = out.getvalue().splitlines()
    assert "task_pass_rate: 1.0000 (n = 1)" in lines
    assert any(line.startswith("dag_gap: – (") for line in lines)
