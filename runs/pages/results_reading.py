"""How to read these numbers: the decisions, what was measured with what, and what could not be judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.display import counted, listed, plain_value, settings_in_words
from benchmark.rules.protocol import MetricSpec, Protocol
from runs.isolation import NO_SANDBOX
from runs.models import Run
from runs.pages.results import Entry, of_task

_COUNTED = {
    "errors": ("Errors", "criteria that could not be judged; kept in the denominator of raw figures"),
    "skipped": ("Skipped", "criteria behind an unsatisfied prerequisite; never counted as fail"),
    "infrastructure_failures": ("Not judged", "trials without any judged mark; they count 0 in raw figures"),
    "audit_failed": ("Audit failed", "trials that no number is over until they are judged again"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A term and what is said of it."""

    term: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A sentence that numbers depend on; `only_for` names the runs where it does not hold for all."""

    words: str
    only_for: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What stands beside the numbers."""

    facts: tuple[Fact, ...]
    decisions: tuple[Decision, ...]


def reading_of(runs: Sequence[Run], entries: Sequence[Entry], *, recipe: Protocol) -> Reading:
    """Facts and decisions of the runs shown; what they share is said once."""
    shown = {entry.run for entry in entries}
    runs = [run for run in runs if run.pk in shown]
    names = {entry.run: entry.name for entry in entries}
    measured = {
        "Benchmark": {run.pk: f"{run.benchmark} · sha256 {run.benchmark_hash[:12]}" for run in runs},
        "Sandbox": {run.pk: run.sandbox for run in runs},
        "Judge": {run.pk: ", ".join([run.judge, *settings_in_words(run.judge_settings)]) for run in runs},
        "Settings": {run.pk: ", ".join(settings_in_words(run.settings)) for run in runs},
    }
    facts = [Fact(term=term, words=words) for term, of in measured.items() for words in _said(of, names)]
    facts += [
        Fact(term=term, words=_counted(entries, name, meaning))
        for name, (term, meaning) in _COUNTED.items()
        if name != "audit_failed" or any(entry.numbers.counts.get(name) for entry in entries)
    ]
    facts.append(
        Fact(
            term="Established",
            words="the paired 95% interval over tasks that both runs have leaves out 0",
        )
    )
    return Reading(facts=tuple(facts), decisions=tuple(_decisions(runs, names, recipe)))


def differing_settings(settings: Mapping[int, Mapping[str, object]]) -> list[str]:
    """A sentence for each setting in which the runs differ; such runs measure different things."""
    sentences: list[str] = []
    for name in dict.fromkeys(name for given in settings.values() for name in given):
        by_value: dict[str, list[str]] = {}
        for run, given in settings.items():
            by_value.setdefault(plain_value(given.get(name, "not set")), []).append(str(run))
        if len(by_value) > 1:
            parts = [f"{value} ({_runs(numbers)})" for value, numbers in by_value.items()]
            sentences.append(f"{name.replace('_', ' ').capitalize()} differs: {', '.join(parts)}.")
    return sentences


def without_sandbox(runs: Sequence[Run]) -> list[str]:
    """A sentence that names the runs made without a sandbox; none where all had one."""
    bare = [str(run.pk) for run in runs if run.is_without_sandbox]
    if not bare:
        return []
    were = "was" if len(bare) == 1 else "were"
    reach = "agents and candidates could read and reach whatever the account of the bench can"
    return [f"{_runs(bare).capitalize()} {were} {NO_SANDBOX}: {reach}."]


def tasks_left_out(entries: Sequence[Entry], *, metric: MetricSpec) -> list[str]:
    """A sentence for each ended run whose mean is not over all of its tasks, naming those that leave it."""
    sentences: list[str] = []
    for entry in entries:
        absent = [key for key in entry.tasks if of_task(entry, key, metric.name) is None]
        if absent and entry.is_over and len(absent) < len(entry.tasks):
            sentences.append(
                f"{metric.label} of {entry.name} is over {len(entry.tasks) - len(absent)} of "
                f"{counted(len(entry.tasks), 'task')}: it cannot be computed for {listed(absent)}."
            )
    return sentences


def all_settings(run: Run) -> dict[str, object]:
    """Everything that makes two runs comparable, by name."""
    return {
        **run.settings,
        "judge": run.judge,
        **{f"judge's {name}": value for name, value in run.judge_settings.items()},
        "content of the benchmark": run.benchmark_hash[:12],
    }


def _decisions(runs: Sequence[Run], names: Mapping[int, str], recipe: Protocol) -> list[Decision]:
    by_words: dict[str, list[int]] = {}
    for run in runs:
        for words in recipe.decisions(run.settings):
            by_words.setdefault(words, []).append(run.pk)
    return [
        Decision(
            words=words,
            only_for="" if len(holds) == len(runs) else ", ".join(names[pk] for pk in holds),
        )
        for words, holds in by_words.items()
    ]


def _said(by_run: Mapping[int, str], names: Mapping[int, str]) -> list[str]:
    """One text where all agree, else one for each group of runs."""
    groups: dict[str, list[str]] = {}
    for run, words in by_run.items():
        groups.setdefault(words, []).append(names[run])
    if len(groups) == 1:
        return list(groups)
    return [f"{words} ({', '.join(of)})" for words, of in groups.items()]


def _counted(entries: Sequence[Entry], name: str, meaning: str) -> str:
    counts = {entry.name: entry.numbers.counts.get(name) for entry in entries}
    known = {of: count for of, count in counts.items() if count is not None}
    if not known:
        return f"not counted for these runs; `proofroom rescore` counts them ({meaning})"
    some = [f"{of} {count}" for of, count in known.items() if count]
    if not some:
        return f"none ({meaning})"
    return f"{', '.join(some)} ({meaning})" if len(entries) > 1 else f"{sum(known.values())} ({meaning})"


def _runs(numbers: Sequence[str]) -> str:
    return f"run{'s' if len(numbers) > 1 else ''} {listed(sorted(numbers, key=int), most=6)}"
