"""A real site on a real port with rows to show, and a signed-in Chromium to look at it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from runs.adapters.browsers import chromium_arguments, find_chromium, running_as_root
from runs.management.serving import LARGEST_HEAD
from tests.browser.looks import COLOURS, faults, overflow
from tests.browser.person import NAME, PASSWORD

ROOT = Path(__file__).resolve().parents[2]
WIDE = ViewportSize(width=1440, height=900)
NARROW = ViewportSize(width=390, height=844)

# A page is slow on a busy machine; what never comes is still told from what comes late.
expect.set_options(timeout=15_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass(slots=True, kw_only=True)
class Site:
    """A running site: its address, the numbers of its rows, and a hand that changes them."""

    address: str
    hand: subprocess.Popen[str]
    rows: dict[str, Any] = field(default_factory=dict)

    def scene(self, name: str, **values: Any) -> dict[str, Any]:
        """Play a scene of tests/browser/scenes.py in the site's database."""
        assert self.hand.stdin is not None
        assert self.hand.stdout is not None
        self.hand.stdin.write(json.dumps({"scene": name, "values": values}) + "\n")
        self.hand.stdin.flush()
        line = self.hand.stdout.readline()
        assert line, f"The scene {name} could not be played."
        answer: dict[str, Any] = json.loads(line)
        return answer


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site on a free port, without a worker, so that only tests move its rows."""
    data = tmp_path_factory.mktemp("site")
    port = _free_port()
    address = f"http://proofroom.localhost:{port}"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PROOFROOM")}
    environment = kept | {"PROOFROOM_DATA_DIR": str(data), "PROOFROOM_PUBLIC_URL": address}
    hand = subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "browser" / "stagehand.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
    )
    assert hand.stdout is not None
    assert json.loads(hand.stdout.readline()) == {"ready": True}
    with (data / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [
                sys.executable, "-m", "uvicorn", "proofroom.asgi:application",
                "--host", "127.0.0.1", "--port", str(port), "--timeout-graceful-shutdown", "1",
                "--h11-max-incomplete-event-size", str(LARGEST_HEAD),
            ],
            stdout=log,
            stderr=log,
            env=environment,
            cwd=ROOT,
        )  # fmt: skip
    try:
        _wait_for(port, server, data / "server.log")
        built = Site(address=address, hand=hand)
        built.rows = built.scene("world")
        yield built
    finally:
        server.terminate()
        assert hand.stdin is not None
        hand.stdin.close()
        server.wait(20)
        hand.wait(10)
        hand.stdout.close()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Chromium as the judge finds it; skipped with its reason where there is none."""
    found = find_chromium(os.environ.get("PROOFROOM_CHROMIUM", ""), environment=os.environ)
    if found.path is None:
        pytest.skip(found.problem)
    return browser_type_launch_args | {
        "executable_path": str(found.path),
        "args": list(chromium_arguments(is_root=running_as_root())),
    }


@pytest.fixture(scope="session")
def signed_in(site: Site, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cookies of a person who signed in through the form."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{site.address}/sign-in/")
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{site.address}/")
    path = tmp_path_factory.mktemp("person") / "cookies.json"
    context.storage_state(path=path)
    context.close()
    return path


@dataclass(slots=True, kw_only=True)
class Visitor:
    """A signed-in person at a window; what the console complains of is remembered."""

    page: Page
    site: Site
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        response = self.page.goto(self.site.address + path)
        assert response is not None
        assert response.status < 400, f"{path} answered {response.status}"
        assert "/sign-in/" not in response.url or "/sign-in/" in path, f"{path} asked for a sign-in"
        return self.page


@pytest.fixture
def visit(site: Site, browser: Browser, signed_in: Path) -> Iterator[Callable[..., Visitor]]:
    """Open windows: `visit()` is wide and light, `visit(dark=True)`, `visit(narrow=True)`."""
    contexts: list[BrowserContext] = []

    def opened(*, dark: bool = False, narrow: bool = False, **options: Any) -> Visitor:
        context = browser.new_context(
            storage_state=str(signed_in),
            viewport=NARROW if narrow else WIDE,
            color_scheme="dark" if dark else "light",
            **options,
        )
        contexts.append(context)
        visitor = Visitor(page=context.new_page(), site=site)
        visitor.page.on("console", lambda said: _complain(visitor, said.type, said.text))
        visitor.page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        return visitor

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def is_fit(visit: Callable[..., Visitor]) -> Callable[[str], None]:
    """Check a page as everybody must be able to use it: light, dark, narrow; axe; no overflow; no complaint."""

    def check(path: str) -> None:
        for narrow in (False, True):
            visitor = visit(narrow=narrow)
            page = visitor.open(path)
            page.wait_for_load_state("networkidle")
            where = f"{path} {'narrow' if narrow else 'wide'}"
            assert overflow(page) <= 0, f"{where} is wider than its window"
            expect(page.locator("h1")).to_have_count(1)
            assert not (found := faults(page)), f"{where}: {found}"
            if not narrow:
                page.emulate_media(color_scheme="dark", reduced_motion="reduce")
                assert not (found := faults(page, COLOURS)), f"{where} dark: {found}"
            assert not visitor.complaints, f"{where}: {visitor.complaints}"

    return check


def _complain(visitor: Visitor, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        visitor.complaints.append(text)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text()[-2000:]
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"The site did not answer within 60 s: {log.read_text()[-2000:]}")
