"""Plan an agreement study: how many outcomes, projects and people an interval of a wanted width needs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.agreement.planner import (
    Clustering,
    Expected,
    PlanError,
    Target,
    plan_judge,
    plan_people,
)
from annotation.reports.calculator_fields import Typed
from annotation.reports.chart_parts import Chart
from annotation.reports.charts import NARROW
from annotation.reports.plan_chart import plan_curve
from benchmark.display import UNDEFINED, whole

WIDTHS = tuple(step / 100 for step in range(6, 42, 2))
PER_PROJECT = (1, 5, 10, 20, 40)
CURVE = 620
DEFAULTS = {
    "target": Target.KAPPA.value,
    "width": "0.2",
    "prevalence": "0.8",
    "recall": "0.95",
    "specificity": "0.7",
    "per_project": "10",
    "correlation": "0.05",
    "variation": "0",
    "kappa": "0.7",
}
_TARGETS = {
    Target.KAPPA: "Cohen's kappa",
    Target.ACCURACY: "Accuracy",
    Target.F1: "F1 of Pass",
    Target.SPECIFICITY: "Specificity",
}


@require_safe
def plan(request: HttpRequest) -> HttpResponse:
    """Ask what is expected and how narrow the interval shall be, and show the smallest samples that do."""
    typed = Typed(request.GET.dict(), defaults=DEFAULTS)
    chosen = typed.text("target")
    target = Target(chosen) if chosen in set(Target) else Target.KAPPA
    asked = {name: typed.share(name) for name in ("width", "prevalence", "recall", "specificity", "kappa")}
    correlation = typed.share("correlation")
    variation = typed.number("variation", least=0, most=5)
    per_project = typed.whole("per_project", least=1, most=10_000)
    context: dict[str, Any] = {
        "area": "agreement",
        "targets": [
            {"value": each.value, "label": label, "is_current": each is target}
            for each, label in _TARGETS.items()
        ],
        "target": _TARGETS[target],
        "wanted": _wanted_fields(typed),
        "expected": _expected_fields(typed),
        "lying": _lying_fields(typed),
        "people_field": typed.field("kappa", "Kappa among people", "What you expect people to reach."),
        "problem": "",
    }
    if not typed.problems:
        try:
            expected = Expected(
                prevalence=asked["prevalence"], recall=asked["recall"], specificity=asked["specificity"]
            )
            lying = Clustering(per_project=per_project, correlation=correlation, variation=variation)
            context |= _of_judge(target, expected, width=asked["width"], lying=lying)
            context["people"] = _of_people(
                kappa=asked["kappa"], prevalence=asked["prevalence"], width=asked["width"], lying=lying
            )
        except PlanError as error:
            context["problem"] = str(error)
    is_bad = bool(typed.problems or context["problem"])
    return render(request, "annotation/agreement_plan.html", context, status=422 if is_bad else 200)


def _of_judge(target: Target, expected: Expected, *, width: float, lying: Clustering) -> dict[str, Any]:
    plan = plan_judge(target, expected, width=width, clustering=lying)
    curve = [(each, _outcomes(target, expected, width=each, lying=lying)) for each in WIDTHS]
    return {
        "stats": [
            {
                "label": "Outcomes",
                "value": whole(plan.outcomes),
                "under": "that people mark and the judge too",
            },
            {
                "label": "Projects",
                "value": whole(plan.projects),
                "under": f"{lying.per_project:,} outcomes of each",
            },
            {
                "label": f"Expected {_TARGETS[target][0].lower()}{_TARGETS[target][1:]}"
                if target is not Target.F1 and target is not Target.KAPPA
                else f"Expected {_TARGETS[target]}",
                "value": f"{plan.value:.2f}".replace("-", "−"),
                "under": f"interval {plan.width:.3f} wide",
            },
            {
                "label": "Design effect",
                "value": f"{plan.design_effect:.2f}",
                "under": "times as many as independent outcomes",
            },
        ],
        "charts": [
            _curve(curve, wanted=(width, plan.outcomes), size=size, target=_TARGETS[target])
            for size in (CURVE, NARROW)
        ],
        "spread": [
            _spread_row(target, expected, width=width, lying=lying, per_project=each) for each in PER_PROJECT
        ],
    }


def _outcomes(target: Target, expected: Expected, *, width: float, lying: Clustering) -> int | None:
    try:
        return plan_judge(target, expected, width=width, clustering=lying).outcomes
    except PlanError:
        return None


def _curve(
    points: list[tuple[float, int | None]], *, wanted: tuple[float, int], size: int, target: str
) -> Chart:
    words = f"An interval of {target} {wanted[0]:g} wide takes {wanted[1]:,} outcomes; wider ones take fewer."
    known = [(width, outcomes) for width, outcomes in points if outcomes is not None]
    return plan_curve(known, wanted=wanted, width=size, words=words)


def _spread_row(
    target: Target, expected: Expected, *, width: float, lying: Clustering, per_project: int
) -> dict[str, Any]:
    spread = Clustering(per_project=per_project, correlation=lying.correlation, variation=lying.variation)
    row: dict[str, Any] = {"per_project": per_project, "is_current": per_project == lying.per_project}
    try:
        plan = plan_judge(target, expected, width=width, clustering=spread)
    except PlanError:
        return row | {"outcomes": UNDEFINED, "projects": "no number is enough", "effect": UNDEFINED}
    return row | {
        "outcomes": whole(plan.outcomes),
        "projects": whole(plan.projects),
        "effect": f"{plan.design_effect:.2f}",
    }


def _of_people(*, kappa: float, prevalence: float, width: float, lying: Clustering) -> list[dict[str, str]]:
    return [
        {
            "raters": str(each.raters),
            "outcomes": whole(each.outcomes),
            "projects": whole(each.projects),
            "ratings": whole(each.ratings),
            "reliability": f"{each.reliability:.2f}",
        }
        for each in plan_people(kappa=kappa, prevalence=prevalence, width=width, clustering=lying)
    ]


def _wanted_fields(typed: Typed) -> list[Any]:
    return [
        typed.field("width", "Width of the 95% interval", "From its low end to its high end: 0.2 is ± 0.1."),
    ]


def _expected_fields(typed: Typed) -> list[Any]:
    return [
        typed.field("prevalence", "Prevalence of Pass", "The share that people pass."),
        typed.field("recall", "Recall", "Of what people pass, the share the judge passes."),
        typed.field(
            "specificity", "Specificity", "Of what people do not pass, the share the judge does not."
        ),
    ]


def _lying_fields(typed: Typed) -> list[Any]:
    return [
        typed.field("per_project", "Outcomes a project", "How many are marked in each project."),
        typed.field(
            "correlation",
            "Correlation within a project",
            "How alike the judge's mistakes are in one project; 0.05 is common.",
        ),
        typed.field(
            "variation",
            "Variation of the number",
            "Standard deviation of outcomes a project by their mean; 0 where all have as many.",
        ),
    ]
