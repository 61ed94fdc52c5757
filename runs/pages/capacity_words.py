"""What a run will need in words: the same lines for the launch page and the command."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.display import counted, duration, file_size, whole
from runs.capacity import Estimate, Need, Spread

_PARTS = {
    Need.AGENT: "code agent",
    Need.DEPLOY: "build and start",
    Need.JUDGE: "judge",
    Need.OTHER: "the rest",
}
_SHORTEST_SHOWN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One need: what it is, how much, and what that follows from."""

    name: str
    value: str
    note: str = ""


def size_of(estimate: Estimate) -> str:
    """How much work it is: `6 trials, at most 3 rounds each: 18 rounds at most`."""
    size = counted(estimate.trials, "trial")
    if estimate.rounds > 1:
        most = whole(estimate.trials * estimate.rounds)
        size += f", at most {estimate.rounds} rounds each: {most} rounds at most"
    return size


def time_of(estimate: Estimate) -> str:
    """How long it will take in one sentence."""
    if estimate.seconds is None:
        return "No past run says how long it will take."
    past = counted(estimate.seconds.n, "past trial")
    return f"About {duration(estimate.seconds.median)}, by {past} and {_at_once(estimate)}."


def lines_of(estimate: Estimate) -> list[Line]:
    """Every need in order: time, browsers, memory, tokens, cost."""
    if not estimate.trials:
        return []
    lines = [_time(estimate)]
    if estimate.work is not None:
        parts = [
            f"{_PARTS[need]} {duration(seconds)}"
            for need, seconds in estimate.by_need.items()
            if seconds >= _SHORTEST_SHOWN
        ]
        lines.append(Line(name="One trial", value=_seconds(estimate.work), note=", ".join(parts)))
    lines.append(
        Line(
            name="Browsers",
            value=f"{estimate.browsers} at once",
            note=f"{counted(estimate.criteria_at_once, 'criterion', 'criteria')} judged at a time",
        )
    )
    lines.append(
        Line(
            name="Memory",
            value=f"About {file_size(estimate.memory_bytes)}",
            note="for browsers and candidates, beside the site; a code agent and a build take their own",
        )
    )
    lines.append(_reported("Tokens", estimate.tokens, past=estimate.past, unit="", decimals=0))
    lines.append(_reported("Cost", estimate.cost, past=estimate.past, unit="$", decimals=2))
    return lines


def text_of(estimate: Estimate) -> str:
    """The estimate for a terminal."""
    lines = lines_of(estimate)
    width = max((len(line.name) for line in lines), default=0)
    rows = [f"  {line.name:<{width}}  {line.value}{f' ({line.note})' if line.note else ''}" for line in lines]
    return "\n".join([f"{size_of(estimate)}. Nothing was launched.", *rows])


def _time(estimate: Estimate) -> Line:
    most = f"at most {duration(estimate.most_seconds)} by the declared time limits"
    if estimate.seconds is None:
        return Line(
            name="Time",
            value="Not known",
            note=f"no past runs of this benchmark, code agent and judge; {most}, {_at_once(estimate)}",
        )
    return Line(
        name="Time",
        value=_seconds(estimate.seconds),
        note=f"{_at_once(estimate)}, by {counted(estimate.seconds.n, 'past trial')}; {most}",
    )


def _at_once(estimate: Estimate) -> str:
    return f"{counted(estimate.at_once, 'trial')} at a time"


def _seconds(spread: Spread) -> str:
    if spread.n == 1:
        return f"About {duration(spread.median)}"
    return f"About {duration(spread.median)} ({duration(spread.low)} to {duration(spread.high)})"


def _reported(name: str, spread: Spread | None, *, past: int, unit: str, decimals: int) -> Line:
    if spread is None:
        why = "no past runs" if not past else "the code agent of past runs reported none"
        return Line(name=name, value="Not known", note=why)
    low, middle, high = (f"{unit}{each:,.{decimals}f}" for each in (spread.low, spread.median, spread.high))
    value = f"About {middle}" + (f" ({low} to {high})" if spread.n > 1 else "")
    return Line(name=name, value=value, note=f"by {counted(spread.n, 'past trial')} whose agent reported it")
