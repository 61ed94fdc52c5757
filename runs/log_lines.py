"""What a log line tells beside its message: run, trial, round, stage and request; never a secret."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from pythonjsonlogger.json import JsonFormatter

HIDDEN = "[hidden]"
SHORTEST_SECRET = 4
"""Shorter values are no secrets worth the name, and hiding them would hide half of every line."""

_SECRETIVE = re.compile(
    r"""(?ix) (?P<before>
        \b(?:authorization|cookie|set-cookie)["']?\s*[:=]\s*["']?(?:bearer\s+|basic\s+)?
      | \b[a-z_-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)["']?\s*[:=]\s*["']?
    ) (?P<secret>[^\s"'@,;&]+)"""
)
_IN_ADDRESS = re.compile(r"""(?P<before>://[^/\s:@"']*:)[^/\s@"']+(?=@)""")
_words: ContextVar[Mapping[str, object]] = ContextVar("words", default=MappingProxyType({}))


@contextmanager
def log_words(**words: object) -> Iterator[None]:
    """Let every line that is logged inside carry these words too."""
    token = _words.set({**_words.get(), **words})
    try:
        yield
    finally:
        _words.reset(token)


class LineFormatter(logging.Formatter):
    """One line for people, with its words in brackets behind the message."""

    def __init__(self, fmt: str | None = None, *, secrets: Sequence[str] = ()) -> None:
        super().__init__(fmt)
        self._hide = _Hiding(secrets)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging names it so
        words = " ".join(f"{name} {value}" for name, value in _words.get().items())
        return super().formatMessage(record) + (f" [{words}]" if words else "")

    def format(self, record: logging.LogRecord) -> str:
        return self._hide(super().format(record))


class JsonLines(JsonFormatter):
    """One JSON object a line, with its words as members."""

    def __init__(self, *, secrets: Sequence[str] = ()) -> None:
        super().__init__(
            "%(levelname)s %(name)s %(message)s",
            rename_fields={"levelname": "level", "name": "logger"},
            timestamp="at",
            json_ensure_ascii=False,
        )
        self._hide = _Hiding(secrets)

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        super().add_fields(log_data, record, message_dict)
        log_data.update(_words.get())

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        kept = super().process_log_record(log_data)
        return {name: self._hidden(value) for name, value in kept.items()}

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, (int, float, bool)) or value is None:
            return value
        return self._hide(value if isinstance(value, str) else str(value))


class _Hiding:
    """Replaces known secrets wherever they stand, and whatever stands where secrets do."""

    def __init__(self, secrets: Sequence[str]) -> None:
        known = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
        known |= {json.dumps(secret)[1:-1] for secret in known}
        # The longest first: one secret may begin like another.
        self._known = sorted(known, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, HIDDEN)
        for pattern in (_IN_ADDRESS, _SECRETIVE):
            text = pattern.sub(rf"\g<before>{HIDDEN}", text)
        return text
