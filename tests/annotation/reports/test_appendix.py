"""The appendix of a paper: what is in it, that it compiles, that nobody is named, and who may have it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import subprocess
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.agreement.ratings import Excluded, Ratings
from annotation.reports.appendix import Appendix, appendix_files, appendix_zip, file_appendix
from annotation.reports.frozen_ratings import merged
from annotation.reports.recomputing.agreement_numbers.__main__ import main
from benchmark.rules.vocabulary import Mark
from people.models import AuditEntry
from tests import campaigns
from tests.annotation.reports.test_campaign_ratings import marked_by
from tests.annotation.reports.test_recompute import clusters, said
from tests.annotation.seats import seat

HARD = ("Zoë_Secret & Söhne", "judge {%}$#", "=HYPERLINK()")
needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="needs pdflatex: apt install texlive-latex-recommended"
)


def appendix(**settings) -> Appendix:
    """Three raters with hard names on fifty units of two kinds in ten secret projects."""
    names = [f"secret-project-{number}" for number in clusters(50, 10)]
    ratings = Ratings.from_codes(
        said(50, 3, 3),
        labels=("fail", "partial", "pass"),
        raters=HARD,
        units=[f"secret-unit-{place}" for place in range(50)],
        clusters=names,
        kinds=["presence", "functionality"] * 25,
        excluded=[
            Excluded(reason="label 'a secret, said' is not among the declared labels", n=3),
            Excluded(reason="label 'other secret' is not among the declared labels", n=2),
            Excluded(reason="the label is empty", n=1),
        ],
    )
    return file_appendix(ratings, gold=HARD[0], positive=None, seed=11, resamples=60, **settings)


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return appendix_files(appendix())


def unpacked(content: bytes, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return folder / "appendix"


def compiled(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", name],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
    )


def test_everything_a_reviewer_needs_is_there(files):
    expected = {"README.txt", "appendix.tex", "tables.tex", "methods.txt", "methods.tex", "statistics.csv"}
    expected |= {"groups.csv", "agreement.json", "ratings.csv", "recompute.py"}

    assert expected <= files.keys()
    for figure in ("confusion-1", "confusion-2", "forest-kind-1", "forest-cluster-2"):
        assert files[f"figures/{figure}.svg"].startswith(b"<svg")
        assert files[f"figures/{figure}.pdf"].startswith(b"%PDF")
    assert "agreement_numbers/__main__.py" in files


def test_nobody_is_named_and_nothing_is_quoted(files):
    for name, content in files.items():
        text = content.decode(errors="replace").casefold()
        for secret in ("secret", "zoë", "söhne", "hyperlink", "judge {"):
            assert secret not in text, (name, secret)
    assert json.loads(files["agreement.json"])["excluded"] == [
        {"reason": "a label is not among the declared labels", "n": 5},
        {"reason": "the label is empty", "n": 1},
    ]


def test_frozen_ratings_are_those_that_were_given(files):
    rows = list(csv.DictReader(StringIO(files["ratings.csv"].decode())))
    codes = said(50, 3, 3)

    assert len(rows) == (codes >= 0).sum()
    counts = {label: sum(row["label"] == label for row in rows) for label in ("fail", "partial", "pass")}
    assert list(counts.values()) == [(codes == code).sum() for code in range(3)]
    assert {row["rater"] for row in rows} == {"rater-1", "rater-2", "rater-3"}
    assert len({row["cluster"] for row in rows}) == 10
    assert rows[0] | {"label": ""} == {
        "unit": "unit-01",
        "rater": "rater-1",
        "label": "",
        "cluster": "cluster-01",
        "kind": "presence",
    }


@pytest.mark.django_db
def test_the_door_gives_the_same_numbers_from_the_frozen_ratings(files, tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_bytes(files["ratings.csv"])
    out = StringIO()
    words = [
        "--labels",
        "fail,partial,pass",
        "--gold",
        "rater-1",
        "--seed",
        "11",
        "--resamples",
        "60",
        "--json",
    ]

    call_command("agreement", str(path), *words, stdout=out)

    again, report = json.loads(out.getvalue()), json.loads(files["agreement.json"])
    for pair in ("rater-1|rater-2", "rater-1|rater-3"):
        assert again["pairs"][pair]["table"] == report["pairs"][pair]["table"]
        for end in ("value", "low", "high"):
            kappas = [each["pairs"][pair]["statistics"]["cohen_kappa"][end] for each in (again, report)]
            assert kappas[0] == pytest.approx(kappas[1], abs=1e-12)


def test_the_same_ratings_give_the_same_files(files):
    again = appendix_files(appendix())

    assert again.keys() == files.keys()
    # What writes PDF numbers its objects in no fixed order.
    for name in (name for name in files if not name.endswith(".pdf")):
        assert again[name] == files[name], name


def test_the_zip_holds_the_sums_of_its_files():
    with zipfile.ZipFile(io.BytesIO(appendix_zip(appendix()))) as archive:
        sums = archive.read("appendix/SHA256SUMS").decode().splitlines()
        assert len(sums) == len(archive.namelist()) - 1
        for line in sums:
            digest, name = line.split("  ")
            assert hashlib.sha256(archive.read(f"appendix/{name}")).hexdigest() == digest


def test_the_methods_name_everything_that_was_chosen(files):
    methods = files["methods.txt"].decode()

    for words in (
        "3 raters gave",
        "to 50 units in 10 clusters",
        "fail, partial and pass; pass is positive",
        "rater-2 (n = ",
        "5 because a label is not among the declared labels and 1 because the label is empty",
        "Cohen's kappa",
        "Gwet (AC1 and AC2",
        "Krippendorff's alpha",
        "unweighted, linear, quadratic and ordinal weights",
        "60 resamples of clusters",
        "seed 11",
        "delete-one-cluster jackknife interval (t with 9 degrees of freedom)",
        "counted as the lowest, and counted as the highest",
    ):
        assert words in methods


def test_groups_have_the_numbers_of_their_units(files):
    groups = json.loads(files["agreement.json"])["groups"]["rater-1|rater-2"]
    codes = said(50, 3, 3)
    both = (codes[:, :2] >= 0).all(axis=1)

    # Every second unit is of the other kind.
    assert groups["kind"]["presence"]["n"] == both[0::2].sum()
    assert groups["kind"]["functionality"]["n"] == both[1::2].sum()
    assert sum(group["n"] for group in groups["cluster"].values()) == both.sum()


@needs_latex
def test_the_appendix_compiles_alone_and_with_its_figures(files, tmp_path):
    (tmp_path / "appendix.tex").write_bytes(files["appendix.tex"])

    alone = compiled(tmp_path, "appendix.tex")
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    whole = compiled(tmp_path, "appendix.tex")

    assert alone.returncode == 0, alone.stdout[-2000:]
    assert whole.returncode == 0, whole.stdout[-2000:]
    assert "forest-kind-1.pdf" in whole.stdout
    assert "Too many unprocessed floats" not in whole.stdout


@needs_latex
def test_tables_and_methods_can_be_input_where_their_packages_are(files, tmp_path):
    for name in ("tables.tex", "methods.tex"):
        (tmp_path / name).write_bytes(files[name])
    packages = "".join(rf"\usepackage{{{name}}}" for name in ("booktabs", "longtable", "graphicx"))
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{textcomp}"
        rf"{packages}\begin{{document}}\input{{methods}}\input{{tables}}\end{{document}}"
    )

    done = compiled(tmp_path, "paper.tex")

    assert done.returncode == 0, done.stdout[-2000:]


def test_scores_have_a_figure_with_their_limits():
    labels = tuple("12345")
    ratings = Ratings.from_codes(said(60, 2, 5), labels=labels, clusters=clusters(60, 10), is_numeric=True)

    found = appendix_files(file_appendix(ratings, gold=None, positive=None, seed=1, resamples=40))

    assert b"limits of agreement" in found["figures/scores-1.svg"]
    assert "six intraclass correlations" in found["methods.txt"].decode()
    assert "groups.csv" not in found


def test_two_parts_of_one_order_are_put_back_into_it():
    assert merged(("a", "c", "e"), ("b", "c", "d")) == ("b", "a", "c", "d", "e")
    assert merged(("a", "b"), ()) == ("a", "b")
    assert merged((), ("a", "b")) == ("a", "b")


def test_the_door_writes_the_appendix_beside_the_report(files, tmp_path):
    ratings, target = tmp_path / "r.csv", tmp_path / "paper.zip"
    ratings.write_bytes(files["ratings.csv"])
    out, err = StringIO(), StringIO()

    call_command(
        "agreement",
        str(ratings),
        *("--labels", "fail,partial,pass", "--gold", "rater-2", "--resamples", "40", "--json"),
        *("--appendix", str(target)),
        stdout=out,
        stderr=err,
    )

    assert json.loads(out.getvalue())["gold"] == "rater-2"
    assert f"Written to {target}." in err.getvalue()
    assert main([str(unpacked(target.read_bytes(), tmp_path))]) == 0


def disputed(**settings):
    """Two judged projects that two people marked, one of them a little stricter."""
    return marked_by("ann", "bob", fails={"bob": {0: Mark.FAIL}}, **settings)


def address(campaign, query: str = "") -> str:
    return reverse("annotation:agreement_appendix", args=[campaign.pk]) + query


@pytest.mark.django_db
def test_a_lead_takes_the_appendix_of_a_campaign_and_its_script_agrees(tmp_path, capsys):
    campaign = disputed()

    answer = seat(campaigns.lead("warden")).get(address(campaign))

    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="campaign-{campaign.pk}-appendix.zip"'
    folder = unpacked(answer.content, tmp_path)
    assert main([str(folder)]) == 0, capsys.readouterr().err
    report = json.loads((folder / "agreement.json").read_text())
    assert list(report["pairs"]) == ["people|judge"]
    assert report["pairs"]["people|judge"]["confusion"] == {"tp": 4, "fp": 0, "fn": 2, "tn": 0}
    assert report["human_ceiling"]["people"] in (["person-1", "person-2"], ["person-2", "person-1"])
    # 6 of 8 outcomes were marked alike by both.
    assert report["human_ceiling"]["human_human"]["po"]["value"] == pytest.approx(6 / 8)
    entry = AuditEntry.objects.get(act="export", subject=f"campaign:{campaign.pk}")
    assert entry.details["kind"] == "agreement appendix"


@pytest.mark.django_db
def test_a_campaigns_appendix_names_no_person_judge_agent_or_project(tmp_path):
    campaign = disputed()

    folder = unpacked(seat(campaigns.lead("warden")).get(address(campaign)).content, tmp_path)

    names = {"ann", "bob", "planned", "heron", campaign.name.casefold()}
    for row in csv.DictReader(StringIO((folder / "ratings.csv").read_text())):
        assert names.isdisjoint(value.casefold() for value in row.values())
        assert row["agent"] == "agent-1"
        assert row["unit"].startswith("unit-")
        assert row["cluster"].startswith("cluster-")
    for path in folder.rglob("*.*"):
        text = path.read_bytes().decode(errors="replace").casefold()
        for secret in ("judge:planned", "heron", "trial-"):
            assert secret not in text, path.name


@pytest.mark.django_db
def test_another_gold_rater_and_the_door_of_a_campaign(tmp_path, capsys):
    campaign, target = disputed(), tmp_path / "paper.zip"

    call_command(
        "agreement",
        *("--campaign", str(campaign.pk), "--gold", "ann", "--resamples", "40", "--appendix", str(target)),
        stdout=StringIO(),
        stderr=StringIO(),
    )

    folder = unpacked(target.read_bytes(), tmp_path)
    report = json.loads((folder / "agreement.json").read_text())
    assert report["gold"].startswith("person-")
    assert len(report["pairs"]) == 3
    assert main([str(folder)]) == 0, capsys.readouterr().err


@pytest.mark.django_db
def test_only_leads_who_are_not_blind_may_have_it():
    campaign = disputed()
    blind = campaigns.lead("blindlead")
    other = campaigns.planned(campaign.runs.get(), annotators=[blind])

    assert seat(campaigns.person("ann2")).get(address(campaign)).status_code == 403
    assert other.is_blind
    assert seat(blind).get(address(campaign)).status_code == 403


@pytest.mark.django_db
def test_a_campaign_in_which_nothing_was_handed_in_has_none():
    run = campaigns.run(campaigns.benchmark(tasks=1, criteria=1))
    campaign = campaigns.planned(run, annotators=[campaigns.person("ann")])
    campaign.items.update(judge_mark="")

    assert seat(campaigns.lead("warden")).get(address(campaign)).status_code == 404


@pytest.mark.django_db
def test_the_page_offers_the_appendix():
    campaign = disputed()

    page = seat(campaigns.lead("warden")).get(reverse("annotation:agreement", args=[campaign.pk]))

    # Followed by what the page was asked for.
    assert f'href="{address(campaign)}?' in page.content.decode()
