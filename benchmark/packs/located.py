"""Read JSON and TOML so that each value knows its line."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmark.packs.problems import Problems
from benchmark.packs.texts import decoded, unstorable

type Place = tuple[str | int, ...]

_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_SUSPECT = re.compile(r"\\u(0000|[dD][89a-fA-F])")
_TOML_AT = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_TOML_HEADER = re.compile(r"\[+\s*(.+?)\s*\]+\s*(?:#.*)?")
_TOML_KEY = re.compile(r"""((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A document with the line of every place in it."""

    file: str
    value: Any
    find_line: Callable[[Place], int | None]

    def line_of(self, place: Place) -> int | None:
        """Return the line of a place, or of the nearest thing that holds it."""
        for length in range(len(place), -1, -1):
            if line := self.find_line(place[:length]):
                return line
        return None

    def problem(self, problems: Problems, place: Place, text: str) -> None:
        problems.add(self.file, text, line=self.line_of(place))


def read_json(content: bytes, file: str, problems: Problems) -> Located | None:
    """Return a JSON document, or None after every problem of its syntax was added."""
    text = decoded(content, file, problems)
    return None if text is None else parse_json(text, file, problems)


def parse_json(text: str, file: str, problems: Problems, *, first_line: int = 1) -> Located | None:
    """Return a JSON document from its text; `first_line` is where the text begins in its file."""
    is_suspect = bool(_SUSPECT.search(text))

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_suspect
        mapping = dict(pairs)
        is_suspect |= len(mapping) < len(pairs)
        return mapping

    def number(digits: str) -> float:
        nonlocal is_suspect
        value = float(digits)
        is_suspect |= not math.isfinite(value)
        return value

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        line = error.lineno + first_line - 1
        problems.add(file, f"not JSON: {_lower(error.msg)} (column {error.colno}).", line=line)
        return None
    except RecursionError:
        problems.add(file, "not readable: lists and objects are nested too deep.")
        return None
    except ValueError:
        problems.add(file, "not readable: a number has too many digits.")
        return None

    @cache
    def scan() -> _Scan:
        return _scanned(text, first_line)

    if is_suspect:
        for line, sentence in scan().problems:
            problems.add(file, sentence, line=line)
        if scan().problems:
            return None
    # Lines are looked for when something is wrong, which is seldom: hence a function.
    return Located(file=file, value=value, find_line=lambda place: _line_in(scan(), place))


def glance(content: bytes) -> Any:
    """Return what a text of JSON holds, or None where it is none: for a look, not for reading."""
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def json_lines(content: bytes, file: str, problems: Problems) -> Iterator[Located]:
    """Yield the documents of a JSON-lines file; blank lines count, and say nothing."""
    text = decoded(content, file, problems)
    for number, line in enumerate((text or "").split("\n"), start=1):
        if line.strip():
            document = parse_json(line, file, problems, first_line=number)
            if document is not None:
                yield document


def read_toml(content: bytes, file: str, problems: Problems) -> Located | None:
    """Return a TOML document, or None after its problems were added."""
    text = decoded(content, file, problems)
    if text is None:
        return None
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _TOML_AT.search(str(error))
        line = int(at[1]) if at and at[1] else text.count("\n") + 1
        problems.add(file, f"not TOML: {_lower(_TOML_AT.sub('', str(error)))}.", line=line)
        return None
    except RecursionError:
        problems.add(file, "not readable: tables and lists are nested too deep.")
        return None
    document = Located(file=file, value=value, find_line=lambda place: _toml_line(text, place))
    count = len(problems.found)
    for place, sentence in unstorable_values(value):
        document.problem(problems, place, sentence)
    return document if len(problems.found) == count else None


def unstorable_values(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield every value that JSON, and so the database, cannot hold."""
    name = ".".join(str(part) for part in place)
    match value:
        case dict():
            for key, inner in value.items():
                yield from unstorable_values(inner, (*place, key))
        case list():
            for index, inner in enumerate(value):
                yield from unstorable_values(inner, (*place, index))
        case dt.date() | dt.time():
            yield place, f"{name} is a date or time; put it in quotes."
        case float() if not math.isfinite(value):
            yield place, f"{name} is {value}; give a number."
        case str() if what := unstorable(value):
            yield place, f"{name} holds {what}; take it out."
        case _:
            pass


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scan:
    lines: dict[Place, int]
    problems: list[tuple[int, str]]


def _scanned(text: str, first_line: int) -> _Scan:
    """Note the line of each place of a text that is known to be JSON, and what JSON forgives."""
    starts = [match.end() for match in re.finditer("\n", text)]
    lines: dict[Place, int] = {}
    problems: list[tuple[int, str]] = []
    containers: list[set[str] | None] = []  # keys seen so far of an object, None for a list
    place: list[str | int] = []
    awaits_key = False
    for match in _WORD.finditer(text):
        word = match[0]
        line = bisect_right(starts, match.start()) + first_line
        keys = containers[-1] if containers else None
        if word in "}]":
            containers.pop()
            place.pop()
        elif word == ":":
            awaits_key = False
        elif word == ",":
            awaits_key = keys is not None
            if keys is None:
                place[-1] = int(place[-1]) + 1
        elif awaits_key and keys is not None and word != "{":
            key = json.loads(word)
            place[-1] = key
            if key in keys:
                problems.append((line, f"the key {key!r} occurs twice in one object."))
            keys.add(key)
        else:
            lines[tuple(place)] = line
            if word in "{[":
                containers.append(set() if word == "{" else None)
                place.append("" if word == "{" else 0)
                awaits_key = word == "{"
            else:
                problems += [(line, wrong) for wrong in _wrong_scalars(word)]
    return _Scan(lines=lines, problems=problems)


def _line_in(scan: _Scan, place: Place) -> int | None:
    return scan.lines.get(place)


def _wrong_scalars(word: str) -> Iterator[str]:
    if word.startswith('"'):
        if what := unstorable(json.loads(word)):
            yield f"a text holds {what}; take it out."
    elif word not in ("true", "false", "null") and not math.isfinite(float(word)):
        yield f"{word[:40]} is not a number that JSON knows."


def _toml_line(text: str, place: Place) -> int | None:
    table: Place = ()
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if header := _TOML_HEADER.fullmatch(stripped):
            table = _toml_parts(header[1])
            if table == place and place:
                return number
        elif (key := _TOML_KEY.match(stripped)) and (*table, *_toml_parts(key[1])) == place:
            return number
    return None


def _toml_parts(dotted: str) -> Place:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
