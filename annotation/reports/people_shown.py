"""People among themselves on a page: agreement of all, of each two, and the scores of two beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.agreement.ratings import Ratings
from annotation.agreement.report import Report
from annotation.agreement.values import Statistic, Value
from annotation.calibration import Answer
from annotation.reports.chart_parts import Block, Chart, DriftLine, Scale
from annotation.reports.judge_shown import Stat, under, value_words
from annotation.reports.score_charts import difference_drawn, drift, scatter
from annotation.reports.statistic_names import interval_text, value_text, words_of
from benchmark.display import MINUS

SCATTER_WIDTHS = (420, 340)
DRIFT_WIDTHS = (560, 340)
MOST_BLOCKS = 6
FEWEST_IN_A_BLOCK = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """Two people: how many outcomes both marked, and their statistics as text with their intervals."""

    first: str
    second: str
    n: int
    cells: tuple[tuple[str, str], ...]


def people_stats(report: Report) -> list[Stat]:
    """Return the figures of all people together: of scores, or of marks."""
    wanted = _OF_SCORES if report.statistics.get("icc_a1") is not None else _OF_MARKS
    shown = []
    for name, label, scale in wanted:
        statistic = report.statistics.get(name)
        if statistic is not None:
            shown.append(
                Stat(
                    name=name.replace("_", "-"),
                    label=label,
                    value=value_words(statistic, scale),
                    under=under(statistic, scale),
                    definition=_MEANS[name],
                )
            )
    return shown


def pair_heads(report: Report) -> list[str]:
    """Return what the columns of the table of pairs are called."""
    return [words_of(name, positive=report.positive) for name in _columns(report)]


def pair_rows(report: Report) -> list[PairRow]:
    """Return each two people who marked something in common, those with most in common first."""
    rows = [
        PairRow(
            first=pair.raters[0],
            second=pair.raters[1],
            n=pair.n,
            cells=tuple(
                (value_text(name, pair.statistics.get(name)), interval_text(name, pair.statistics.get(name)))
                for name in _columns(report)
            ),
        )
        for pair in report.pairs
        if pair.n
    ]
    return sorted(rows, key=lambda row: -row.n)


def score_charts(
    ratings: Ratings,
    statistics: Mapping[str, Statistic],
    *,
    first: str,
    second: str,
    ends: tuple[float, float],
) -> list[Chart]:
    """Draw the scores of two people against each other, with the limits of agreement of their difference."""
    pair = ratings.pair(first, second)
    scores = pair.scores
    n = len(scores)
    bias, limits = difference_drawn(statistics)
    concordance = statistics.get("ccc")
    words = f"{n:,} scores of {first} and {second}."
    if bias is not None and limits is not None:
        words += (
            f" {second} gives {abs(bias):.1f} {'more' if bias >= 0 else 'less'} on average; "
            f"95% of differences lie between {_signed(limits[0])} and {_signed(limits[1])}."
        )
    if isinstance(concordance, Value):
        words += f" Lin's concordance is {concordance.value:.2f}."
    points = [(float(one), float(other)) for one, other in scores]
    return [
        scatter(points, names=(first, second), ends=ends, bias=bias, limits=limits, width=width, words=words)
        for width in SCATTER_WIDTHS
    ]


def drift_charts(answers: Sequence[Answer], names: Mapping[int, str]) -> list[Chart]:
    """Draw how many known answers each person gave right, in successive blocks of that person's answers."""
    lines = drift_lines(answers, names)
    if not lines:
        return []
    changes = [
        f"{line.name} from {_percent(line.blocks[0])} to {_percent(line.blocks[-1])}"
        for line in lines
        if len(line.blocks) > 1
    ]
    words = "Share of known answers marked right over time"
    words += f": {', '.join(changes[:4])}." if changes else "; nobody has marked enough for a later block."
    return [drift(lines, width=width, words=words) for width in DRIFT_WIDTHS]


def drift_lines(answers: Sequence[Answer], names: Mapping[int, str]) -> list[DriftLine]:
    """Return each person's blocks, of four answers or more, at most six; those with most answers first."""
    lines = []
    for annotator in {answer.annotator for answer in answers}:
        own = sorted(
            (answer for answer in answers if answer.annotator == annotator), key=lambda each: each.saved_at
        )
        number = max(1, min(MOST_BLOCKS, len(own) // FEWEST_IN_A_BLOCK))
        blocks = []
        for place in range(number):
            part = own[len(own) * place // number : len(own) * (place + 1) // number]
            at = sum(each.saved_at.timestamp() for each in part) / len(part)
            blocks.append(Block(at=at, right=sum(each.is_right for each in part), n=len(part)))
        lines.append((len(own), DriftLine(name=names.get(annotator, "somebody"), blocks=tuple(blocks))))
    return [line for _, line in sorted(lines, key=lambda each: (-each[0], each[1].name))]


def _columns(report: Report) -> tuple[str, ...]:
    if report.statistics.get("icc_a1") is not None:
        return ("icc_a1", "pearson", "ccc", "bias", "mae")
    return ("po", "cohen_kappa", "gwet_ac1", "p_neg")


def _signed(difference: float) -> str:
    return f"{difference:.1f}".replace("-", MINUS)


def _percent(block: Block) -> str:
    return f"{100 * block.right / block.n:.0f}%"


_OF_SCORES = (
    ("icc_a1", "ICC(A,1)", Scale.COEFFICIENT),
    ("icc_c1", "ICC(C,1)", Scale.COEFFICIENT),
    ("icc_ak", "ICC(A,k)", Scale.COEFFICIENT),
    ("krippendorff_interval", "Alpha, interval", Scale.COEFFICIENT),
    ("krippendorff_ordinal", "Alpha, ordinal", Scale.COEFFICIENT),
)
_OF_MARKS = (
    ("po", "Exact agreement", Scale.SHARE),
    ("fleiss_kappa", "Fleiss' kappa", Scale.COEFFICIENT),
    ("krippendorff_nominal", "Alpha, nominal", Scale.COEFFICIENT),
    ("krippendorff_ordinal", "Alpha, ordinal", Scale.COEFFICIENT),
    ("gwet_ac1", "Gwet's AC1", Scale.COEFFICIENT),
    ("brennan_prediger_pabak", "PABAK", Scale.COEFFICIENT),
)
_MEANS = {
    "po": "The share of pairs of people who gave an outcome the same mark.",
    "fleiss_kappa": "Agreement beyond chance among any number of people.",
    "krippendorff_nominal": "Krippendorff's alpha: 1 minus observed by expected disagreement; marks are names.",
    "krippendorff_ordinal": "Krippendorff's alpha where labels are in order.",
    "krippendorff_interval": "Krippendorff's alpha where distances between scores count.",
    "gwet_ac1": "Agreement beyond chance after Gwet, whose chance is small where nearly everything passes.",
    "brennan_prediger_pabak": "Agreement beyond chance where every label is as likely as another.",
    "icc_a1": "How much of the variance of one person's score is that of the applications, where people must "
    "agree on the score itself (McGraw and Wong).",
    "icc_c1": "The same where a person may be kinder throughout.",
    "icc_ak": "The same for the mean of all people.",
}
