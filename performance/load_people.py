"""People at browsers, many in one process: readers who look around, annotators who mark, each signed in."""

from __future__ import annotations

import asyncio
import io
import random
import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
from PIL import Image
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

LONGEST_WAIT = 30
CSRF = "l" * 32
"""A token of the right shape: the cookie and the header have to agree, as they do in a browser."""
REFRESH_SECONDS = 0.7
"""How soon a live page fetches its parts again at the earliest, as static/js/live_run.js does."""


@dataclass(slots=True)
class Tally:
    """Seconds of every answer by what was asked for, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)
    rings: int = 0


@dataclass(slots=True, kw_only=True)
class Person:
    """One signed-in person; answers and failures go to the tally."""

    address: str
    session: str
    tally: Tally
    pause: float
    chance: random.Random
    client: httpx.AsyncClient = field(init=False)
    cookie: str = field(init=False)

    def __post_init__(self) -> None:
        host = self.address.removeprefix("http://")
        # Cookies are sent by hand, because a jar keeps Secure ones from plain http.
        self.cookie = f"__Host-session={self.session}; __Host-csrf={CSRF}"
        self.client = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{host.rpartition(':')[2]}",
            headers={
                "Host": host,
                "Origin": self.address,
                "Cookie": self.cookie,
                "X-CSRFToken": CSRF,
            },
            timeout=LONGEST_WAIT,
        )

    async def ask(self, what: str, method: str, path: str, **body: Any) -> httpx.Response | None:
        """Send one request and note how long its answer took; None where there was none to use."""
        began = time.perf_counter()
        try:
            answer = await self.client.request(method, path, **body)
        except httpx.HTTPError as error:
            self.tally.failures.append(f"{what} {path}: {type(error).__name__} {error}")
            return None
        self.tally.seconds[what].append(time.perf_counter() - began)
        if answer.status_code >= 400:
            self.tally.failures.append(f"{what} {path}: {answer.status_code} {answer.text[:200]}")
            return None
        return answer

    async def think(self) -> None:
        """Read what is on the screen: half to one and a half pauses."""
        await asyncio.sleep(self.pause * self.chance.uniform(0.5, 1.5))


async def read(person: Person, pages: Mapping[str, Sequence[str]], *, until: float) -> None:
    """Go from page to page until the clock says so."""
    names = list(pages)
    # Not everybody at once: people arrive one after the other.
    await asyncio.sleep(person.pause * person.chance.random())
    while time.monotonic() < until:
        name = person.chance.choice(names)
        await person.ask(name, "GET", person.chance.choice(pages[name]))
        await person.think()


async def listen(person: Person, run: int, *, until: float, refreshes: bool) -> None:
    """Hold the live socket of a run; who `refreshes` has that page open and fetches what rings tell of."""
    host = person.address.removeprefix("http://")
    wanted = asyncio.Event()
    page = f"/runs/{run}/"
    fetching = asyncio.create_task(_refresh(person, page, wanted)) if refreshes else None
    try:
        while (left := until - time.monotonic()) > 0:
            with suppress(TimeoutError):
                async with (
                    asyncio.timeout(left),
                    connect(
                        f"ws://{host}/live{page}",
                        host="127.0.0.1",
                        origin=person.address,  # type: ignore[arg-type]  # a string of its own type
                        additional_headers={"Cookie": person.cookie},
                        open_timeout=LONGEST_WAIT,
                    ) as socket,
                ):
                    async for _ in socket:
                        person.tally.rings += 1
                        wanted.set()
    except (OSError, ConnectionClosed) as error:
        person.tally.failures.append(f"socket: {type(error).__name__} {error}")
    finally:
        if fetching is not None:
            fetching.cancel()


async def _refresh(person: Person, page: str, wanted: asyncio.Event) -> None:
    cursor = 0
    while True:
        await wanted.wait()
        wanted.clear()
        began = time.monotonic()
        answer = await person.ask("live page", "GET", f"{page}?part=summary")
        await person.ask("live page", "GET", f"{page}?part=events&after={cursor}")
        if answer is not None and (found := re.search(r'data-cursor="(\d+)"', answer.text)):
            cursor = int(found[1])
        # The page waits for as long as its answers took, and so leaves a busy site half of the time.
        await asyncio.sleep(max(REFRESH_SECONDS, time.monotonic() - began))


async def annotate(person: Person, campaign: int, *, until: float) -> None:
    """Take a set, open its console, and mark, note and upload until the clock says so."""
    await asyncio.sleep(person.pause * person.chance.random())
    taken = await person.ask("take a set", "POST", f"/api/v1/campaigns/{campaign}/take", json={})
    if taken is None:
        return
    number = taken.json()["assignment"]
    path = f"/api/v1/assignments/{number}"
    await person.ask("console", "GET", f"/annotation/{number}/")
    document = await person.ask("console, document", "GET", path)
    if document is None:
        return
    versions = {row["id"]: row["version"] for row in document.json()["annotations"]}
    turn = 0
    while time.monotonic() < until:
        await person.think()
        annotation = list(versions)[turn % len(versions)]
        turn += 1
        await person.ask("evidence of a set", "GET", f"/annotation/{number}/evidence/{annotation}/")
        said: dict[str, Any] = {"change": "mark", "mark": person.chance.choice(("pass", "fail"))}
        if turn % 3 == 0:
            said = {"change": "note", "note": f"Seen in the browser, turn {turn}."}
        sent = _operation(annotation, base=versions[annotation]) | said
        saved = await person.ask("save", "POST", f"{path}/operations", json={"operations": [sent]})
        if saved is not None:
            (result,) = saved.json()["results"]
            if result["status"] == "saved":
                versions[annotation] += 1
            else:
                person.tally.failures.append(f"save: {result}")
        time_spent = {"operation": str(uuid4()), "annotation": annotation, "milliseconds": 900}
        presence = {"times": [time_spent], "place": {"item": annotation}}
        await person.ask("presence", "POST", f"{path}/presence", json=presence)
        if turn % 8 == 0:
            await person.ask(
                "upload",
                "POST",
                f"{path}/pictures",
                data={"operation": str(uuid4()), "annotation": str(annotation), "source": "upload"},
                files={"file": ("seen.png", _picture(person.chance), "image/png")},
            )
        if turn % 10 == 0:
            await person.ask("console", "GET", f"/annotation/{number}/")


def _operation(annotation: int, *, base: int) -> dict[str, Any]:
    return {
        "operation": str(uuid4()),
        "annotation": annotation,
        "base": base,
        "made_at": datetime.now(UTC).isoformat(),
    }


def _picture(chance: random.Random) -> bytes:
    """A screenshot's size of rectangles in colours of chance."""
    picture = Image.new("RGB", (1280, 800), (chance.randrange(256), 250, 250))
    for _ in range(40):
        left, top = chance.randrange(1200), chance.randrange(700)
        colour = (chance.randrange(256), chance.randrange(256), chance.randrange(256))
        picture.paste(colour, (left, top, left + 80, top + 100))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
