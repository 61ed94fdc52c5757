"""Whether two raters differ in how often they say the positive label: McNemar's tests on paired units."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import stats

from annotation.agreement.ranks import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """Tests that both raters say positive equally often; `b` and `c` are the two kinds of disagreement.

    P-values are two-sided. `chi2` and `chi2_corrected` with their p-values are None without disagreement;
    `exact_p` and `mid_p` are then 1. All four take units to be independent: `is_valid` is false where units
    share clusters. `clustered` is the test that may be believed then, None with one cluster or where no
    cluster leans to either side.
    """

    b: int
    c: int
    exact_p: float
    mid_p: float
    chi2: float | None
    chi2_p: float | None
    chi2_corrected: float | None
    chi2_corrected_p: float | None
    is_valid: bool
    clustered: ClusteredTest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredTest:
    """A chi-square with one degree of freedom whose variance is taken between clusters.

    chi2 = (sum d)^2 / (K / (K - 1) sum d^2), d = b - c of each of K clusters: under equality both rates are
    their mean, which cancels from the residuals of Obuchowski 1998 (Statistics in Medicine 17).
    """

    chi2: float
    p: float
    n_clusters: int


def mcnemar(b: int, c: int, *, differences: Floats | None = None) -> McNemar:
    """Return McNemar's tests of two counts of disagreement (McNemar 1947; mid-p: Fagerland et al. 2013).

    `differences`, with the shape (C,), holds b - c of each cluster where units share clusters; the adjusted
    test is then made too.

    Raises ValueError for negative counts, or differences that do not sum to b - c.
    """
    if min(b, c) < 0:
        raise ValueError(f"Disagreements are counted from 0, not {min(b, c)}.")
    total, fewer = b + c, min(b, c)
    tail = float(stats.binom.cdf(fewer, total, 0.5))
    exact = min(1.0, 2 * tail)
    mid = 1.0 if b == c else 2 * tail - float(stats.binom.pmf(fewer, total, 0.5))
    plain = (b - c) ** 2 / total if total else None
    corrected = max(0, abs(b - c) - 1) ** 2 / total if total else None
    return McNemar(
        b=b,
        c=c,
        exact_p=exact,
        mid_p=mid,
        chi2=plain,
        chi2_p=None if plain is None else float(stats.chi2.sf(plain, 1)),
        chi2_corrected=corrected,
        chi2_corrected_p=None if corrected is None else float(stats.chi2.sf(corrected, 1)),
        is_valid=differences is None,
        clustered=None if differences is None else _clustered(b - c, differences),
    )


def _clustered(total: int, differences: Floats) -> ClusteredTest | None:
    if round(float(differences.sum())) != total:
        raise ValueError(f"The differences of clusters sum to {differences.sum():g}, not to b - c = {total}.")
    squares, n_clusters = float((differences**2).sum()), differences.size
    if n_clusters < 2 or squares == 0:
        return None
    chi2 = total**2 / (squares * n_clusters / (n_clusters - 1))
    return ClusteredTest(chi2=chi2, p=float(stats.chi2.sf(chi2, 1)), n_clusters=n_clusters)
