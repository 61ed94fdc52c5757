"""Score a marks file: from a document of plain values to every metric of its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.protocols import protocol as protocol_named
from benchmark.rules.marksfile import BadMarks
from benchmark.rules.records import Scores


def score_document(document: object, *, protocol: str, overrides: Mapping[str, Any] | None = None) -> Scores:
    """Return the scores of a marks file; `overrides` replace single values of its `settings`.

    Raises LookupError for an unknown protocol, and BadMarks (a ValueError) with one sentence for
    anything in the file or in the overrides that cannot be scored.
    """
    chosen = protocol_named(protocol)
    if not isinstance(document, Mapping):
        raise BadMarks(
            "The marks file holds no JSON object; it starts with a brace and has `tasks` and `rounds`."
        )
    if document.get("protocol") != protocol:
        raise BadMarks(
            f"The marks file is of the protocol {document.get('protocol')!r}, not {protocol!r}; "
            "name the file's protocol."
        )
    settings = document.get("settings", {})
    if not isinstance(settings, Mapping):
        raise BadMarks(f"`settings` is {settings!r}; it must be an object.")
    settings = {**settings, **(overrides or {})}
    return chosen.score(chosen.read_marks({**document, "settings": settings}), settings)
