"""Which runs are kept from a person for a time: asked of whoever has a reason to hide some.

A layer above says so once, when the site starts; every page, list and file below asks here. The answer
stays with the request's own user, so that a page of many parts asks the database once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from people.roles import Refused

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class RunHidden(Refused):
    """Raised with a sentence that says why a run is hidden, and the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hiding:
    """A reason to hide runs: which ones it hides from a person, and how it refuses one of them."""

    runs_of: Callable[[User], frozenset[int]]
    refusal: Callable[[User, int], RunHidden]


_hidings: dict[str, Hiding] = {}


def add_hiding(name: str, hiding: Hiding) -> None:
    """Let a layer above hide runs; a name that is known already is replaced."""
    _hidings[name] = hiding


def hidden_runs(user: User | AnonymousUser) -> frozenset[int]:
    """Return the runs that are hidden from a person now."""
    if not user.is_authenticated:
        return frozenset()
    known: frozenset[int] | None = user.__dict__.get("_hidden_runs")
    if known is None:
        known = frozenset().union(*(hiding.runs_of(user) for hiding in _hidings.values()))
        user.__dict__["_hidden_runs"] = known
    return known


def forget(user: User | AnonymousUser) -> None:
    """Ask anew after something changed what is hidden from this person."""
    user.__dict__.pop("_hidden_runs", None)


def require_shown(user: User | AnonymousUser, run_id: int) -> None:
    """Raise RunHidden where a run is hidden from a person."""
    if not user.is_authenticated or run_id not in hidden_runs(user):
        return
    for hiding in _hidings.values():
        if run_id in hiding.runs_of(user):
            raise hiding.refusal(user, run_id)
    raise RunHidden(f"Run {run_id} is hidden from you.")
