"""The methods paragraph of a paper: what was compared, with which estimators, weights and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotation.agreement.intervals import FEW_CLUSTERS
from annotation.agreement.report import Report


def methods_paragraph(report: Report, *, program: str, is_numeric: bool) -> str:
    """Return the paragraph as plain sentences; it names everything that a reader needs to do the same again."""
    return " ".join(
        [
            *_sample(report),
            *_estimators(report, is_numeric=is_numeric),
            *_intervals(report),
            f"All numbers were computed with {program}; the frozen ratings and a script that recomputes every number from them with NumPy alone accompany this paper.",
        ]
    )


def _sample(report: Report) -> Iterator[str]:
    n_missing = report.n_units * len(report.raters) - report.n_ratings
    clusters = f" in {_counted(report.n_clusters, 'cluster')} (projects)" if report.is_clustered else ""
    yield (
        f"{_counted(len(report.raters), 'rater')} gave {report.n_ratings:,} ratings to "
        f"{_counted(report.n_units, 'unit')}{clusters}; {n_missing:,} of the possible ratings are missing, and a "
        "missing rating is never a label."
    )
    yield f"Labels were, from lowest to highest, {_listed(report.labels[:40])}; {report.positive} is positive."
    if report.gold is not None:
        pairs = [pair for pair in report.pairs if pair.raters[0] == report.gold]
        sizes = _listed([f"{pair.raters[1]} (n = {pair.n:,})" for pair in pairs])
        yield f"Raters were compared with {report.gold}, which was taken for the truth: {sizes}."
    if report.excluded:
        reasons = _listed([f"{each.n:,} because {each.reason}" for each in report.excluded])
        yield f"Before all analyses ratings were excluded for these reasons: {reasons}."
    else:
        yield "No rating was excluded."


def _estimators(report: Report, *, is_numeric: bool) -> Iterator[str]:
    yield (
        "For each pair of raters we report exact and linearly weighted agreement, Cohen's kappa (unweighted, with "
        "linear and with quadratic weights; Cohen 1960, 1968) and the largest kappa that the margins allow, Scott's "
        "pi (1955), the shares of specific agreement, prevalence and bias index (Byrt, Bishop and Carlin 1993)."
    )
    yield (
        "For any number of raters, with unweighted, linear, quadratic and ordinal weights, we report the "
        "coefficients of Fleiss (1971), Conger (1980), Gwet (AC1 and AC2; 2008, 2014), and Brennan and Prediger "
        "(1981), and Krippendorff's alpha (2011) for nominal, ordinal, interval and ratio data."
    )
    yield report.methods["weights"]
    yield report.methods["prevalence"]
    yield report.methods["alpha"]
    yield report.methods["domain"]
    if report.gold is not None:
        yield (
            f"Against {report.gold} we report accuracy beside that of always and of never saying {report.positive}, "
            "precision, recall and F1 of both classes, specificity, negative predictive value, balanced accuracy "
            "and Matthews' correlation."
        )
    yield (
        f"Rates of {report.positive} set it against all other labels together; McNemar's test is given exact and "
        "as mid-p"
        + (
            ", both of which take units to be independent, and with its variance taken between clusters."
            if report.is_clustered
            else "."
        )
    )
    if report.folds:
        yield (
            "Every pair is also given with the labels between the lowest and the highest counted as the lowest, "
            "and counted as the highest."
        )
    if is_numeric:
        yield (
            "For scores we report Pearson's, Spearman's and Kendall's (tau-b) correlation, mean absolute and root "
            "mean squared difference, bias and limits of agreement (Bland and Altman 1986), Lin's concordance "
            "(1989) and six intraclass correlations (McGraw and Wong 1996) over units that all compared raters "
            "scored."
        )
    if report.ceiling is not None:
        yield (
            "As a ceiling, the agreement of people among themselves is pooled over all pairs of "
            f"{_counted(len(report.ceiling.people), 'person', 'people')}: coefficients as one minus the summed "
            "observed over the summed expected disagreement, shares by their denominators."
        )


def _intervals(report: Report) -> Iterator[str]:
    drawn = "clusters" if report.is_clustered else "units"
    yield (
        f"Intervals are 95% percentile bootstrap intervals from {report.resamples:,} resamples of {drawn} with "
        f"replacement (NumPy's default generator, seed {report.seed}); resamples in which a statistic was undefined "
        "were left out of its interval and counted."
    )
    if report.is_clustered and report.n_clusters < FEW_CLUSTERS:
        yield (
            f"As there are only {_counted(report.n_clusters, 'cluster')}, a delete-one-cluster jackknife interval "
            f"(t with {max(0, report.n_clusters - 1)} degrees of freedom) stands beside each."
        )
    yield (
        "Where every resample gave the same value, a Wilson interval with clusters as n stands in. Analytic "
        "intervals that take units to be independent are given for comparison: Fleiss, Cohen and Everitt (1969) for "
        "kappa, the linearised variance of Gwet (2014) for the other coefficients, Wilson's for shares"
        + (
            ", and the F intervals of McGraw and Wong for intraclass correlations."
            if "icc_1" in _names(report)
            else "."
        )
    )


def _names(report: Report) -> set[str]:
    return {*report.statistics, *(name for pair in report.pairs for name in pair.statistics)}


def _counted(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
