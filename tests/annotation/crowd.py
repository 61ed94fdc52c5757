"""A crowd of annotators over real HTTP; as a program it prepares the campaign that they work on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import batched
from typing import Any
from uuid import uuid4

import httpx

from tests.whole.bench import ROOT, Bench

PASSWORD = "a long pass phrase"
AMOUNT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """An open campaign and the people who may work on it."""

    campaign: int
    names: tuple[str, ...]
    items: int


@dataclass(slots=True, kw_only=True)
class Annotator:
    """One person at a browser: signed in by the form, working with the site's own interface."""

    address: str
    name: str
    client: httpx.Client = field(init=False)
    sent: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    sets: int = 0

    def __post_init__(self) -> None:
        host = self.address.removeprefix("http://")
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{host.rpartition(':')[2]}",
            headers={"Host": host, "Origin": self.address},
            timeout=120,
        )

    def sign_in(self) -> None:
        """Take the session's cookies by hand: a jar keeps Secure ones from plain http."""
        form = self.client.get("/sign-in/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)
        assert token is not None
        fields = {"username": self.name, "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
        answer = self.client.post("/sign-in/", data=fields, headers={"Cookie": _cookies(form)})
        assert answer.status_code == 302, answer.text
        cookies = _cookies(answer)
        self.client.headers["Cookie"] = cookies
        self.client.headers["X-CSRFToken"] = cookies.partition("__Host-csrf=")[2].partition(";")[0]

    def work_through(self, campaign: int) -> None:
        """Take sets, mark every outcome and submit, until nothing is left."""
        while (taken := self.ask("POST", f"/campaigns/{campaign}/take")).status_code == 200:
            self.work_on(taken.json()["assignment"])
            self.sets += 1
        assert taken.status_code == 409, taken.text

    def work_on(self, assignment: int) -> None:
        path = f"/assignments/{assignment}"
        document = self.ask("GET", path).json()
        # Some are sent one by one, some together, and the last batch twice, as after a lost answer.
        single, rest = document["annotations"][::2], document["annotations"][1::2]
        for annotation in single:
            self.save(path, [self.mark(annotation)])
            self.ask("POST", f"{path}/presence", times=[_time(annotation)], place={"item": annotation["id"]})
        for some in batched(rest, 4):
            operations = [self.mark(annotation) for annotation in some]
            self.save(path, operations)
            self.save(path, operations)
        submitted = self.ask("POST", f"{path}/submit")
        assert submitted.json()["state"] == "submitted", submitted.text

    def mark(
        self, annotation: dict[str, Any], *, mark: str = "pass", base: int | None = None
    ) -> dict[str, Any]:
        name = str(uuid4())
        self.sent.append(name)
        return {
            "operation": name,
            "annotation": annotation["id"],
            "change": "mark",
            "mark": mark,
            "base": annotation["version"] if base is None else base,
            "made_at": datetime.now(UTC).isoformat(),
        }

    def save(self, path: str, operations: list[dict[str, Any]]) -> None:
        results = self.ask("POST", f"{path}/operations", operations=operations).json()["results"]
        self.failures += [str(result) for result in results if result["status"] != "saved"]

    def ask(self, method: str, path: str, **body: Any) -> httpx.Response:
        answer = self.client.request(method, f"/api/v1{path}", json=body if method == "POST" else None)
        if answer.status_code >= 500:
            self.failures.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer


def prepare(bench: Bench, *, tasks: int = 10, criteria: int = 4, overlap: int = 2) -> Scene:
    """Make accounts and an open campaign in a bench's own database."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.annotation.crowd", str(tasks), str(criteria), str(overlap)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=bench._environment() | {"REDIS_URL": ""},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    return Scene(campaign=made["campaign"], names=tuple(made["names"]), items=made["items"])


def at_work(address: str, scene: Scene) -> list[Annotator]:
    """Let everybody work at the same time, and return them when all are done."""
    crowd = [Annotator(address=address, name=name) for name in scene.names]
    try:
        with ThreadPoolExecutor(len(crowd)) as threads:
            list(threads.map(Annotator.sign_in, crowd))
            list(threads.map(lambda one: one.work_through(scene.campaign), crowd))
    finally:
        for one in crowd:
            one.client.close()
    return crowd


def check(bench: Bench, scene: Scene, crowd: Sequence[Annotator], *, overlap: int = 2) -> None:
    """Every item has exactly so many marks from different people, all arrived once, all sets are in."""
    assert [failure for one in crowd for failure in one.failures] == []
    marks = bench.rows(
        "select n.item_id, count(*), count(distinct a.annotator_id) from annotation_annotation n"
        " join annotation_assignment a on a.id = n.assignment_id where n.mark = ? group by n.item_id",
        "pass",
    )
    assert len(marks) == scene.items
    assert {(given, people) for _, given, people in marks} == {(overlap, overlap)}
    states = bench.rows("select state, count(*) from annotation_assignment group by state")
    assert states == [("submitted", sum(one.sets for one in crowd))]
    saved = bench.rows("select operation from annotation_revision")
    assert len(saved) == len({str(name) for (name,) in saved}) == overlap * scene.items
    assert {str(name).replace("-", "") for (name,) in saved} == {
        name.replace("-", "") for one in crowd for name in one.sent
    }
    gaps = bench.rows(
        "select a.id from annotation_assignment a join annotation_revision r on r.assignment_id = a.id"
        " group by a.id, a.sequence having max(r.sequence) <> a.sequence or count(*) <> a.sequence"
    )
    assert gaps == []
    times = bench.rows("select count(*), sum(milliseconds) from annotation_activetime")[0]
    counted = bench.rows("select sum(active_ms) from annotation_annotation")[0][0]
    assert times[1] == counted


def _time(annotation: dict[str, Any]) -> dict[str, Any]:
    return {"operation": str(uuid4()), "annotation": annotation["id"], "milliseconds": 1500}


def _cookies(answer: httpx.Response) -> str:
    return "; ".join(line.partition(";")[0] for line in answer.headers.get_list("set-cookie"))


def main(tasks: int, criteria: int, overlap: int) -> None:
    """Prepare the scene in the configured database and print it as JSON."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
    import django

    django.setup()
    from tests import campaigns

    people = campaigns.people(AMOUNT, password=PASSWORD)
    of = campaigns.opened(
        campaigns.run(campaigns.benchmark(tasks=tasks, criteria=criteria)), annotators=people, overlap=overlap
    )
    document = {
        "campaign": of.pk,
        "names": [person.username for person in people],
        "items": of.items.count(),
    }
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:4]))
