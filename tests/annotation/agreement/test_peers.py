"""Other people's libraries give the same numbers on random ratings, wherever they give one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from annotation.agreement import alpha, chance_corrected, confusion, kappa
from annotation.agreement.alpha import Metric, krippendorff_alpha
from annotation.agreement.confusion import Confusion
from annotation.agreement.sums import PairSums, UnitSums, pair_sums, unit_sums
from annotation.agreement.weights import Weighting, weight_matrix

TABLES = 200


def ratings(seed: int, *, raters: int, gaps: float) -> Iterator[tuple[np.ndarray[Any, Any], int]]:
    """Seeded ratings of 2 to 5 labels that agree more or less, with gaps."""
    random = np.random.default_rng(seed)
    for _ in range(TABLES):
        q = int(random.integers(2, 6))
        units = int(random.integers(4, 40))
        truth = random.choice(q, size=(units, 1), p=random.dirichlet(np.full(q, 1.5)))
        noise = random.integers(q, size=(units, raters))
        codes = np.where(random.random((units, raters)) < random.uniform(0.1, 0.9), noise, truth)
        yield np.where(random.random((units, raters)) < gaps, -1, codes), q


def sums_of(codes: np.ndarray[Any, Any], q: int) -> UnitSums:
    return UnitSums.unpacked(unit_sums(codes, n_labels=q).total(), n_labels=q, n_raters=codes.shape[1])


def test_krippendorff_gives_the_same_alpha():
    krippendorff = pytest.importorskip("krippendorff")
    compared = 0
    for codes, q in ratings(11, raters=4, gaps=0.3):
        sums = sums_of(codes, q)
        data = np.where(codes < 0, np.nan, codes + 1.0)
        for metric in Metric:
            ours = krippendorff_alpha(sums, metric, numbers=np.arange(1.0, q + 1))
            try:
                theirs = krippendorff.alpha(
                    reliability_data=data.T,
                    value_domain=list(np.arange(q) + 1.0),
                    level_of_measurement=metric.value,
                )
            except ValueError:
                theirs = np.nan
            assert ours == pytest.approx(theirs, abs=1e-9, nan_ok=True)
            compared += not np.isnan(theirs)
    assert compared > 3 * TABLES


def test_irrcac_gives_the_same_coefficients_and_standard_errors():
    peer = pytest.importorskip("irrCAC.raw")
    compared = 0
    weightings = (Weighting.IDENTITY, Weighting.LINEAR, Weighting.QUADRATIC, Weighting.ORDINAL)
    for number, (codes, q) in enumerate(ratings(12, raters=3, gaps=0.2)):
        codes = codes[(codes >= 0).any(axis=1)]
        grouped = unit_sums(codes, n_labels=q)
        units = UnitSums.unpacked(grouped.rows(), n_labels=q, n_raters=3)
        sums, weighting = sums_of(codes, q), weightings[number % 4]
        if ((codes >= 0).sum(axis=1) >= 2).sum() < 2 or len(np.unique(codes[codes >= 0])) < 2:
            continue
        weights = weight_matrix(weighting, n_labels=q)
        theirs = _irrcac(peer, codes, q, weights)
        ours = {
            "fleiss": (chance_corrected.fleiss_kappa, chance_corrected.fleiss_se),
            "conger": (chance_corrected.conger_kappa, chance_corrected.conger_se),
            "gwet": (chance_corrected.gwet_ac, chance_corrected.gwet_se),
            "bp": (chance_corrected.brennan_prediger, chance_corrected.brennan_prediger_se),
        }
        for name, (coefficient, standard_error) in ours.items():
            _same(float(coefficient(sums, weights)), theirs[name].value)
            if theirs[name].se > 1e-12:
                _same(standard_error(units, grouped.copies, weights), theirs[name].se)
                compared += 1
        if weighting in (Weighting.IDENTITY, Weighting.QUADRATIC) and theirs["krippendorff"].se > 1e-12:
            metric = Metric.NOMINAL if weighting is Weighting.IDENTITY else Metric.INTERVAL
            _same(float(krippendorff_alpha(sums, metric)), theirs["krippendorff"].value)
            _same(alpha.krippendorff_se(units, grouped.copies, weights), theirs["krippendorff"].se)
    assert compared > 3 * TABLES


def test_irrcac_has_the_same_weights():
    theirs = pytest.importorskip("irrCAC.weights")
    for q in range(2, 9):
        numbers = np.sort(np.random.default_rng(q).random(q) * 9 + 1)
        for weighting in Weighting:
            by_rank = np.array(theirs.Weights(list(range(1, q + 1)))[weighting.value], dtype=float)
            assert weight_matrix(weighting, n_labels=q) == pytest.approx(by_rank)
            if weighting is not Weighting.ORDINAL:
                by_value = np.array(theirs.Weights(numbers.tolist())[weighting.value], dtype=float)
                assert weight_matrix(weighting, n_labels=q, numbers=numbers) == pytest.approx(by_value)


def test_statsmodels_gives_the_same_kappas():
    peer = pytest.importorskip("statsmodels.stats.inter_rater")
    compared = 0
    for codes, q in ratings(13, raters=2, gaps=0.0):
        table = PairSums.unpacked(pair_sums(codes, n_labels=q).total(), n_labels=q).tables
        sums = sums_of(codes, q)
        for weighting, theirs_name in (
            (Weighting.IDENTITY, None),
            (Weighting.LINEAR, "linear"),
            (Weighting.QUADRATIC, "quadratic"),
        ):
            weights = weight_matrix(weighting, n_labels=q)
            ours = kappa.cohen_kappa(table, weights)
            if np.isnan(ours):
                continue
            with np.errstate(invalid="ignore", divide="ignore"):
                theirs = peer.cohens_kappa(table, wt=theirs_name)
            _same(float(ours), theirs.kappa)
            _same(float(kappa.cohen_kappa_se(table, weights)) ** 2, theirs.var_kappa)
            _same(float(kappa.cohen_kappa_se_if_zero(table, weights)) ** 2, theirs.var_kappa0)
            compared += 1
        if not np.isnan(chance_corrected.fleiss_kappa(sums, np.eye(q))):
            counts, _ = peer.aggregate_raters(codes, n_cat=q)
            _same(float(chance_corrected.fleiss_kappa(sums, np.eye(q))), peer.fleiss_kappa(counts))
            randolph = peer.fleiss_kappa(counts, method="randolph")
            _same(float(chance_corrected.brennan_prediger(sums, np.eye(q))), randolph)
    assert compared > 2 * TABLES


def test_scikit_learn_gives_the_same_rates_and_kappas():
    metrics = pytest.importorskip("sklearn.metrics")
    compared = 0
    for codes, q in ratings(14, raters=2, gaps=0.0):
        gold, judge = codes[:, 0], codes[:, 1]
        table = PairSums.unpacked(pair_sums(codes, n_labels=q).total(), n_labels=q).tables
        labels = list(range(q))
        assert (metrics.confusion_matrix(gold, judge, labels=labels) == table).all()
        for weighting, name in (
            (Weighting.IDENTITY, None),
            (Weighting.LINEAR, "linear"),
            (Weighting.QUADRATIC, "quadratic"),
        ):
            ours = kappa.cohen_kappa(table, weight_matrix(weighting, n_labels=q))
            if not np.isnan(ours):
                _same(float(ours), metrics.cohen_kappa_score(gold, judge, labels=labels, weights=name))
                compared += 1
        counts = Confusion.of_tables(table, positive=q - 1)
        said, meant = judge == q - 1, gold == q - 1
        for positive, values in (
            (1, (confusion.precision(counts), confusion.recall(counts), confusion.f1(counts))),
            (0, (confusion.npv(counts), confusion.specificity(counts), confusion.f1_negative(counts))),
        ):
            theirs = metrics.precision_recall_fscore_support(
                meant, said, pos_label=positive, average="binary", zero_division=np.nan
            )
            assert values == pytest.approx(theirs[:3], nan_ok=True)
        _same(float(confusion.accuracy(counts)), metrics.accuracy_score(meant, said))
        if not np.isnan(confusion.mcc(counts)):
            _same(float(confusion.mcc(counts)), metrics.matthews_corrcoef(meant, said))
            _same(float(confusion.balanced_accuracy(counts)), metrics.balanced_accuracy_score(meant, said))
    assert compared > 2 * TABLES


def _same(ours: float | None, theirs: float) -> None:
    assert ours == pytest.approx(theirs, abs=1e-9)


def _irrcac(peer: Any, codes: np.ndarray[Any, Any], q: int, weights: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Every coefficient of irrCAC, which rounds to the digits asked for."""
    import pandas as pd

    frame = pd.DataFrame(np.where(codes < 0, np.nan, codes.astype(float)))
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cac = peer.CAC(frame, weights=weights, categories=[float(label) for label in range(q)], digits=12)
        for name in ("fleiss", "conger", "gwet", "bp", "krippendorff"):
            estimate = getattr(cac, name)()["est"]
            found[name] = SimpleNamespace(value=estimate["coefficient_value"], se=estimate["se"])
    return found
