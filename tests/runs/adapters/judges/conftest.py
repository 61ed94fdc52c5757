"""A small site of our own, and a judge that tries it out in a real Chromium."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchmark.rules.records import CriterionSpec, OutcomeSpec
from runs.adapters.browsers import SETTING, FoundBrowser, find_chromium
from runs.adapters.judges.scripted.judge import ScriptedJudge
from runs.adapters.judges.scripted.settings import ScriptedSettings
from runs.ports import CriterionVerdict, DeploymentReport, JudgeSession, OutcomeVerdict, RunningApp

type Answer = tuple[int, Mapping[str, str], bytes]
type Page = str | Answer | Callable[[str], Answer]

DOCUMENT = "<!doctype html><html lang=en><meta charset=utf-8><title>Test page</title><body>"


@dataclass(slots=True)
class Site:
    """Pages by path on a free port, and the requests that came."""

    pages: dict[str, Page] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def app(self) -> RunningApp:
        return RunningApp(
            address=f"http://127.0.0.1:{self.port}",
            port=self.port,
            report=DeploymentReport(kind=None, healthy=True),
            server_log=lambda: "",
            is_alive=lambda: True,
        )


@pytest.fixture(scope="session")
def chromium() -> FoundBrowser:
    found = find_chromium(os.environ.get(SETTING, ""), environment=os.environ)
    if found.path is None:
        pytest.skip(found.problem)
    return found


@pytest.fixture(scope="module")
def module_site() -> Iterator[Site]:
    with serving(Site()) as site:
        yield site


@pytest.fixture
def site(module_site: Site) -> Site:
    """An empty site on the module's port."""
    module_site.pages.clear()
    module_site.requests.clear()
    return module_site


@pytest.fixture(scope="module")
def module_session(
    chromium: FoundBrowser, module_site: Site, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JudgeSession]:
    """One session for all tests of a module that need no settings of their own."""
    settings = ScriptedSettings(step_timeout=1.0, page_timeout=10.0)
    judge = ScriptedJudge(settings, browser=chromium, scratch=tmp_path_factory.mktemp("scratch"))
    with judge.session(module_site.app, uploads=None, is_cancelled=lambda: False) as session:
        yield session


@pytest.fixture
def judge(chromium: FoundBrowser, tmp_path: Path) -> Callable[..., ScriptedJudge]:
    """Return a maker of judges with settings; quick ones unless told otherwise."""

    def made(**settings: Any) -> ScriptedJudge:
        chosen = {"step_timeout": 1.0, "page_timeout": 10.0, **settings}
        return ScriptedJudge(ScriptedSettings(**chosen), browser=chromium, scratch=tmp_path / "scratch")

    return made


@pytest.fixture
def judged(
    judge: Callable[..., ScriptedJudge], site: Site, module_session: JudgeSession
) -> Callable[..., dict[str, CriterionVerdict]]:
    """Return a function that judges criteria on the site and answers the verdicts by key."""

    def verdicts(*criteria: CriterionSpec, uploads: Path | None = None, **settings: Any) -> Any:
        if uploads is None and not settings:
            found = module_session.judge(criteria, on_start=lambda _key: None)
            return {each.key: each for each in found}
        with judge(**settings).session(site.app, uploads=uploads, is_cancelled=lambda: False) as session:
            return {each.key: each for each in session.judge(criteria, on_start=lambda _key: None)}

    return verdicts


@pytest.fixture
def outcome_of(
    judged: Callable[..., dict[str, CriterionVerdict]], site: Site
) -> Callable[..., OutcomeVerdict]:
    """Return a function that tries one script on one page and answers the verdict."""

    def verdict(page: Page, *script: Mapping[str, Any], **options: Any) -> OutcomeVerdict:
        site.pages["/"] = page
        return judged(criterion("c", script), **options)["c"].outcomes[0]

    return verdict


def criterion(
    key: str, *scripts: Sequence[Mapping[str, Any]] | None, before: Sequence[Mapping[str, Any]] = ()
) -> CriterionSpec:
    return CriterionSpec(
        key=key,
        kind="functionality",
        before=tuple(before),
        outcomes=tuple(
            OutcomeSpec(text="hidden wording", script=None if script is None else tuple(script))
            for script in scripts
        ),
    )


class serving:  # noqa: N801  # reads as the verb it is
    """Serve a site until the context ends."""

    def __init__(self, site: Site, *, host: str = "127.0.0.1") -> None:
        self._site = site

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append(self.path)
                page = site.pages.get(self.path.partition("?")[0])
                if callable(page):
                    page = page(self.path)
                if page is None:
                    page = (404, {}, b"There is nothing here.")
                if isinstance(page, str):
                    page = (200, {"Content-Type": "text/html"}, (DOCUMENT + page).encode())
                status, headers, body = page
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815  # the name that http.server looks for

            def log_message(self, *_arguments: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # A browser that is ended breaks its connections off.

        self._server = Server((host, 0), Handler)
        site.port = self._server.server_port

    def __enter__(self) -> Site:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self._site

    def __exit__(self, *_ending: object) -> None:
        self._server.shutdown()
        self._server.server_close()
