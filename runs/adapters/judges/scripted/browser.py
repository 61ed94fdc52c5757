"""The one browser of a session: launched behind the fence, looked after, and launched anew when it died."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Page, Playwright
from playwright.async_api import Error as PlaywrightError

from runs.adapters.judges.scripted.alive import given_by
from runs.adapters.judges.scripted.fence import Fence
from runs.adapters.judges.scripted.pulse import Pulse
from runs.adapters.judges.scripted.settings import ScriptedSettings
from runs.adapters.judges.scripted.troubles import BenchTrouble, NoBrowser

LAUNCH_SECONDS = 60.0
HEALTH_SECONDS = 10.0
WINDOW = (1280, 800)


class CandidateBrowser:
    """Gives fresh contexts of one launched Chromium that reaches one candidate only."""

    def __init__(
        self,
        playwright: Playwright,
        *,
        executable: Path,
        arguments: tuple[str, ...],
        fence: Fence,
        settings: ScriptedSettings,
        downloads: Path,
    ) -> None:
        self._playwright = playwright
        self._executable = executable
        self._arguments = (*arguments, *fence.arguments)
        self._has_sandbox = "--no-sandbox" not in arguments
        self._fence = fence
        self._settings = settings
        self._downloads = downloads
        self._browser: Browser | None = None
        self._lock = asyncio.Lock()
        self.pulse = Pulse()

    @property
    def version(self) -> str:
        """The version of the running browser."""
        return self._browser.version if self._browser is not None else ""

    async def start(self) -> None:
        """Launch the browser if it is not running; raises NoBrowser when it does not start."""
        async with self._lock:
            await self._started()

    async def context(self) -> BrowserContext:
        """Return a fresh context: no storage, no cookies, English, UTC, behind the fence."""
        async with self._lock:
            browser = await self._started()
        try:
            context = await given_by(browser, self._new_context(browser), seconds=LAUNCH_SECONDS)
        except TimeoutError:
            raise BenchTrouble("browser_hung", "The browser gave no fresh context in time.") from None
        except PlaywrightError as error:
            raise BenchTrouble(
                "browser_crashed", f"The browser gave no fresh context: {error.message}"
            ) from None
        context.set_default_timeout(self._settings.step_timeout * 1000)
        context.set_default_navigation_timeout(self._settings.page_timeout * 1000)
        return context

    async def is_healthy(self) -> bool:
        """Tell whether the browser can still show an empty page."""
        browser = self._browser
        if browser is None or not browser.is_connected():
            return False
        try:
            return bool(await self.pulse.wait_for(_tried(browser), HEALTH_SECONDS))
        except (PlaywrightError, TimeoutError):
            return False

    async def replace_if_broken(self) -> None:
        """End a browser that no longer works; the next context launches a new one."""
        async with self._lock:
            if self._browser is not None and not await self.is_healthy():
                await self._ended()

    async def close(self) -> None:
        """End the browser."""
        async with self._lock:
            await self._ended()

    async def _started(self) -> Browser:
        if self._browser is not None and self._browser.is_connected():
            return self._browser
        self._browser = None
        try:
            self._browser = await self._launched(sandbox=self._has_sandbox)
        except PlaywrightError as error:
            if not (self._has_sandbox and "sandbox" in error.message):
                raise _no_browser(error) from None
            # Some distributions forbid the user namespaces that Chromium's sandbox is made of.
            self._has_sandbox = False
            try:
                self._browser = await self._launched(sandbox=False)
            except PlaywrightError as second:
                raise _no_browser(second) from None
        await self._follow_pulse(self._browser)
        return self._browser

    async def _follow_pulse(self, browser: Browser) -> None:
        try:
            self.pulse.follow(await given_by(browser, _control_page(browser), seconds=LAUNCH_SECONDS))
        except PlaywrightError as error:
            raise _no_browser(error) from None
        except TimeoutError:
            if browser.is_connected():
                raise NoBrowser("Chromium started, but gave no page in time.") from None
            # It died at once; the next context launches another one.
            raise BenchTrouble("browser_crashed", "The browser ended as soon as it had started.") from None

    async def _launched(self, *, sandbox: bool) -> Browser:
        return await self._playwright.chromium.launch(
            executable_path=self._executable,
            args=[argument for argument in self._arguments if argument != "--no-sandbox"],
            chromium_sandbox=sandbox,
            downloads_path=self._downloads,
            timeout=LAUNCH_SECONDS * 1000,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )

    async def _ended(self) -> None:
        self.pulse.stop()
        browser, self._browser = self._browser, None
        if browser is not None:
            with suppress(PlaywrightError, TimeoutError):
                await asyncio.wait_for(browser.close(), HEALTH_SECONDS)

    async def _new_context(self, browser: Browser) -> BrowserContext:
        context = await browser.new_context(
            viewport={"width": WINDOW[0], "height": WINDOW[1]},
            locale="en-US",
            timezone_id="UTC",
            service_workers="block",
            accept_downloads=True,
        )
        await context.route(self._fence.foreign, lambda route: route.abort("blockedbyclient"))
        return context


async def _control_page(browser: Browser) -> Page:
    context = await browser.new_context()
    return await context.new_page()


async def _tried(browser: Browser) -> int:
    context = await browser.new_context()
    try:
        page = await context.new_page()
        return int(await page.evaluate("1 + 1"))
    finally:
        await context.close()


def _no_browser(error: PlaywrightError) -> NoBrowser:
    lines = [line.strip() for line in error.message.splitlines() if line.strip()] or ["no reason given"]
    telling = next((line for line in lines if "rror" in line and "browserType.launch" not in line), lines[0])
    return NoBrowser(f"Chromium does not start: {telling[:300]}")
