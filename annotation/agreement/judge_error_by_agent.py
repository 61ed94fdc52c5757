"""Whether the judge errs differently by code agent, so that its own figures cannot rank them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from annotation.agreement.cluster_variance import Floats, Indices, sums_by_group
from annotation.agreement.judged_sample import JudgedSample
from annotation.agreement.values import Reason, Undefined

FEWEST_LABELLED = 5
SIGNIFICANT = 0.05


class JudgeError(StrEnum):
    """Which error is compared.

    BIAS: the judge's credit less people's, which is what shifts a raw figure. RATES: sensitivity and
    specificity, which must be the same where one correction is applied to all.
    """

    BIAS = "bias"
    RATES = "rates"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTest:
    """That the judge's error is the same for `agents`, tested: F with its degrees of freedom.

    `biases` are the judge's credit less people's, by agent. `left_out` are agents with too few labels.
    """

    error: JudgeError
    f: float
    df: tuple[int, int]
    p: float
    agents: tuple[str, ...]
    biases: tuple[float, ...]
    left_out: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the test rejects at 5%."""
        return self.p < SIGNIFICANT

    @property
    def warning(self) -> str | None:
        """What a reader of a leaderboard must know; None where nothing was found."""
        if not self.differs:
            return None
        found = f"F({self.df[0]}, {self.df[1]}) = {self.f:.2f}, {_p_words(self.p)}"
        if self.error is JudgeError.RATES:
            return (
                f"The judge's sensitivity or specificity differs by code agent ({found}): correct each agent "
                "by its own labelled outcomes, never all by one pair of error rates."
            )
        kindest, harshest = int(np.argmax(self.biases)), int(np.argmin(self.biases))
        return (
            f"The judge's error differs by code agent ({found}): its figure is {_points(self.biases[kindest])} "
            f"for {self.agents[kindest]} and {_points(self.biases[harshest])} for {self.agents[harshest]}, "
            "so rank agents by the corrected figures, not by the judge's."
        )

    def document(self) -> dict[str, object]:
        """As JSON."""
        return {
            "error": self.error.value,
            "f": self.f,
            "df": list(self.df),
            "p": self.p,
            "biases": dict(zip(self.agents, self.biases, strict=True)),
            "left_out": list(self.left_out),
            "warning": self.warning,
        }


def error_by_agent(sample: JudgedSample, error: JudgeError = JudgeError.BIAS) -> ErrorTest | Undefined:
    """Return a test that the judge's error is the same for every code agent, over projects.

    A score test: each project adds, for each agent, by how much the judge's error there is off the error of
    all agents; Hotelling's T^2 asks whether these sums are 0 on average, with the covariance between
    projects, and T^2 (C - q) / (q (C - 1)) is F(q, C - q) for C projects with labels and q sums. So agents
    that were given the same projects, and outcomes of one project, need not be independent.
    (Rotnitzky & Jewell 1990, Biometrika 77, on score tests with clusters; Hotelling 1931)

    An agent with fewer than 5 labelled outcomes (RATES: of either class) is left out. Undefined with fewer
    than two agents or too few projects, without spread, and for RATES where people gave graded marks.
    """
    if not sample.seen.any():
        return Undefined(Reason.NOT_LABELLED)
    if error is JudgeError.RATES and not sample.is_gold_binary:
        return Undefined(Reason.NOT_TWO_LABELS)
    kept = _with_enough_labels(sample, error)
    if kept.sum() < 2:
        return Undefined(Reason.TOO_FEW)
    chosen = sample.seen & kept[sample.agent]
    agents, clusters = _renumbered(sample.agent[chosen]), _renumbered(sample.cluster[chosen])
    judge, gold = sample.judge[chosen], sample.gold[chosen]
    v = sample.weight[chosen] / sample.probability[chosen]
    pieces = [(judge - gold, v)]
    if error is JudgeError.RATES:
        pieces = [(judge, v * gold), (judge, v * (1 - gold))]
    scores = np.concatenate([agent_scores(*piece, agents, clusters) for piece in pieces], axis=-1)
    n_clusters, q = scores.shape
    if n_clusters <= q + 1:
        return Undefined(Reason.TOO_FEW)
    squared = hotelling(scores)
    if np.isnan(squared):
        return Undefined(Reason.NO_VARIATION)
    f = float(squared) * (n_clusters - q) / (q * (n_clusters - 1))
    biases = np.bincount(agents, weights=v * (judge - gold)) / np.bincount(agents, weights=v)
    return ErrorTest(
        error=error,
        f=f,
        df=(q, n_clusters - q),
        p=float(stats.f.sf(f, q, n_clusters - q)),
        agents=tuple(name for name, keep in zip(sample.agents, kept, strict=True) if keep),
        biases=tuple(float(bias) for bias in biases),
        left_out=tuple(name for name, keep in zip(sample.agents, kept, strict=True) if not keep),
    )


def agent_scores(values: Floats, weights: Floats, agent: Indices, cluster: Indices) -> Floats:
    """Return what clusters add to each agent's departure from the mean of all, (..., C, agents - 1).

    `values` and `weights`, (..., N). The last agent's is what the others' leave, and is not returned. An
    agent's share of what all clusters depart by is taken off, since the mean itself is estimated.
    """
    n_clusters, n_agents = int(cluster.max()) + 1, int(agent.max()) + 1
    mean = (values * weights).sum(axis=-1, keepdims=True) / weights.sum(axis=-1, keepdims=True)
    departures = weights * (values - mean)
    of_all = sums_by_group(departures, cluster, n_groups=n_clusters)
    shares = sums_by_group(weights, agent, n_groups=n_agents) / weights.sum(axis=-1, keepdims=True)
    own = [
        sums_by_group(np.where(agent == one, departures, 0.0), cluster, n_groups=n_clusters)
        for one in range(n_agents - 1)
    ]
    scores: Floats = np.stack(own, axis=-1) - of_all[..., None] * shares[..., None, :-1]
    return scores


def hotelling(scores: Floats) -> Floats:
    """Return Hotelling's T^2, (...), that scores, (..., C, q), are 0 on average; nan where they have no spread."""
    n = scores.shape[-2]
    mean = scores.mean(axis=-2)
    centred = scores - mean[..., None, :]
    covariance = np.swapaxes(centred, -1, -2) @ centred / (n - 1)
    has_spread = np.linalg.matrix_rank(covariance, hermitian=True) == scores.shape[-1]
    solvable = np.where(has_spread[..., None, None], covariance, np.eye(scores.shape[-1]))
    solved = np.linalg.solve(solvable, mean[..., None])[..., 0]
    return np.where(has_spread, n * (mean * solved).sum(axis=-1), np.nan)


def _with_enough_labels(sample: JudgedSample, error: JudgeError) -> NDArray[np.bool_]:
    def count(mask: NDArray[np.bool_]) -> Indices:
        return np.bincount(sample.agent[mask], minlength=len(sample.agents)).astype(np.int64)

    if error is JudgeError.BIAS:
        return count(sample.seen) >= FEWEST_LABELLED
    fewest = np.minimum(count(sample.seen & (sample.gold == 1.0)), count(sample.seen & (sample.gold == 0.0)))
    return fewest >= FEWEST_LABELLED


def _renumbered(names: Indices) -> Indices:
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _points(bias: float) -> str:
    return f"{abs(100 * bias):.1f} points too {'high' if bias >= 0 else 'low'}"


def _p_words(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
