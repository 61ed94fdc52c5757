"""Perform the steps that move: open, reload, go back, resize, wait, turn to another page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from playwright.async_api import Error as PlaywrightError

from runs.adapters.judges.scripted.locating import located
from runs.adapters.judges.scripted.nouns import capital, described, seconds
from runs.adapters.judges.scripted.troubles import StepFailed
from runs.adapters.judges.scripted.visit import Visit

type Step = Mapping[str, Any]

_POLL = 0.05


async def open_path(visit: Visit, path: str) -> None:
    """Open a path of the candidate and wait until it has loaded, or until it is clear that it will not."""
    try:
        await _within(visit, visit.page.goto(visit.fence.origin + path, wait_until="commit", timeout=0))
    except TimeoutError:
        limit = seconds(visit.settings.page_timeout)
        raise StepFailed(f"{path} did not load within {limit}.") from None
    except PlaywrightError as error:
        _raise_for_navigation(path, error)
    await _until_loaded(visit)


async def _until_loaded(visit: Visit) -> None:
    """Wait for the load event; a page that is usable without ever firing it is left alone."""
    try:
        await _within(visit, visit.page.wait_for_load_state("load", timeout=0))
    except TimeoutError:
        if not await visit.responds():
            raise StepFailed(
                f"The page did not load within {seconds(visit.settings.page_timeout)}."
            ) from None


async def _within(visit: Visit, work: Coroutine[Any, Any, Any]) -> None:
    """Await a navigation; raises TimeoutError when it takes longer than a page may."""
    await visit.pulse.wait_for(work, visit.settings.page_timeout)


def _raise_for_navigation(path: str, error: PlaywrightError) -> None:
    message = error.message
    for sign, sentence in _NAVIGATION_FAILURES.items():
        if sign in message:
            raise StepFailed(sentence.format(path=path)) from None
    raise error


_NAVIGATION_FAILURES = {
    "ERR_CONNECTION_REFUSED": "The application no longer answers: nothing listens at its address.",
    "ERR_TOO_MANY_REDIRECTS": "{path} redirects without end.",
    "ERR_EMPTY_RESPONSE": "The application gave an empty answer for {path}.",
    "ERR_CONNECTION_RESET": "The application broke off its answer for {path}.",
    "ERR_INVALID_HTTP_RESPONSE": "The application's answer for {path} is not HTTP.",
    "ERR_NAME_NOT_RESOLVED": "{path} leads away from the application.",
    "ERR_BLOCKED_BY_CLIENT": "{path} leads away from the application.",
    "ERR_ABORTED": "{path} did not open: the page held on to what it showed, or it was a download.",
    "interrupted by another navigation": "{path} did not stay open: the page went elsewhere at once.",
    "ERR_": "{path} could not be opened.",
}


async def _goto(visit: Visit, step: Step, _limit: float) -> None:
    await open_path(visit, step["goto"])


async def _reload(visit: Visit, _step: Step, _limit: float) -> None:
    try:
        await _within(visit, visit.page.reload(wait_until="commit", timeout=0))
    except TimeoutError:
        raise StepFailed("The page could not be reloaded.") from None
    except PlaywrightError as error:
        _raise_for_navigation("The page", error)
    await _until_loaded(visit)


async def _history(visit: Visit, step: Step, _limit: float) -> None:
    move = visit.page.go_back if "back" in step else visit.page.go_forward
    try:
        await _within(visit, move(wait_until="commit", timeout=0))
    except TimeoutError:
        raise StepFailed("The page did not go back or forward in its history.") from None
    await _until_loaded(visit)


async def _resize(visit: Visit, step: Step, _limit: float) -> None:
    width, height = step["resize"]
    await visit.page.set_viewport_size({"width": width, "height": height})


async def _wait(_visit: Visit, step: Step, _limit: float) -> None:
    await asyncio.sleep(step["wait"] / 1000)


async def _wait_for(visit: Visit, step: Step, limit: float) -> None:
    state = step.get("state", "visible")
    target = step["wait_for"]
    deadline = visit.pulse.deadline(limit)
    while True:
        found = await located(visit.page, target)
        visible = await found.filter(visible=True).count() > 0
        holds = {
            "visible": visible,
            "hidden": not visible,
            "attached": visible or await found.count() > 0,
            "detached": not visible and await found.count() == 0,
        }[state]
        if holds:
            return
        if deadline.is_over():
            words = {"visible": "did not show", "hidden": "did not go away"}
            said = words.get(state, f"was not {state}")
            raise StepFailed(f"{capital(described(target))} {said} within {seconds(limit)}.")
        await asyncio.sleep(_POLL)


async def _use_page(visit: Visit, step: Step, limit: float) -> str:
    deadline = visit.pulse.deadline(limit)
    if step["use_page"] == "first":
        visit.turn_to(visit.pages[0])
        return visit.page.url
    while visit.open_pages()[-1:] in ([], [visit.page]):
        if deadline.is_over():
            raise StepFailed(f"No new page opened within {seconds(limit)}.")
        await asyncio.sleep(_POLL)
    visit.turn_to(visit.open_pages()[-1])
    await _until_loaded(visit)
    return visit.page.url


NAVIGATIONS: Mapping[str, Callable[[Visit, Step, float], Awaitable[Any]]] = {
    "goto": _goto,
    "reload": _reload,
    "back": _history,
    "forward": _history,
    "resize": _resize,
    "wait": _wait,
    "wait_for": _wait_for,
    "use_page": _use_page,
}
