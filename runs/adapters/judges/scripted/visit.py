"""One visit to the candidate: the pages that one outcome opens and everything they do by themselves."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Dialog, Download, Locator, Page
from playwright.async_api import Error as PlaywrightError

from runs.adapters.judges.scripted.alive import given_by
from runs.adapters.judges.scripted.fence import Fence
from runs.adapters.judges.scripted.logs import PageLogs
from runs.adapters.judges.scripted.patterns import PatternMatcher
from runs.adapters.judges.scripted.pulse import Pulse
from runs.adapters.judges.scripted.readings import cleaned
from runs.adapters.judges.scripted.settings import ScriptedSettings
from runs.adapters.judges.scripted.troubles import BenchTrouble

HANG_SECONDS = 5.0
"""A page that runs nothing of ours for so long does not respond."""

OPEN_SECONDS = 60.0
"""A browser on the busiest machine gives an empty page in so long."""

REST_SECONDS = 2.0
"""A page gets so long to come to rest before it is believed that something stays as it is."""

_NEXT_DRAWING = """() => new Promise((done) => {
  setTimeout(done, 300);
  requestAnimationFrame(() => setTimeout(done, 50));
})"""
"""Ends once the page has drawn and run what was due then; without drawing (a hidden page) a little later."""

MOST_DIALOGS = 50
MOST_PAGES = 6
MOST_DOWNLOADS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogSeen:
    """A dialog that the page opened, and what was answered."""

    kind: str
    message: str
    accepted: bool


class Visit:
    """The state of one outcome at work; close it when the outcome is decided."""

    def __init__(
        self,
        context: BrowserContext,
        *,
        fence: Fence,
        settings: ScriptedSettings,
        matcher: PatternMatcher,
        uploads: Path | None,
        pulse: Pulse,
    ) -> None:
        self.context = context
        self.fence = fence
        self.settings = settings
        self.matcher = matcher
        self.uploads = uploads
        self.pulse = pulse
        self.logs = PageLogs(context, fence, on_flood=self._on_flood)
        self.pages: list[Page] = []
        self.remembered: dict[str, Any] = {}
        self.dialogs: list[DialogSeen] = []
        self.dialogs_read = 0
        self.downloads: list[Download] = []
        self.has_crashed = False
        self.flood = ""
        self.accepts_dialogs = True
        self.dialog_text: str | None = None
        self.touched: Locator | None = None
        self.is_unsettled = True
        self._page: Page | None = None
        self._context_hooks: dict[str, Any] = {"page": self._on_page, "dialog": self._on_dialog}
        for event, hook in self._context_hooks.items():
            context.on(event, hook)  # type: ignore[call-overload]  # a table cannot keep the overloads

    @property
    def page(self) -> Page:
        """The page that steps go to."""
        assert self._page is not None
        return self._page

    async def open(self) -> None:
        """Open the outcome's own page; raises BenchTrouble when the browser gives none in time."""
        browser = self.context.browser
        assert browser is not None
        try:
            self._page = await given_by(browser, self.context.new_page(), seconds=OPEN_SECONDS)
        except TimeoutError:
            reason = "browser_hung" if browser.is_connected() else "browser_crashed"
            raise BenchTrouble(reason, "The browser gave no fresh page.") from None

    async def close(self) -> None:
        """Close every page of this visit, also those that the candidate opened."""
        self.logs.close()
        for event, hook in self._context_hooks.items():
            self.context.remove_listener(event, hook)
        for page in self.context.pages:
            with suppress(PlaywrightError, TimeoutError):
                await asyncio.wait_for(page.close(), HANG_SECONDS)

    def turn_to(self, page: Page) -> None:
        """Let the following steps go to another page."""
        self._page = page

    def open_pages(self) -> list[Page]:
        """Return the pages that are open, oldest first."""
        return [page for page in self.pages if not page.is_closed()]

    @property
    def has_left(self) -> bool:
        """Whether the page shows something else than the candidate."""
        url = self.page.url
        return url.startswith("chrome-error:") or not self.fence.is_own(url)

    @property
    def opens_dialogs_without_end(self) -> bool:
        """Whether so many dialogs opened that none is answered any more."""
        return len(self.dialogs) >= MOST_DIALOGS

    async def responds(self) -> bool:
        """Tell whether the page still runs anything."""
        try:
            await self.pulse.wait_for(self.page.evaluate("1"), HANG_SECONDS)
        except TimeoutError:
            return False
        except PlaywrightError:
            # It is closed, crashed or on its way elsewhere: not hanging, whatever else it may be.
            return True
        return True

    async def come_to_rest(self) -> None:
        """Wait until the page had the time to react: it drew, and nothing it asked for is unanswered.

        A page that never rests (a long poll) is waited for as long as `REST_SECONDS`. At once where nothing
        was done since the page came to rest last.
        """
        if not self.is_unsettled:
            return
        self.is_unsettled = False
        deadline = self.pulse.deadline(REST_SECONDS)
        quiet = 0
        while quiet < 2 and not deadline.is_over() and not self.page.is_closed():
            asked = self.logs.network.total
            try:
                await self.pulse.wait_for(self.page.evaluate(_NEXT_DRAWING), REST_SECONDS)
            except (PlaywrightError, TimeoutError):
                # On its way elsewhere, or hanging: asked again a little later, never in a busy loop.
                await asyncio.sleep(0.05)
            is_quiet = self.logs.network.total == asked and not self.logs.awaits_answers
            quiet = quiet + 1 if is_quiet else 0

    def _on_page(self, page: Page) -> None:
        self.pages.append(page)
        page.on("crash", self._on_crash)
        page.on("download", self._on_download)
        self.logs.listen_to(page)
        if len(self.open_pages()) > MOST_PAGES:
            self._soon(page.close())

    def _on_flood(self, doing: str) -> None:
        self.flood = doing
        for page in self.open_pages():
            self._soon(page.close())

    def _on_crash(self, _page: Page) -> None:
        self.has_crashed = True

    def _on_download(self, download: Download) -> None:
        if len(self.downloads) < MOST_DOWNLOADS:
            self.downloads.append(download)
        else:
            self._soon(download.cancel())

    def _on_dialog(self, dialog: Dialog) -> None:
        # Left open, a dialog stops its page: that is all one can do against a page that opens them
        # in an endless loop.
        if self.opens_dialogs_without_end:
            return
        accepted = self.accepts_dialogs
        self.dialogs.append(
            DialogSeen(kind=dialog.type, message=cleaned(dialog.message[:2000]), accepted=accepted)
        )
        if not accepted:
            self._soon(dialog.dismiss())
        elif dialog.type == "prompt":
            text = self.dialog_text if self.dialog_text is not None else dialog.default_value
            self._soon(dialog.accept(text))
        else:
            self._soon(dialog.accept())

    def _soon(self, work: Any) -> None:
        async def done() -> None:
            with suppress(PlaywrightError):
                await work

        task = asyncio.ensure_future(done())
        _BACKGROUND.add(task)
        task.add_done_callback(_BACKGROUND.discard)


_BACKGROUND: set[asyncio.Future[None]] = set()
"""Keeps a reference to running work, because the event loop itself does not."""
