"""Find a run by what a person types."""

from __future__ import annotations

from runs.models import Run


class RunUnknown(LookupError):
    """No run goes by that number; the message says which ones there are."""


def run_named(text: str) -> Run:
    """Return the run with its benchmark. Raises RunUnknown."""
    number = text.strip().removeprefix("#")
    # No database counts further than 19 digits, and Python refuses to read very long numbers.
    if number.isdecimal() and len(number) < 20:
        run = Run.objects.select_related("benchmark").filter(pk=int(number)).first()
        if run is not None:
            return run
    latest = [str(pk) for pk in Run.objects.order_by("-pk").values_list("pk", flat=True)[:5]]
    there = f"the latest are {', '.join(latest)}" if latest else "none was launched yet"
    raise RunUnknown(f"There is no run {text[:40]!r}; {there}. `proofroom runs` lists them.")
