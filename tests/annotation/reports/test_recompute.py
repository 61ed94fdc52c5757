"""The script of an appendix recomputes every number from the frozen ratings, alone with numpy, and catches every change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.agreement.ratings import Ratings
from annotation.reports.appendix import appendix_files, file_appendix
from annotation.reports.recomputing.agreement_numbers import quantiles
from annotation.reports.recomputing.agreement_numbers.__main__ import main, numbers_in

THREE = ("fail", "partial", "pass")
FIVE = tuple("12345")
MANY = tuple(str(level / 7) for level in range(150))
FILES = ("ratings.csv", "agreement.json")


def said(
    n: int, raters: int, labels: int, *, noise: float = 0.3, missing: float = 0.1, seed: int = 1
) -> np.ndarray:
    """Raters who mostly say the same, with gaps."""
    random = np.random.default_rng(seed)
    truth = random.integers(labels, size=n)
    codes = np.stack(
        [np.where(random.random(n) < noise, random.integers(labels, size=n), truth) for _ in range(raters)],
        axis=1,
    )
    codes[random.random(codes.shape) < missing] = -1
    return codes


def clusters(n: int, number: int, seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).integers(number, size=n)


def packed(folder: Path, codes: np.ndarray, labels: tuple[str, ...], **settings: Any) -> Path:
    """Write the appendix of ratings into a folder."""
    gold = settings.pop("gold", None)
    positive = settings.pop("positive", None)
    ratings = Ratings.from_codes(codes, labels=labels, **settings)
    appendix = file_appendix(ratings, gold=gold, positive=positive, seed=11, resamples=60)
    for name, content in appendix_files(appendix).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def numbers(folder: Path) -> dict[str, float | None]:
    return dict(numbers_in(json.loads((folder / "agreement.json").read_text())))


def shared_by_few(*, noise: float, shared: int = 12) -> np.ndarray:
    """Three raters of whom two stop early."""
    codes = said(84, 3, 3, noise=noise, missing=0)
    codes[shared:, [0, 2]] = -1
    return codes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A judge and gold of two labels in twelve clusters, with gaps and kinds."""
    kinds = [("presence", "functionality")[place % 2] for place in range(90)]
    return packed(
        tmp_path, said(90, 2, 2), ("fail", "pass"), clusters=clusters(90, 12), kinds=kinds, gold="1"
    )


SHAPES: dict[str, Callable[[Path], Path]] = {
    "two raters without gaps": lambda to: packed(
        to, said(120, 2, 2, missing=0), ("fail", "pass"), clusters=clusters(120, 30), gold="1"
    ),
    "the lowest label is positive": lambda to: packed(
        to, said(70, 2, 3), THREE, clusters=clusters(70, 25), gold="1", positive="fail"
    ),
    "the label between is positive": lambda to: packed(
        to, said(70, 2, 3), THREE, clusters=clusters(70, 25), gold="1", positive="partial"
    ),
    "units without clusters": lambda to: packed(to, said(80, 3, 3), THREE, gold="2"),
    "many gaps": lambda to: packed(to, said(70, 3, 3, missing=0.5), THREE, clusters=clusters(70, 25)),
    "three who agree on everything": lambda to: packed(
        to, said(60, 3, 3, noise=0, missing=0), THREE, clusters=clusters(60, 10), gold="1"
    ),
    "everything passes": lambda to: packed(
        to, np.full((40, 2), 2), THREE, clusters=clusters(40, 9), gold="1"
    ),
    "one judge says the same always": lambda to: packed(
        to,
        np.column_stack([said(50, 1, 3, missing=0)[:, 0], np.full(50, 2)]),
        THREE,
        clusters=clusters(50, 10),
        gold="1",
    ),
    "nothing in common": lambda to: packed(
        to, np.where(np.arange(40)[:, None] % 2 == np.arange(2), 1, -1), THREE, clusters=clusters(40, 9)
    ),
    "one cluster": lambda to: packed(to, said(40, 2, 3), THREE, clusters=np.zeros(40, dtype=int), gold="1"),
    "one unit": lambda to: packed(to, np.array([[0, 1]]), THREE, gold="1"),
    "one rater": lambda to: packed(to, said(40, 1, 3), THREE),
    "one label": lambda to: packed(to, said(40, 2, 1), ("pass",)),
    "scores": lambda to: packed(
        to, said(80, 3, 5), FIVE, clusters=clusters(80, 15), is_numeric=True, gold="1"
    ),
    "scores far from 0, and one rater far from the others": lambda to: packed(
        to,
        np.column_stack([said(60, 2, 5), np.where(np.arange(60) == 7, 5, said(60, 1, 5)[:, 0])]),
        (*(str(1_000_000 + score) for score in range(5)), "1000100"),
        is_numeric=True,
    ),
    "scores that have nothing in common": lambda to: packed(
        to, np.array([[0, 0], [1, 0], [0, 1], [1, 1]] * 3), ("1", "2"), is_numeric=True
    ),
    "four scores that have nothing in common": lambda to: packed(
        to, np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), ("1", "2"), is_numeric=True
    ),
    "scores with hardly any freedom": lambda to: packed(
        to, np.array([[0, 3], [4, 0], [4, 0]]), FIVE, is_numeric=True
    ),
    "scores without clusters": lambda to: packed(to, said(80, 3, 5), FIVE, is_numeric=True),
    "scores that are all the same": lambda to: packed(
        to, said(60, 2, 5, noise=0, missing=0), FIVE, is_numeric=True
    ),
    "scores with many levels": lambda to: packed(
        to, said(150, 2, 150, missing=0.05), MANY, clusters=clusters(150, 15), is_numeric=True, gold="1"
    ),
    "few clusters in common": lambda to: packed(
        to, shared_by_few(noise=0.3), THREE, clusters=np.arange(84) // 3, gold="1"
    ),
    "all who meet agree, and few meet": lambda to: packed(
        to, shared_by_few(noise=0), THREE, clusters=np.arange(84) // 3, gold="1"
    ),
    "few units in common": lambda to: packed(to, shared_by_few(noise=0.3), THREE, gold="1"),
    "one cluster in common": lambda to: packed(
        to, shared_by_few(noise=0.3, shared=3), THREE, clusters=np.arange(84) // 3
    ),
    "numbers that are names": lambda to: packed(to, said(60, 2, 3), ("-1", "0", "2")),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_number_is_recomputed(tmp_path, shape, capsys):
    folder = SHAPES[shape](tmp_path)

    assert main([str(folder)]) == 0, capsys.readouterr().err

    printed = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    given = {"seed", "resamples"}
    stored = {
        name: value
        for name, value in numbers(folder).items()
        if name not in given and not name.startswith("excluded/")
    }
    assert {name for name, _ in printed} == stored.keys()
    for name, text in printed:
        value = stored[name]
        assert text == "undefined" if value is None else float(text) == pytest.approx(value, abs=1e-8)


def test_the_script_runs_where_there_is_nothing_but_numpy(folder, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    home = Path(np.__file__).parent
    for package in (home, home.with_name("numpy.libs")):
        if package.is_dir():
            (bare / package.name).symlink_to(package)
    environment = {"PYTHONPATH": str(bare), "PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"}

    lacking = subprocess.run(
        [sys.executable, "-S", "-c", "import scipy"], env=environment, capture_output=True
    )
    done = subprocess.run(
        [sys.executable, "-S", str(folder / "recompute.py")], env=environment, capture_output=True, text=True
    )

    assert lacking.returncode != 0
    assert done.returncode == 0, done.stderr
    assert "numbers are the same to 1e-09" in done.stderr
    kappa = json.loads((folder / "agreement.json").read_text())["pairs"]["rater-1|rater-2"]["statistics"]
    line = next(
        line
        for line in done.stdout.splitlines()
        if line.startswith("pairs/rater-1|rater-2/statistics/cohen_kappa/value\t")
    )
    assert float(line.split("\t")[1]) == pytest.approx(kappa["cohen_kappa"]["value"], abs=1e-12)


def test_a_number_that_was_changed_is_named(folder, capsys):
    path = folder / "agreement.json"
    report = json.loads(path.read_text())
    report["pairs"]["rater-1|rater-2"]["statistics"]["gwet_ac1"]["low"] += 2e-9
    path.write_text(json.dumps(report))

    assert main([str(folder)]) == 1

    assert "pairs/rater-1|rater-2/statistics/gwet_ac1/low" in capsys.readouterr().err


def test_a_number_that_is_not_recomputed_is_named(folder, capsys):
    path = folder / "agreement.json"
    report = json.loads(path.read_text())
    report["statistics"]["made_up"] = {"value": 0.5}
    del report["statistics"]["po"]
    path.write_text(json.dumps(report))

    assert main([str(folder)]) == 1

    said = capsys.readouterr().err
    assert "statistics/made_up/value: recomputed absent" in said
    assert "statistics/po/value: recomputed " in said


def test_a_rating_that_was_changed_is_noticed(folder, capsys):
    path = folder / "ratings.csv"
    lines = path.read_text().splitlines()
    changed = next(place for place, line in enumerate(lines) if ",pass," in line)
    lines[changed] = lines[changed].replace(",pass,", ",fail,")
    path.write_text("\n".join(lines) + "\n")

    assert main([str(folder)]) == 1

    assert "differ" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["twice", "unknown"])
def test_ratings_that_contradict_themselves_are_one_sentence(folder, capsys, word):
    path = folder / "ratings.csv"
    header, first, *rest = path.read_text(encoding="utf-8").splitlines()
    names, cells = header.split(","), first.split(",")
    place = names.index("label")
    others = {row.split(",")[place] for row in rest} - {cells[place]}
    cells[place] = min(others) if word == "twice" else "unknown"
    added = [",".join(cells)]
    path.write_text("\n".join([header, first, *rest, *added]) + "\n", encoding="utf-8")

    assert main([str(folder)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_seed_that_was_changed_is_noticed(folder, capsys):
    path = folder / "agreement.json"
    report = json.loads(path.read_text())
    path.write_text(json.dumps(report | {"seed": 12}))

    assert main([str(folder)]) == 1

    said = capsys.readouterr().err
    assert "cohen_kappa/low" in said
    assert "cohen_kappa/value" not in said


def test_a_folder_without_the_files_is_one_sentence(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2

    assert "lacks ratings.csv or agreement.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("df", "quantile"), [(1, 12.7062047361747), (2, 4.30265272974946), (10, 2.22813885198627)]
)
def test_quantiles_of_students_distribution_are_those_of_the_tables(df, quantile):
    assert quantiles.t_quantile(0.975, df) == pytest.approx(quantile, abs=1e-10)


def test_quantiles_of_the_f_distribution_are_squares_of_those_of_student():
    # F(1, v) is the square of Student's t with v degrees of freedom.
    assert quantiles.f_quantile(0.95, 1, 7) == pytest.approx(quantiles.t_quantile(0.975, 7) ** 2, abs=1e-9)


def test_the_exact_test_counts_tosses_of_a_fair_coin():
    # At most 1 head in 4 tosses: (1 + 4) / 16; exactly 1: 4 / 16.
    at_most, exactly = quantiles.half_binomial(1, 4)

    assert at_most == pytest.approx(5 / 16)
    assert exactly == pytest.approx(4 / 16)
