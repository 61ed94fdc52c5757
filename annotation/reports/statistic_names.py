"""How statistics of agreement are called and written for a person."""

from __future__ import annotations

from annotation.agreement.values import Flag, Method, Statistic, Undefined, Value
from benchmark.display import MINUS, UNDEFINED

_WORDS = {
    "po": "Exact agreement",
    "linear_weighted_agreement": "Linear-weighted agreement",
    "pe_cohen": "Agreement by chance (Cohen)",
    "cohen_kappa": "Cohen's kappa",
    "cohen_kappa_linear": "Cohen's kappa, linear weights",
    "cohen_kappa_quadratic": "Cohen's kappa, quadratic weights",
    "cohen_kappa_max": "Largest kappa these margins allow",
    "scott_pi_fleiss": "Scott's pi",
    "fleiss_kappa": "Fleiss' kappa",
    "conger_kappa": "Conger's kappa",
    "gwet_ac1": "Gwet's AC1",
    "brennan_prediger_pabak": "Brennan-Prediger (PABAK)",
    "krippendorff_nominal": "Krippendorff's alpha, nominal",
    "krippendorff_ordinal": "Krippendorff's alpha, ordinal",
    "krippendorff_interval": "Krippendorff's alpha, interval",
    "krippendorff_ratio": "Krippendorff's alpha, ratio",
    "p_pos": "Positive agreement",
    "p_neg": "Negative agreement",
    "prevalence_index_signed": "Prevalence index",
    "bias_index_signed": "Bias index",
    "accuracy": "Accuracy",
    "always_pass_accuracy": "Accuracy of always {positive}",
    "always_fail_accuracy": "Accuracy of never {positive}",
    "precision": "Precision",
    "recall": "Recall (sensitivity)",
    "f1": "F1",
    "specificity": "Specificity",
    "npv": "Negative predictive value",
    "f1_negative": "F1 of the negative class",
    "macro_f1": "Macro F1",
    "balanced_accuracy": "Balanced accuracy",
    "mcc": "Matthews correlation",
    "pass_rate_gold": "Share of {positive}, gold",
    "pass_rate_judge": "Share of {positive}, other rater",
    "mcnemar_exact_p": "McNemar's test, exact p",
    "mcnemar_midp": "McNemar's test, mid-p",
    "mcnemar_clustered_p": "McNemar's test adjusted for clusters, p",
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall_tau_b": "Kendall's tau-b",
    "mae": "Mean absolute difference",
    "rmse": "Root mean squared difference",
    "bias": "Mean difference (first minus second)",
    "limit_low": "Lower limit of agreement",
    "limit_high": "Upper limit of agreement",
    "ccc": "Lin's concordance",
    "icc_1": "ICC(1)",
    "icc_c1": "ICC(C,1)",
    "icc_a1": "ICC(A,1)",
    "icc_1k": "ICC(k)",
    "icc_ck": "ICC(C,k)",
    "icc_ak": "ICC(A,k)",
}
_FAMILIES = {
    "fleiss_kappa": "Fleiss' kappa",
    "conger_kappa": "Conger's kappa",
    "gwet_ac2": "Gwet's AC2",
    "brennan_prediger": "Brennan-Prediger",
}
_SHARES = frozenset(
    {
        "po",
        "linear_weighted_agreement",
        "pe_cohen",
        "p_pos",
        "p_neg",
        "accuracy",
        "always_pass_accuracy",
        "always_fail_accuracy",
        "precision",
        "recall",
        "f1",
        "specificity",
        "npv",
        "f1_negative",
        "macro_f1",
        "balanced_accuracy",
        "pass_rate_gold",
        "pass_rate_judge",
    }
)


def words_of(name: str, *, positive: str) -> str:
    """Return what a statistic is called; an unknown name is its own words."""
    if name in _WORDS:
        return _WORDS[name].format(positive=positive)
    family, _, weights = name.rpartition("_")
    return f"{_FAMILIES[family]}, {weights} weights" if family in _FAMILIES else name.replace("_", " ")


def value_text(name: str, statistic: Statistic | None) -> str:
    """Return the value: shares in per cent, p-values and coefficients with three decimals, else a dash."""
    return _number(name, statistic.value) if isinstance(statistic, Value) else UNDEFINED


def interval_text(name: str, statistic: Statistic | None) -> str:
    """Return the 95% interval, or nothing where there is none."""
    if not isinstance(statistic, Value) or statistic.low is None or statistic.high is None:
        return ""
    return f"{_number(name, statistic.low)} to {_number(name, statistic.high)}"


def with_interval(name: str, statistic: Statistic | None) -> str:
    """Return the value and its interval in brackets."""
    interval = interval_text(name, statistic)
    return value_text(name, statistic) + (f" ({interval})" if interval else "")


def remark_text(name: str, statistic: Statistic, *, usual: str = "") -> str:
    """Return why there is no value, or how its interval was made, if not as `usual`, and what to know of it."""
    if isinstance(statistic, Undefined):
        return statistic.reason.sentence
    parts = [] if statistic.method in (Method.NONE, usual) else [str(statistic.method)]
    if statistic.undefined_resamples:
        parts.append(f"undefined in {statistic.undefined_resamples} of {statistic.resamples} resamples")
    if statistic.jackknife is not None:
        low, high = _number(name, statistic.jackknife.low), _number(name, statistic.jackknife.high)
        parts.append(f"jackknife {low} to {high}")
    # That a rate sets one label against the others is said once, with the methods.
    parts += [flag.sentence.rstrip(".") for flag in statistic.flags if flag is not Flag.FOLDED]
    return "; ".join(parts)


def _number(name: str, value: float) -> str:
    if name in _SHARES:
        text = f"{100 * value:.2f}%"
    elif name.startswith("mcnemar") and value < 0.001:
        return "< 0.001"
    else:
        text = f"{value:.3f}"
    # A rounded zero is never negative.
    return text.removeprefix("-") if not text.strip("-0.%") else text.replace("-", MINUS)
