"""The log of the site for its administrators: filtered, paged by key, and as a table for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Iterator
from datetime import date
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from people import audit
from people.audit import ACTS, Wanted
from people.hiding import RunHidden, hidden_runs, require_shown
from people.models import AuditEntry
from people.plain_cells import begins_formula
from people.roles import admins_only

ENTRIES_A_PAGE = 100
LONGEST_DETAIL = 300
FIRST_YEAR, LAST_YEAR = 1970, 9998
HIGHEST_KEY = 2**63 - 1
COLUMNS = ("entry", "at", "who", "account", "act", "subject", "details")


@never_cache
@admins_only
@require_safe
def log(request: HttpRequest) -> HttpResponse:
    """List entries, newest first; `before=N` goes on below entry N. Who reads it is written down as well."""
    _refuse_who_is_blind(request)
    wanted, problems = _wanted(request)
    audit.note_once(request.user, "log_read", "log")
    before = _key(request.GET.get("before", ""))
    found = audit.entries(wanted)
    if before:
        found = found.filter(pk__lt=before)
    rows = list(found[: ENTRIES_A_PAGE + 1])
    shown = rows[:ENTRIES_A_PAGE]
    query = _query(wanted)
    context = {
        "area": "log",
        "wanted": wanted,
        "problems": problems,
        "acts": [{"act": act, "words": words, "is_chosen": act == wanted.act} for act, words in ACTS.items()],
        "rows": [_row(entry) for entry in shown],
        "query": query,
        "older": f"?{query}&before={shown[-1].pk}".replace("?&", "?") if len(rows) > len(shown) else "",
        "is_later": bool(before),
        "is_filtered": bool(query),
    }
    return render(request, "people/log.html", context)


@admins_only
@require_safe
def export(request: HttpRequest) -> HttpResponseBase:
    """The same entries as a CSV file, all of them, oldest last; that it was taken is written down first."""
    _refuse_who_is_blind(request)
    wanted, _ = _wanted(request)
    audit.note(request.user, "export", "log", kind="csv")
    lines = _lines(wanted)
    # An asynchronous server would collect all of a plain iterator before it sends a byte.
    sent = _awaited(lines) if isinstance(request, ASGIRequest) else lines
    answer = StreamingHttpResponse(sent, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="log-{timezone.now():%Y-%m-%d}.csv"'
    return answer


def _refuse_who_is_blind(request: HttpRequest) -> None:
    """Keep the log from an administrator who marks blind: it tells who gave which mark, of everything."""
    hidden = hidden_runs(request.user)
    if not hidden:
        return
    try:
        require_shown(request.user, min(hidden))
    except RunHidden as refusal:
        raise RunHidden(
            f"The log tells of what is hidden from you. {refusal}",
            way_on=refusal.way_on,
            way_on_words=refusal.way_on_words,
        ) from None


def _lines(wanted: Wanted) -> Iterator[bytes]:
    yield _csv(COLUMNS)
    # By key as well: a table of millions is never held open by one cursor.
    before = HIGHEST_KEY
    while chunk := list(audit.entries(wanted).filter(pk__lt=before)[:1000]):
        yield b"".join(_csv(_cells(entry)) for entry in chunk)
        before = chunk[-1].pk


async def _awaited(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    following = sync_to_async(lambda: next(lines, None))
    while (line := await following()) is not None:
        yield line


def _cells(entry: AuditEntry) -> tuple[Any, ...]:
    return (
        entry.pk,
        entry.at.isoformat(),
        plain_cell(entry.username),
        entry.user_id or "",
        plain_cell(entry.act),
        plain_cell(entry.subject),
        plain_cell(json.dumps(entry.details, ensure_ascii=False, sort_keys=True)),
    )


def plain_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if begins_formula(text.lstrip(" ")) else text


def _csv(cells: tuple[Any, ...]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue().encode()


def _row(entry: AuditEntry) -> dict[str, Any]:
    return {
        "entry": entry,
        "words": ACTS.get(entry.act, entry.act.replace("_", " ")),
        "details": [
            {"name": name.replace("_", " "), "value": _said(value)}
            for name, value in entry.details.items()
            if value not in ("", None)
        ],
    }


def _said(value: object) -> str:
    if isinstance(value, list):
        value = ", ".join(str(each) for each in value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_DETAIL else f"{text[:LONGEST_DETAIL]}…"


def _wanted(request: HttpRequest) -> tuple[Wanted, list[str]]:
    asked = {
        name: request.GET.get(name, "").strip().replace("\0", "")
        for name in ("person", "act", "subject", "since", "until")
    }
    days: dict[str, date | None] = {}
    problems = []
    for name in ("since", "until"):
        try:
            days[name] = _day(asked[name]) if asked[name] else None
        except ValueError:
            days[name] = None
            problems.append(f"{asked[name][:20]!r} is no day; write it as 2026-01-31. It was left out.")
    wanted = Wanted(
        person=asked["person"],
        act=asked["act"],
        subject=asked["subject"],
        since=days["since"],
        until=days["until"],
    )
    return wanted, problems


def _day(text: str) -> date:
    """Return a day; raises ValueError for none, and for one whose midnights the calendar may not have."""
    day = date.fromisoformat(text)
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(text)
    return day


def _query(wanted: Wanted) -> str:
    named = {
        "person": wanted.person,
        "act": wanted.act,
        "subject": wanted.subject,
        "since": wanted.since.isoformat() if wanted.since else "",
        "until": wanted.until.isoformat() if wanted.until else "",
    }
    return urlencode({name: value for name, value in named.items() if value})


def _key(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 19 else 0
