"""Read `benchmark.toml`: what a pack says of itself as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.packs.located import Located, read_toml
from benchmark.packs.names import KEY_RULE, expected_instead, is_key
from benchmark.packs.problems import Problems
from benchmark.packs.specs import BenchmarkFacts
from benchmark.packs.texts import tidy
from benchmark.protocols import protocol as protocol_named
from benchmark.rules.protocol import BadSetting, Protocol

SCHEMA = "proofroom/pack/1"
FILE = "benchmark.toml"
FIELDS = (
    "schema", "key", "version", "title", "description", "protocol", "licence", "source", "settings", "tasks",
)  # fmt: skip
LONGEST = {"title": 200, "licence": 200, "source": 200, "version": 32}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The facts of a pack, its protocol, and its tasks in the order it names them.

    `protocol` is None where the pack names none that is known.
    """

    facts: BenchmarkFacts
    protocol: Protocol | None
    tasks: tuple[str, ...]
    document: Located


def read_head(content: bytes, problems: Problems) -> Head | None:
    """Return the head of a pack, or None where the file cannot be read; adds every problem."""
    document = read_toml(content, FILE, problems)
    if document is None:
        return None
    value: dict[str, Any] = document.value
    for field in value:
        if field not in FIELDS:
            text = f"the field {field!r} is unknown; {expected_instead(field, FIELDS)}"
            document.problem(problems, (field,), text)
    if value.get("schema") != SCHEMA:
        said = f"is {value['schema']!r}" if "schema" in value else "is missing"
        document.problem(problems, ("schema",), f'schema {said}; write schema = "{SCHEMA}".')
    texts = {
        field: _text(document, field, problems) for field in FIELDS if field not in ("settings", "tasks")
    }
    for field in ("key", "version"):
        if texts[field] and not is_key(texts[field]):
            document.problem(problems, (field,), f"{field} is {texts[field]!r}; it takes {KEY_RULE}.")
    protocol = _protocol(document, texts["protocol"], problems)
    return Head(
        facts=BenchmarkFacts(
            key=texts["key"],
            version=texts["version"],
            title=texts["title"],
            description=tidy(texts["description"]),
            protocol=texts["protocol"],
            licence=texts["licence"],
            source=texts["source"] or "pack",
            settings=_settings(document, protocol, problems),
        ),
        protocol=protocol,
        tasks=_tasks(document, problems),
        document=document,
    )


def checked_settings(given: Mapping[str, Any], protocol: Protocol) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the given settings as the protocol types them, and a sentence for each that it refuses."""
    taken: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for name, value in given.items():
        try:
            taken[name] = protocol.complete_settings({name: value})[name]
        except BadSetting as error:
            refused[name] = str(error)
    return taken, refused


def _text(document: Located, field: str, problems: Problems) -> str:
    value = document.value.get(field)
    if value is None:
        if field in ("key", "version", "title", "protocol"):
            document.problem(problems, (), f'{field} is missing; write {field} = "...".')
        return ""
    if not isinstance(value, str):
        document.problem(problems, (field,), f"{field} is {value!r:.60}, not a text; put it in quotes.")
        return ""
    if field in ("title", "key", "version", "protocol") and not value.strip():
        document.problem(problems, (field,), f"{field} is empty.")
    if len(value) > (longest := LONGEST.get(field, 100_000)):
        document.problem(problems, (field,), f"{field} is longer than {longest} characters.")
    return value.strip()


def _protocol(document: Located, name: str, problems: Problems) -> Protocol | None:
    if not name:
        return None
    try:
        return protocol_named(name)
    except LookupError as error:
        document.problem(problems, ("protocol",), str(error.args[0]))
        return None


def _settings(document: Located, protocol: Protocol | None, problems: Problems) -> dict[str, Any]:
    given = document.value.get("settings", {})
    if not isinstance(given, dict):
        document.problem(problems, ("settings",), "settings is not a table; write [settings].")
        return {}
    if protocol is None:
        return given
    taken, refused = checked_settings(given, protocol)
    for name, sentence in refused.items():
        document.problem(problems, ("settings", name), sentence)
    return taken


def _tasks(document: Located, problems: Problems) -> tuple[str, ...]:
    names = document.value.get("tasks")
    if not isinstance(names, list) or not names:
        text = 'tasks is not a list of task folders; write tasks = ["first", "second"].'
        document.problem(problems, ("tasks",), text)
        return ()
    kept: list[str] = []
    for name in names:
        if not is_key(name):
            document.problem(problems, ("tasks",), f"the task {name!r} is not a text of {KEY_RULE}.")
        elif name in kept:
            document.problem(problems, ("tasks",), f"the task {name} is listed twice.")
        else:
            kept.append(name)
    return tuple(kept)
