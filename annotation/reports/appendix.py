"""The appendix of a paper in one zip: tables, methods, figures, frozen ratings and the script that recomputes them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, resources

from annotation.agreement.ratings import Ratings
from annotation.agreement.report import Report, report
from annotation.agreement.report_parts import documents
from annotation.agreement.values import Undefined
from annotation.models import Campaign
from annotation.reports.campaign_agreement import CampaignMarks, report_of
from annotation.reports.figures import Figure, Groups, figures_of, groups_of
from annotation.reports.formats import LATEX_HEAD, csv_text, latex_table
from annotation.reports.frozen_ratings import FrozenRatings, frozen_file, frozen_marks, ratings_csv
from annotation.reports.methods import methods_paragraph
from annotation.reports.tables import facts_of, tables_of
from runs.reporting.as_csv import neutral
from runs.reporting.as_latex import escaped

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip can say: when it was packed is not content
_SCRIPT = "annotation.reports.recomputing"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Appendix:
    """A report under aliases with the ratings that it is made of."""

    report: Report
    frozen: FrozenRatings
    groups: Groups

    @property
    def is_numeric(self) -> bool:
        return self.frozen.compared.numbers is not None

    def document(self) -> dict[str, object]:
        """The report as JSON, with what else `recompute.py` needs to know and the agreement within groups."""
        return self.report.document() | {
            "numeric": self.is_numeric,
            "groups": {
                pair: {
                    by: {
                        group.name: {
                            "n": group.n,
                            "n_clusters": group.n_clusters,
                            "too_kind": group.too_kind,
                            "too_strict": group.too_strict,
                            "gold_positive": group.gold_positive,
                            "statistics": documents(group.statistics),
                        }
                        for group in found
                    }
                    for by, found in groups.items()
                }
                for pair, groups in self.groups.items()
            },
        }


def file_appendix(
    ratings: Ratings, *, gold: str | None, positive: str | None, seed: int, resamples: int
) -> Appendix:
    """Return the appendix of a file of ratings. Raises RatingsError."""
    frozen, aliases = frozen_file(ratings)
    if gold is not None:
        ratings.rater_index(gold)
    found = report(
        frozen.compared,
        gold=None if gold is None else aliases[gold],
        positive=positive,
        seed=seed,
        resamples=resamples,
    )
    return _appendix(found, frozen)


def campaign_appendix(
    campaign: Campaign,
    marks: CampaignMarks,
    *,
    gold: str | None = None,
    positive: str | None = None,
    seed: int,
    resamples: int,
) -> Appendix:
    """Return the appendix of a campaign's marks. Raises RatingsError."""
    renamed, frozen, aliases = frozen_marks(marks)
    if gold is not None and gold not in aliases:
        marks.each.ratings.rater_index(gold)
    found = report_of(
        campaign,
        renamed,
        gold=None if gold is None else aliases[gold],
        positive=positive,
        seed=seed,
        resamples=resamples,
    )
    if frozen.each is not None and found.raters == frozen.each.raters:
        # Everybody is compared with everybody, so the people as one have no part in it.
        frozen = FrozenRatings(compared=frozen.each, each=None, agents=frozen.agents)
    return _appendix(found, frozen)


def appendix_zip(appendix: Appendix) -> bytes:
    """Return the whole appendix; the same ratings give the same files, but for the inside of a PDF."""
    files = appendix_files(appendix)
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (files | {"SHA256SUMS": sums.encode()}).items():
            info = zipfile.ZipInfo(f"appendix/{name}", _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return out.getvalue()


def appendix_files(appendix: Appendix) -> dict[str, bytes]:
    """Return every file of the appendix by its name."""
    found = appendix.report
    figures = figures_of(found, appendix.frozen.compared, appendix.groups)
    methods = methods_paragraph(found, program=_program(), is_numeric=appendix.is_numeric)
    tables = "\n\n".join(latex_table(table) for table in tables_of(found))
    texts = {
        "README.txt": _readme(appendix, figures),
        "appendix.tex": _document(found, tables=tables, methods=methods, figures=figures),
        "tables.tex": f"% Needs the packages booktabs, longtable and graphicx.\n{tables}\n",
        "methods.txt": f"{methods}\n",
        "methods.tex": f"{escaped(methods)}\n",
        "statistics.csv": csv_text(found),
        "groups.csv": _groups_csv(appendix.groups),
        "agreement.json": json.dumps(appendix.document(), ensure_ascii=False, indent=2, allow_nan=False)
        + "\n",
        "ratings.csv": ratings_csv(appendix.frozen),
        **{f"figures/{figure.name}.svg": figure.svg for figure in figures},
    }
    if not appendix.groups:
        del texts["groups.csv"]
    pdfs = {f"figures/{name}.pdf": content for name, content in _pdfs(figures).items()}
    scripts = {f"{name}": content for name, content in _scripts().items()}
    return {name: text.encode() for name, text in texts.items()} | pdfs | scripts


def _program() -> str:
    try:
        return f"Proofroom {metadata.version('proofroom')}"
    except metadata.PackageNotFoundError:
        return "Proofroom"


def _appendix(found: Report, frozen: FrozenRatings) -> Appendix:
    return Appendix(report=found, frozen=frozen, groups=groups_of(found, frozen.compared, frozen.agents))


def _document(found: Report, *, tables: str, methods: str, figures: Sequence[Figure]) -> str:
    facts = "\n".join(rf"  \item {escaped(fact)}" for fact in (*facts_of(found), *found.warnings))
    drawn = "\n\n".join(
        rf"""\IfFileExists{{figures/{figure.name}.pdf}}{{%
\begin{{figure}}[htbp]
\centering
\includegraphics[width={width}\linewidth]{{figures/{figure.name}.pdf}}
\caption{{{escaped(figure.caption)}}}
\end{{figure}}}}{{}}"""
        for figure in figures
        for width in ("" if figure.chart.width > 600 else "0.5",)
    )
    return rf"""{LATEX_HEAD}
% More floats than a paper usually has.
\extrafloats{{200}}
\begin{{document}}
\section*{{Agreement of raters}}
\begin{{itemize}}
{facts}
\end{{itemize}}

\section*{{Methods}}
{escaped(methods)}

\clearpage
{drawn}

\clearpage
{tables}
\end{{document}}
"""


def _groups_csv(groups: Groups) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["pair", "by", "group", "n", "clusters", "statistic", "value", "low", "high", "method", "reason"]
    )
    for pair, grouped in groups.items():
        for by, found in grouped.items():
            for group in found:
                about = [neutral(pair), by, neutral(group.name), group.n, group.n_clusters]
                for name, each in group.statistics.items():
                    if isinstance(each, Undefined):
                        writer.writerow([*about, name, "", "", "", "", each.reason.value])
                    else:
                        writer.writerow([*about, name, each.value, each.low, each.high, str(each.method), ""])
    return out.getvalue()


def _pdfs(figures: Sequence[Figure]) -> Mapping[str, bytes]:
    # Loaded here: it is large, and only an appendix needs it.
    import vl_convert

    return {figure.name: vl_convert.svg_to_pdf(figure.svg) for figure in figures}


def _scripts() -> dict[str, bytes]:
    root = resources.files(_SCRIPT)
    package = root / "agreement_numbers"
    parts = sorted(
        (each for each in package.iterdir() if each.name.endswith(".py")), key=lambda each: each.name
    )
    return {
        "recompute.py": (root / "recompute.py").read_bytes(),
        **{f"agreement_numbers/{part.name}": part.read_bytes() for part in parts},
    }


def _readme(appendix: Appendix, figures: Sequence[Figure]) -> str:
    found = appendix.report
    columns = {
        "unit": "what was rated, under an alias",
        "rater": "who rated, under an alias",
        "label": f"one of {', '.join(found.labels[:20])}, lowest first",
    }
    if appendix.frozen.compared.is_clustered:
        columns["cluster"] = "the project of the unit, under an alias; intervals resample clusters"
    if appendix.frozen.compared.kinds is not None:
        columns["kind"] = "the kind of the unit"
    if appendix.frozen.agents:
        columns["agent"] = "the code agent of the unit, under an alias"
    described = "\n".join(f"  {name:<8} {words}" for name, words in columns.items())
    figure_names = "\n".join(f"  figures/{figure.name}  {figure.caption}" for figure in figures)
    people = (
        "\nThe rater `people` stands for all people: the adjudicated mark, else that of their majority.\n"
        if appendix.frozen.each is not None
        else ""
    )
    return f"""Agreement of raters: the appendix

appendix.tex    compiles by itself with pdflatex; reads the figures beside it
tables.tex      its tables alone, to \\input where booktabs, longtable and graphicx are loaded
methods.txt     the methods paragraph; methods.tex is the same for LaTeX
statistics.csv  every statistic with its intervals, one a row{_groups_line(appendix)}
agreement.json  the same as a document; what recompute.py is compared with
ratings.csv     the frozen ratings, without names, notes and texts
recompute.py    recomputes every number of agreement.json from ratings.csv; needs Python 3.12 and NumPy
SHA256SUMS      the files as they were packed

Run

  python recompute.py

It prints every number, says at the end whether all are the same to 1e-9, names those that differ and then exits
with status 1. It takes labels, raters, gold rater, positive label, seed, number of resamples and the counts of
excluded ratings as given; everything else is computed anew by code that shares no line with what made the report.

Columns of ratings.csv

{described}
{people}
Figures, each as SVG and PDF

{figure_names or "  none"}
"""


def _groups_line(appendix: Appendix) -> str:
    return (
        "\ngroups.csv      the main statistics within kinds, code agents and clusters"
        if appendix.groups
        else ""
    )
