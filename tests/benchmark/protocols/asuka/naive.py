"""Asuka once more, naively: exact fractions over the marks file itself, sharing no code with the rules."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

Z = 1.959964
KINDS = ("presence", "functionality", "robustness")


def metrics(document: dict[str, Any]) -> list[dict[str, tuple[float, float | None] | None]]:
    """Return value and half-width of each metric, None where undefined, for each round."""
    last = max((each["round"] for each in document["rounds"]), default=0)
    return [_at(document, number) for number in range(1, last + 1)]


def effective(task, marks, *, threshold, dag):
    """Return criterion key -> (word, list of outcome words)."""
    by_key = {criterion["key"]: criterion for criterion in task["criteria"]}
    done: dict[str, tuple[str, list[str]]] = {}

    def word(key):
        if key in done:
            return done[key]
        count = by_key[key]["outcomes"]
        given = marks.get(key, "error")
        outcomes = [given] * count if isinstance(given, str) else given
        parents = [word(need) for need in by_key[key]["needs"]] if dag else []
        answer = None
        for name, parent_outcomes in parents:
            ratio = Fraction(parent_outcomes.count("pass"), len(parent_outcomes))
            if name == "skipped" or (name in ("pass", "fail") and ratio < Fraction(threshold)):
                answer = ("skipped", ["skipped"] * count)
        if answer is None and any(name == "error" for name, _ in parents):
            answer = ("error", ["error"] * count)
        if answer is None:
            if "fail" in outcomes:
                answer = ("fail", outcomes)
            elif "error" in outcomes:
                answer = ("error", outcomes)
            else:
                answer = ("pass", outcomes)
        done[key] = answer
        return answer

    return {key: word(key) for key in by_key}


def _at(document, number):
    settings = {"threshold": 0.5, "mode": "dag"} | document["settings"]
    is_flat = settings["mode"] == "flat"
    per_task = []
    for task in document["tasks"]:
        own = [each for each in document["rounds"] if each["task"] == task["key"]]
        repeats = sorted({each.get("repeat", 1) for each in own}) or [1]
        found = []
        for repeat in repeats:
            mine = sorted(
                (each for each in own if each.get("repeat", 1) == repeat), key=lambda each: each["round"]
            )

            def judged(threshold, dag, mine=mine, task=task):
                return [effective(task, each["marks"], threshold=threshold, dag=dag) for each in mine]

            found.append(_trial(task, judged(settings["threshold"], not is_flat), number))
            if is_flat:
                for name, at in (("dag_gap", settings["threshold"]), ("dag_gap_strict", 1)):
                    skipping = _trial(task, judged(at, True), number)
                    found[-1][name] = found[-1]["task_pass_rate"] - skipping["task_pass_rate"]
        per_task.append({name: _average([each[name] for each in found if name in each]) for name in found[0]})
    return _over_tasks(per_task, number, is_flat)


def _trial(task, rounds, number):
    criteria = task["criteria"]
    so_far = rounds[:number]
    now = [rounds[min(number, len(rounds)) - 1]] if rounds else []
    before = [rounds[min(number - 1, len(rounds)) - 1]] if rounds and number > 1 else []
    known = [c for c in criteria if any(states[c["key"]][0] != "error" for states in so_far)]
    found: dict[str, Any] = {}
    for suffix, subset, states in (
        ("", criteria, so_far),
        ("_state", criteria, now),
        ("_judged", known, so_far),
    ):
        found |= {f"{name}{suffix}": value for name, value in _rates(subset, states).items()}
    for kind in KINDS:
        of_kind = [c for c in criteria if c["kind"] == kind]
        found[f"task_pass_rate_{kind}"] = _rates(of_kind, so_far)["task_pass_rate"]
    fixed = failed = outcomes_fixed = outcomes_failed = regressions = unreached = 0
    for criterion in criteria:
        key = criterion["key"]
        for earlier in before:
            name, outcomes = now[0][key]
            if earlier[key][0] == "fail":
                failed += 1
                fixed += name == "pass"
                for index, mark in enumerate(earlier[key][1]):
                    if mark == "fail":
                        outcomes_failed += 1
                        outcomes_fixed += name in ("pass", "fail") and outcomes[index] == "pass"
        passed_earlier = any(states[key][0] == "pass" for states in rounds[: number - 1])
        regressions += bool(now) and passed_earlier and now[0][key][0] == "fail"
        unreached += bool(now) and passed_earlier and now[0][key][0] == "skipped"
    return found | {
        "task_fixed": Fraction(fixed),
        "task_failed": Fraction(failed),
        "criteria_fixed": Fraction(outcomes_fixed),
        "criteria_failed": Fraction(outcomes_failed),
        "regressions": Fraction(regressions),
        "regressions_unreached": Fraction(unreached),
    }


def _rates(criteria, rounds):
    weight = sum(c["weight"] for c in criteria)
    names = ("task_pass_rate", "criteria_pass_rate", "project_completion_rate", "implemented_rate")
    if not criteria:
        return dict.fromkeys(names)
    passed = outcomes = executed = Fraction(0)
    complete = True
    for c in criteria:
        states = [states[c["key"]] for states in rounds]
        judged = [marks for name, marks in states if name in ("pass", "fail")]
        is_passed = any(name == "pass" for name, _ in states)
        complete = complete and is_passed
        passed += c["weight"] * is_passed
        executed += c["weight"] * bool(judged)
        union = sum(any(marks[i] == "pass" for marks in judged) for i in range(c["outcomes"]))
        outcomes += Fraction(c["weight"] * union, c["outcomes"])
    return dict(
        zip(names, (passed / weight, outcomes / weight, Fraction(complete), executed / weight), strict=True)
    )


def _average(values):
    present = [value for value in values if value is not None]
    return sum(present) / Fraction(len(present)) if present else None


def _over_tasks(per_task, number, is_flat):
    found: dict[str, tuple[float, float | None] | None] = {}
    pooled = {"task_fixed", "task_failed", "criteria_fixed", "criteria_failed"}
    counts = {"regressions", "regressions_unreached"}
    for name in per_task[0]:
        if name in pooled:
            continue
        present = [each[name] for each in per_task if each[name] is not None]
        if name in counts:
            found[name] = (float(sum(present)), None)
        elif not present:
            found[name] = None
        else:
            mean = sum(present) / len(present)
            half = None
            if len(present) > 1:
                variance = sum((value - mean) ** 2 for value in present) / (len(present) - 1)
                half = Z * sqrt(variance) / sqrt(len(present))
            found[name] = (float(mean), half)
    for name in ("task", "criteria"):
        x = [each[f"{name}_failed"] for each in per_task]
        y = [each[f"{name}_fixed"] for each in per_task]
        n = len(per_task)
        if number == 1 or sum(x) == 0:
            found[f"{name}_fix_rate"] = None
            continue
        ratio = sum(y) / sum(x)
        half = None
        if n > 1:
            squares = sum((yi - ratio * xi) ** 2 for xi, yi in zip(x, y, strict=True))
            half = Z * sqrt(Fraction(n, n - 1) * squares / sum(x) ** 2)
        found[f"{name}_fix_rate"] = (float(ratio), half)
    if not is_flat:
        found |= {"dag_gap": None, "dag_gap_strict": None}
    return found
