"""Accounts, an open campaign over a finished run, and the addresses that readers of that run visit.

As a program it makes them in the configured database and prints them: python -m performance.load_scene RUN
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tests.whole.bench import ROOT, Bench

PIECES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Sessions of those who visit the site, and what there is to see: pages by what a table calls them."""

    run: int
    campaign: int
    readers: tuple[str, ...]
    annotators: tuple[str, ...]
    pages: dict[str, tuple[str, ...]]


def prepare(bench: Bench, *, run: int, readers: int, annotators: int) -> str:
    """Make the scene in a bench's own database, from a process of its own, and return it as text."""
    done = subprocess.run(
        [sys.executable, "-m", "performance.load_scene", str(run), str(readers), str(annotators)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=bench._environment(),  # noqa: SLF001 - as the bench runs its own commands
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The scene could not be made: {done.stderr[-2000:]}")
    return done.stdout


def scene_of(text: str) -> Scene:
    """Read a scene as `prepare` gives it."""
    made = json.loads(text)
    return Scene(
        run=made["run"],
        campaign=made["campaign"],
        readers=tuple(made["readers"]),
        annotators=tuple(made["annotators"]),
        pages={name: tuple(paths) for name, paths in made["pages"].items()},
    )


def main(run_id: int, readers: int, annotators: int) -> None:
    """Make accounts and an open campaign with enough sets for every annotator; print the scene."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
    import django

    django.setup()
    made = _made(run_id, readers=readers, annotators=annotators)
    json.dump(asdict(made), sys.stdout)


def _made(run_id: int, *, readers: int, annotators: int) -> Scene:
    from annotation import opening
    from annotation.models import Campaign
    from people.roles import SiteRole
    from runs.models import Run

    run = Run.objects.get(pk=run_id)
    audience = _people("reader", readers, SiteRole.READER)
    crowd = _people("crowd", annotators, SiteRole.ANNOTATOR)
    campaign = Campaign.objects.create(name="Load", overlap=annotators, seed=1)
    campaign.runs.add(run)
    campaign.annotators.add(*crowd)
    campaign = opening.open_campaign(campaign, by=None)
    return Scene(
        run=run.pk,
        campaign=campaign.pk,
        readers=_sessions(audience),
        annotators=_sessions(crowd),
        pages=_pages(run),
    )


def _people(stem: str, amount: int, role: Any) -> list[Any]:
    from django.contrib.auth.models import Group, User

    group, _ = Group.objects.get_or_create(name=role.value)
    made = [User.objects.create_user(username=f"{stem}-{number}") for number in range(amount)]
    for one in made:
        one.groups.add(group)
    return made


def _sessions(people: Sequence[Any]) -> tuple[str, ...]:
    """Sign people in without the form: a password is slow to check on purpose, and not what is measured."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    keys = []
    for person in people:
        session = SessionStore()
        session[SESSION_KEY] = str(person.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = person.get_session_auth_hash()
        session.create()
        keys.append(str(session.session_key))
    return tuple(keys)


def _pages(run: Any) -> dict[str, tuple[str, ...]]:
    from runs.models import Evidence

    address = f"/runs/{run.pk}/"
    benchmark = run.benchmark
    trials = list(run.trials.values_list("pk", flat=True))
    views = ("rounds", "compare", "code", "transcript", "graph")
    pieces = Evidence.objects.filter(verdict__judging__round__trial__run=run).order_by("pk")
    results = f"/results/?benchmark={benchmark.pk}"
    return {
        "home": ("/",),
        "run list": ("/runs/", "/runs/?state=finished", "/runs/?q=replay"),
        "run": (address, f"{address}?cell=outcomes"),
        "run, refreshed": (f"{address}?part=summary", f"{address}?part=events"),
        **{f"trial, {view}": tuple(f"{address}trials/{pk}/?view={view}" for pk in trials) for view in views},
        "results": (results, f"{results}&runs={run.pk}"),
        "report": tuple(f"{results}&runs={run.pk}&format={kind}" for kind in ("html", "csv")),
        "benchmarks": ("/benchmarks/", benchmark.get_absolute_url()),
        "API, runs": ("/api/v1/runs",),
        "API, run": (f"/api/v1/runs/{run.pk}", f"/api/v1/runs/{run.pk}/marks"),
        "evidence": tuple(f"/runs/evidence/{piece.pk}/" for piece in pieces[:PIECES]),
    }


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:4]))
