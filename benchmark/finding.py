"""Find a benchmark by what a person types: key, key@version, or id."""

from __future__ import annotations

from benchmark.models import Benchmark


class BenchmarkUnknown(LookupError):
    """No imported benchmark goes by that name; the message says which ones there are."""


def benchmark_named(name: str) -> Benchmark:
    """Return the benchmark; of a key alone the newest version. Raises BenchmarkUnknown."""
    key, at, version = name.strip().partition("@")
    named = Benchmark.objects.filter(key=key)
    if at:
        named = named.filter(version=version)
    # An id is written down by scripts; a key that is a number still comes first.
    found = named.order_by("-imported_at", "-pk").first()
    if found is None and not at and key.isdecimal() and len(key) < 20:
        found = Benchmark.objects.filter(pk=int(key)).first()
    if found is not None:
        return found
    known = [
        f"{key}@{version}"
        for key, version in Benchmark.objects.order_by("key", "-pk").values_list("key", "version")[:8]
    ]
    there = f"there are {', '.join(known)}" if known else "none is imported yet"
    raise BenchmarkUnknown(
        f"No benchmark is called {name!r}; {there}. `proofroom import PATH` brings one in."
    )
