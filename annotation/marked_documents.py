"""Read the document of one result file, ours or bare lists of what passed and failed, with every problem's line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from annotation.marked_files import FileMark, MarkedFile, NamedEvidence
from benchmark.packs.located import Located, Place
from benchmark.packs.problems import Problems, Repair
from benchmark.rules.marks import criterion_mark
from benchmark.rules.vocabulary import Mark
from runs.exporting import SCHEMA, SourceKind

BARE = "bare-lists/1"
_KEYS = ("key", "id", "criterion", "task")
_TEXTS = ("outcomes", "criteria", "expected")


def read_document(located: Located, problems: Problems) -> MarkedFile | None:
    """Return what a document says; None after problems were added that leave nothing to read."""
    return _Reader(located, problems).file()


class _Reader:
    """Reads one document; each problem is noted with its line, and the reading goes on."""

    def __init__(self, located: Located, problems: Problems) -> None:
        self._located = located
        self._problems = problems
        self._repairs: list[Repair] = []

    def file(self) -> MarkedFile | None:
        value = self._located.value
        if not isinstance(value, dict):
            self._wrong(
                (), "the file is not an object with criteria, or with lists of what passed and failed."
            )
            return None
        if value.get("schema") not in (None, SCHEMA):
            self._wrong(("schema",), f"the schema {value['schema']!r:.60} is not known; this reads {SCHEMA}.")
            return None
        lists = [mark for mark in Mark if mark.value in value]
        if not isinstance(value.get("criteria"), list) and not lists:
            self._wrong((), 'the file has neither "criteria" nor a list "pass" or "fail".')
            return None
        is_ours = isinstance(value.get("criteria"), list)
        marks = [*self._criteria(value["criteria"])] if is_ours else []
        marks += self._lists(value, lists, known={mark.criterion for mark in marks} if is_ours else set())
        return self._with_head(value, marks, parser=SCHEMA if is_ours else BARE)

    def _with_head(self, value: dict[str, Any], marks: list[FileMark], *, parser: str) -> MarkedFile:
        source = value.get("source") if isinstance(value.get("source"), dict) else {}
        benchmark = value.get("benchmark") if isinstance(value.get("benchmark"), dict) else {}
        assert isinstance(source, dict)
        assert isinstance(benchmark, dict)
        kind = source.get("kind")
        if kind is not None and kind not in [each.value for each in SourceKind]:
            self._wrong(("source", "kind"), f"the source is {kind!r:.40}, neither a judge nor a person.")
            kind = None
        ratings = value.get("ratings")
        return MarkedFile(
            located=self._located,
            folders=tuple(PurePosixPath(self._located.file).parts[-2::-1]),
            parser=parser,
            task=self._text(value, "task"),
            trial=self._text(value, "trial"),
            round=self._round(value),
            snapshot=self._text(value, "snapshot") or "",
            benchmark_hash=self._text(benchmark, "hash", above=("benchmark",)) or "",
            source_kind=None if kind is None else SourceKind(kind),
            source_name=self._text(source, "name", above=("source",)) or "",
            marked_at=self._moment(value),
            ratings=len(ratings) if isinstance(ratings, list) else 0,
            marks=tuple(marks),
            repairs=tuple(self._repairs),
        )

    def _criteria(self, criteria: list[Any]) -> Iterator[FileMark]:
        for number, given in enumerate(criteria):
            place: Place = ("criteria", number)
            if not isinstance(given, dict) or (key := _key(given)) is None:
                self._wrong(place, f"criterion number {number + 1} has no key.")
                continue
            outcomes = given.get("outcomes")
            stated = self._mark(given, place)
            if not isinstance(outcomes, list) or not outcomes:
                yield FileMark(place=place, criterion=key, mark=stated, raw=_raw(given))
                continue
            said = [
                mark
                for index, outcome in enumerate(outcomes)
                if (mark := self._outcome(key, outcome, (*place, "outcomes", index))) is not None
            ]
            self._compare(key, stated, said, place)
            yield from said

    def _compare(self, key: str, stated: Mark | None, said: list[FileMark], place: Place) -> None:
        """Note where a criterion's mark is not what the marks of its outcomes come to."""
        marks = [each.mark for each in said if each.mark is not None]
        if stated is None or not marks:
            return
        try:
            folded = criterion_mark(marks)
        except ValueError:
            self._wrong(place, f"criterion {key!r:.70} is skipped in part; it is skipped as a whole or not.")
            return
        if folded is not stated:
            text = f"criterion {key} says {stated}, and its outcomes come to {folded}; the outcomes count."
            line = self._located.line_of(place)
            self._repairs.append(Repair(name="summary", file=self._located.file, line=line, text=text))

    def _outcome(self, key: str, given: Any, place: Place) -> FileMark | None:
        if not isinstance(given, dict):
            self._wrong(place, f"an outcome of criterion {key!r:.70} is not an object.")
            return None
        index, text = given.get("index"), given.get("text")
        if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
            self._wrong((*place, "index"), f"the index {index!r:.40} is not a whole number.")
            return None
        if text is not None and not isinstance(text, str):
            self._wrong((*place, "text"), f"the text of an outcome of {key!r:.70} is not a text.")
            return None
        if index is None and text is None:
            self._wrong(place, f"an outcome of criterion {key!r:.70} has neither a text nor an index.")
            return None
        note = given.get("note")
        problem = given.get("environment_problem")
        return FileMark(
            place=place,
            criterion=key,
            index=index,
            text=text,
            mark=self._mark(given, place),
            rationale=self._text(given, "rationale", above=place) or "",
            note=note if isinstance(note, str) else None,
            problem=problem if isinstance(problem, str) and problem else None,
            evidence=_evidence(given.get("evidence")),
            raw=_raw(given),
        )

    def _lists(self, value: dict[str, Any], lists: list[Mark], *, known: set[str]) -> Iterator[FileMark]:
        """Yield what the lists say of criteria that are not described in the file; check the others."""
        stated = self._stated(value) if known else {}
        for mark in lists:
            entries = value[mark.value]
            if not isinstance(entries, list):
                self._wrong((mark.value,), f"{mark.value} is not a list.")
                continue
            for number, entry in enumerate(entries):
                place: Place = (mark.value, number)
                key = _key(entry) if isinstance(entry, dict) else _as_key(entry)
                if key is None:
                    self._wrong(place, f"entry {number + 1} of {mark.value} names no criterion.")
                elif key not in known:
                    yield from self._entry(key, entry, mark, place)
                elif stated.get(key, mark) is not mark:
                    self._wrong(
                        place,
                        f"the list says {mark.value} of criterion {key!r:.70}, and below it is "
                        f"{stated[key].value}; the file contradicts itself.",
                    )

    def _entry(self, key: str, entry: Any, mark: Mark, place: Place) -> Iterator[FileMark]:
        field = next((name for name in _TEXTS if isinstance(entry, dict) and name in entry), None)
        if field is None or entry[field] == []:
            text = entry.get("text") if isinstance(entry, dict) else None
            yield FileMark(
                place=place,
                criterion=key,
                text=text if isinstance(text, str) else None,
                mark=mark,
                raw=_raw(entry),
            )
            return
        if not isinstance(entry[field], list):
            self._wrong((*place, field), f"{field} of criterion {key!r:.70} is not a list of texts.")
            return
        for index, text in enumerate(entry[field]):
            inner: Place = (*place, field, index)
            outcome = {"text": text} if isinstance(text, str) else text
            if isinstance(outcome, dict) and "mark" not in outcome:
                # What is listed under a criterion that failed is what failed of it.
                outcome = {**outcome, "mark": mark.value}
            found = self._outcome(key, outcome, inner)
            if found is not None:
                yield found

    def _stated(self, value: dict[str, Any]) -> dict[str, Mark]:
        words = {mark.value: mark for mark in Mark}
        return {
            key: words[given["mark"]]
            for given in value["criteria"]
            if isinstance(given, dict)
            and (key := _key(given)) is not None
            and isinstance(given.get("mark"), str)
            and given["mark"] in words
        }

    def _mark(self, given: dict[str, Any], place: Place) -> Mark | None:
        word = given.get("mark")
        if word is None:
            return None
        known = [mark.value for mark in Mark]
        if word not in known:
            self._wrong((*place, "mark"), f"{word!r:.40} is no mark; known are {', '.join(known)}.")
            return None
        return Mark(word)

    def _text(self, given: dict[str, Any], name: str, *, above: Place = ()) -> str | None:
        value = given.get(name)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            self._wrong((*above, name), f"{name} is not a text.")
            return None
        return value

    def _round(self, value: dict[str, Any]) -> int | None:
        number = value.get("round")
        if number is None:
            return None
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            self._wrong(("round",), f"the round {number!r:.40} is not a whole number from 1.")
            return None
        return number

    def _moment(self, value: dict[str, Any]) -> datetime | None:
        text = value.get("marked_at")
        if text is None:
            return None
        try:
            at = datetime.fromisoformat(text)
        except (ValueError, TypeError):
            self._wrong(
                ("marked_at",), f"marked_at {text!r:.40} is no time such as 2026-03-01T12:00:00+00:00."
            )
            return None
        # Without an offset nobody knows what hour it was; UTC is what our own files hold.
        return at if at.tzinfo else at.replace(tzinfo=UTC)

    def _wrong(self, place: Place, text: str) -> None:
        self._located.problem(self._problems, place, text)


def _key(given: dict[str, Any]) -> str | None:
    return next((key for name in _KEYS if (key := _as_key(given.get(name))) is not None), None)


def _as_key(value: Any) -> str | None:
    """A key is a text; tools also write numbers, and sometimes both for one criterion."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return str(value).strip() or None


def _evidence(given: Any) -> tuple[NamedEvidence, ...]:
    if not isinstance(given, list):
        return ()
    return tuple(
        NamedEvidence(name=str(piece.get("name", ""))[:120], digest=piece["sha256"])
        for piece in given
        if isinstance(piece, dict) and isinstance(piece.get("sha256"), str)
    )


def _raw(given: Any) -> str:
    return json.dumps(given, ensure_ascii=False, sort_keys=True)
