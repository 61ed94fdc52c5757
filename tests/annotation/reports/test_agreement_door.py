"""`proofroom agreement` from a file: the contract's document, every format, and one sentence for bad input."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.annotation.agreement.published import oracle, shared

QUICK = ("--resamples", "60")
NAMES = """
po pe_cohen cohen_kappa cohen_kappa_linear cohen_kappa_quadratic scott_pi_fleiss fleiss_kappa
conger_kappa krippendorff_nominal krippendorff_ordinal krippendorff_interval krippendorff_ratio gwet_ac1
gwet_ac2_linear gwet_ac2_quadratic gwet_ac2_ordinal brennan_prediger_pabak linear_weighted_agreement
p_pos p_neg prevalence_index_signed bias_index_signed accuracy precision recall f1 specificity npv
f1_negative macro_f1 balanced_accuracy mcc always_pass_accuracy always_fail_accuracy mcnemar_exact_p
mcnemar_midp pearson spearman kendall_tau_b mae rmse ccc icc_1 icc_c1 icc_a1 icc_1k icc_ck icc_ak
"""
STATISTIC = {"value", "low", "high", "n", "method"}


def answered(*words: object) -> str:
    out = StringIO()
    call_command("agreement", *map(str, words), *QUICK, stdout=out)
    return out.getvalue()


def document(*words: object) -> dict[str, Any]:
    found = json.loads(answered(*words, "--format", "json"))
    assert isinstance(found, dict)
    return found


def refused(*words: object) -> str:
    with pytest.raises(CommandError) as caught:
        call_command("agreement", *map(str, words), stdout=StringIO(), stderr=StringIO())
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def table_file(tmp_path):
    """Write a two-by-two or larger table of counts as a file of ratings; rows are the first rater."""

    def written(
        table: list[list[int]],
        labels: list[str],
        *,
        raters: tuple[str, str] = ("ann", "judge"),
        clusters: int = 0,
    ) -> Path:
        lines = ["unit,rater,label" + (",cluster" if clusters else "")]
        number = 0
        for row, counts in zip(labels, table, strict=True):
            for column, count in zip(labels, counts, strict=True):
                for _ in range(count):
                    number += 1
                    where = f",p{number % clusters}" if clusters else ""
                    lines += [f"u{number},{raters[0]},{row}{where}", f"u{number},{raters[1]},{column}{where}"]
        path: Path = tmp_path / "ratings.csv"
        path.write_text("\n".join(lines) + "\n")
        return path

    return written


@pytest.fixture
def house(table_file):
    """Pass, partial and fail in thirty projects."""
    return table_file([[10, 4, 2], [3, 9, 4], [1, 5, 62]], ["fail", "partial", "pass"], clusters=30)


def devai(path: Path) -> Path:
    """Published judgements of people and of an agent on 366 requirements, as a file of ratings."""
    root = shared("data/devai/judgment/GPT-Pilot")
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["unit", "rater", "label", "cluster"])
        for rater, folder in (("human", "human_as_a_judge"), ("judge", "agent_as_a_judge/gray_box")):
            for file in sorted((root / folder).glob("*.json")):
                for requirement in json.loads(file.read_text())["requirements"]:
                    unit = f"{file.stem}/{requirement['requirement_id']}"
                    label = "pass" if requirement["satisfied"] is True else "fail"
                    writer.writerow([unit, rater, label, file.stem])
    return path


@pytest.mark.parametrize("labels", [(), ("--labels", "fail,pass")])
def test_the_published_judgements_of_devai_give_the_published_agreement(tmp_path, labels):
    found = document(devai(tmp_path / "devai.csv"), "--gold", "human", *labels)

    pair = found["pairs"]["human|judge"]
    assert pair["confusion"] == {"tp": 142, "fp": 28, "fn": 21, "tn": 175}
    assert (found["n_units"], found["n_clusters"], pair["n"]) == (366, 55, 366)
    assert round(100 * pair["statistics"]["accuracy"]["value"], 2) == 86.61
    assert round(pair["statistics"]["cohen_kappa"]["value"], 4) == 0.7301
    # 163 of 366 were satisfied.
    assert pair["statistics"]["always_pass_accuracy"]["value"] == pytest.approx(163 / 366)


def test_the_document_is_what_the_contract_says(house):
    found = document(house, "--gold", "ann")

    assert (found["labels"], found["positive"], found["gold"]) == (["fail", "partial", "pass"], "pass", "ann")
    assert (found["n_units"], found["n_raters"], found["n_clusters"], found["excluded"]) == (100, 2, 30, [])
    assert list(found["pairs"]) == ["ann|judge"]
    pair = found["pairs"]["ann|judge"]
    assert pair["table"] == [[10, 4, 2], [3, 9, 4], [1, 5, 62]]
    assert pair["statistics"] == found["statistics"]
    for statistic in found["statistics"].values():
        assert set(statistic) >= STATISTIC or (statistic["value"] is None and statistic["reason"])


def test_every_name_of_the_contract_is_there(table_file):
    path = table_file([[5, 2, 1], [2, 5, 2], [1, 2, 9]], ["1", "2", "3"])
    assert set(NAMES.split()) <= set(document(path, "--gold", "ann", "--numeric")["statistics"])


@pytest.mark.parametrize(
    "name", ["prf_basic", "prf_no_gold_pos", "prf_no_pred_pos", "prf_all_pass", "prf_all_fail"]
)
def test_published_rates_come_through_the_door(table_file, name):
    entry = oracle(name)
    counts = entry["input"]
    table = [[counts["TN"], counts["FP"]], [counts["FN"], counts["TP"]]]
    path = table_file(table, ["fail", "pass"])

    found = document(path, "--gold", "ann", "--labels", "fail,pass")["pairs"]["ann|judge"]["statistics"]

    aliases = {"pabak": "brennan_prediger_pabak"}
    for key, expected in entry["values"].items():
        if key == "n":
            continue
        value = found[aliases.get(key, key)]["value"]
        assert value == (None if expected is None else pytest.approx(expected, abs=1e-6)), key


def test_the_gold_rater_comes_first_and_is_the_rows(table_file):
    path = table_file([[40, 9], [6, 45]], ["fail", "pass"], raters=("judge", "ann"))

    found = document(path, "--gold", "ann", "--labels", "fail,pass")["pairs"]["ann|judge"]

    assert found["table"] == [[40, 6], [9, 45]]
    assert found["confusion"] == {"tp": 45, "fp": 6, "fn": 9, "tn": 40}


def test_what_is_left_out_is_counted_in_the_document(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(
        "unit,rater,label\nu1,a,pass\nu1,b,N/A\nu2,a,fail\nu2,b,fail\nu3,a,pass\nu3,b,\nu4,a,pass\nu4,b,pass\n"
    )

    found = document(path, "--labels", "fail,pass")

    assert {"reason": "label 'N/A' is not among the declared labels", "n": 1} in found["excluded"]
    assert {"reason": "the label is empty", "n": 1} in found["excluded"]
    assert found["pairs"]["a|b"]["n"] == 2
    assert found["sensitivity"]


def test_a_label_that_was_assumed_and_never_said_is_told_of(table_file):
    path = table_file([[4, 1], [1, 9]], ["fail", "pass"])

    assert any("Nobody said partial" in warning for warning in document(path)["warnings"])
    declared = document(path, "--labels", "fail,pass")["warnings"]
    assert not any("Nobody said" in warning for warning in declared)


def test_one_seed_gives_one_document_and_another_seed_another(house):
    first, again = (answered(house, "--json", "--seed", 5) for _ in range(2))

    assert first == again
    assert document(house, "--seed", 6)["statistics"] != json.loads(first)["statistics"]


def test_no_format_shows_accuracy_without_its_baseline_beside_it(house):
    text = answered(house, "--gold", "ann")
    lines = text.splitlines()
    heads = [line for line in lines if line.startswith("Pair")]
    starts = [number for number, line in enumerate(lines) if line.startswith("Accuracy  ")]
    rows = list(csv.DictReader(io.StringIO(answered(house, "--gold", "ann", "--format", "csv"))))

    assert heads
    assert all(head.index("Accuracy") < head.index("Accuracy of always pass") for head in heads)
    assert starts
    assert all(lines[number + 1].startswith("Accuracy of always pass") for number in starts)
    assert [row for row in rows if row["statistic"] == "accuracy"]
    assert all(row["always_pass_accuracy"] for row in rows if row["statistic"] == "accuracy")
    for shape, cell in (("latex", r"Accuracy & "), ("html", '<th scope="row" dir="auto">Accuracy</th>')):
        page = answered(house, "--gold", "ann", "--format", shape).splitlines()
        at = [number for number, line in enumerate(page) if cell in line and "Pair" not in line]
        assert at
        assert all("Accuracy of always pass" in page[number + 1] for number in at)


def test_a_judge_that_always_passing_would_beat_is_warned_of(table_file):
    # 42 of 131 failures seen: accuracy 3338 / 3576, always pass 3445 / 3576.
    path = table_file([[42, 89], [149, 3296]], ["fail", "pass"])

    found = document(path, "--gold", "ann", "--labels", "fail,pass")

    assert any("always says pass would be right in 96.34%" in warning for warning in found["warnings"])
    assert "! ann|judge: a judge that always says pass" in answered(
        path, "--gold", "ann", "--labels", "fail,pass"
    )


def test_undefined_numbers_are_null_with_a_reason_and_a_dash_for_people(table_file):
    path = table_file([[0, 0], [0, 10]], ["fail", "pass"])

    kappa = document(path, "--labels", "fail,pass")["statistics"]["cohen_kappa"]
    text = answered(path, "--labels", "fail,pass")

    assert kappa["value"] is None
    assert kappa["reason"] == "no_variation"
    line = next(line for line in text.splitlines() if line.startswith("Cohen's kappa  "))
    assert "–" in line
    assert "Only one label was ever given" in line


def test_three_raters_with_gaps_have_every_pair_and_all_together(tmp_path):
    path = tmp_path / "ratings.jsonl"
    rows = [
        ("u1", "abc", "ppf"),
        ("u2", "ab", "ff"),
        ("u3", "bc", "pp"),
        ("u4", "abc", "fff"),
        ("u5", "c", "p"),
    ]
    path.write_text(
        "".join(
            json.dumps({"unit": unit, "rater": rater, "label": {"p": "pass", "f": "fail"}[label]}) + "\n"
            for unit, raters, labels in rows
            for rater, label in zip(raters, labels, strict=True)
        )
    )

    found = document(path, "--gold", "b", "--labels", "fail,pass")

    assert sorted(found["pairs"]) == ["a|c", "b|a", "b|c"]
    assert {key: pair["n"] for key, pair in found["pairs"].items()} == {"b|a": 3, "b|c": 3, "a|c": 2}
    assert "cohen_kappa" not in found["statistics"]
    assert found["statistics"]["fleiss_kappa"]["n"] == 4
    assert "All raters together" in answered(path, "--gold", "b")


def test_formulas_in_names_are_defused_in_csv_and_markup_in_html(tmp_path):
    path = tmp_path / "ratings.json"
    evil = ["=cmd+' /C calc'!A0", "<script>alert(1)</script>"]
    ratings = [
        {"unit": unit, "rater": rater, "label": label}
        for unit, labels in (("u1", "pf"), ("u2", "pp"), ("u3", "ff"))
        for rater, label in zip(evil, labels, strict=True)
    ]
    path.write_text(json.dumps({"labels": ["f", "p"], "ratings": ratings}))

    rows = csv.DictReader(io.StringIO(answered(path, "--format", "csv")))
    page = answered(path, "--format", "html")

    assert not any(cell.startswith("=") for row in rows for cell in row.values())
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_page_is_one_file_without_scripts_or_addresses(house):
    page = answered(house, "--gold", "ann", "--format", "html")

    class Watcher(HTMLParser):
        tags: set[str] = set()
        addresses: list[str] = []

        def handle_starttag(self, tag, attrs):
            self.tags.add(tag)
            self.addresses += [value for name, value in attrs if name in ("src", "href")]

    watcher = Watcher()
    watcher.feed(page)
    assert not watcher.addresses
    assert "script" not in watcher.tags
    assert "<h1>Agreement</h1>" in page


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="needs pdflatex: apt install texlive-latex-recommended"
)
def test_the_latex_document_compiles(house, tmp_path):
    call_command(
        "agreement", str(house), "--gold", "ann", "--format", "latex", "-o", str(tmp_path / "r.tex"), *QUICK
    )

    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "r.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "r.pdf").stat().st_size > 0


def test_an_output_file_is_written_whole(house, tmp_path):
    target = tmp_path / "out.json"

    said = answered(house, "--format", "json", "-o", target)

    assert said == f"Written to {target}.\n"
    assert json.loads(target.read_text())["n_units"] == 100


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Give a file of ratings or --campaign ID"),
        (("{file}", "--campaign", "1"), "one of the two"),
        (("nowhere.csv",), "'nowhere.csv' cannot be read: No such file or directory."),
        ((".",), "cannot be read: Is a directory."),
        (("a\0b",), "cannot be read"),
        (("{file}", "--gold", "nobody"), "No rater is called 'nobody'; known are ann, judge."),
        (("{file}", "--positive", "good"), "There is no label 'good'; known are fail, partial, pass."),
        (
            ("{file}", "--format", "pdf"),
            "--format 'pdf' is unknown; known are: text, json, csv, latex, html.",
        ),
        (("{file}", "--labels", "fail,,pass"), "must name each label once"),
        (("{file}", "--labels", "fail,fail"), "must name each label once"),
        (("{file}", "--labels", "good,bad"), "No row has a label of the domain (good, bad)"),
        (("{file}", "--numeric"), "have labels read as categories"),
        (("{file}", "--seed", "x"), "--seed 'x' is no whole number"),
        (("{file}", "--resamples", "1"), "--resamples '1' is no whole number from 2 to 100,000."),
        (("{file}", "--scale", "design"), "--scale names ratings of a campaign"),
        (("{file}", "-o", "no/such/folder/x"), "cannot be written"),
    ],
)
def test_bad_input_is_one_sentence_with_the_way_out(house, words, sentence):
    assert sentence in refused(*(str(house) if word == "{file}" else word for word in words))


def test_a_wide_table_is_refused_with_the_long_form(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("unit,judge,ann\nu1,pass,fail\n")

    assert "unit,rater,label / u1,judge,pass / u1,ann,fail" in refused(path)
