"""Valid files made wrong in the ways that files of other people are wrong: in their values, and in their bytes."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**70, -(2**63), 0.5, 1e308, float("nan"), float("inf")),
    *("", " ", "\0", "a\0b", "\ud800", "\ufeff", "é", "e\u0301", "🚀", "../../etc/passwd", "/etc/passwd"),
    *("C:\\x", "a" * 300, "x" * 70_000, "true", "null", "1e400", "c0", "{{ 7*7 }}", "<script>", "\u202e"),
    *([], {}, [[]], [None], {"": ""}, {"a": {"a": {"a": {}}}}, [0] * 1000),
)
NAMES = (
    *("../evil", "/evil", "a\\b", "con", "a" * 300, "é", "e\u0301", "\u202egnp.exe", "a//b", "./x", "a/./b"),
    *("a/../b", ".", "..", "", "tasks", "tasks/shop", "benchmark.toml/x", "x\n", "BENCHMARK.TOML", "a:b"),
)


def mutated(value: Any, dice: Random, *, times: int) -> Any:
    """A JSON value that was changed somewhere, so many times."""
    value = copy.deepcopy(value)
    for _ in range(times):
        value = _changed(value, dice)
    return value


def _changed(value: Any, dice: Random) -> Any:
    places = list(_places(value, ()))
    place = dice.choice(places)
    if not place:
        return dice.choice(STRANGE) if dice.random() < 0.2 else value
    *way, last = place
    holder = value
    for step in way:
        holder = holder[step]
    match dice.randrange(7):
        case 0 | 1 | 2:
            holder[last] = copy.deepcopy(dice.choice(STRANGE))
        case 3:
            del holder[last]
        case 4 if isinstance(holder, list):
            holder.insert(dice.randrange(len(holder) + 1), copy.deepcopy(holder[last]))
        case 4:
            holder[str(dice.choice(STRANGE))[:200]] = holder.pop(last)
        case 5:
            other = dice.choice(places)
            holder[last] = copy.deepcopy(_at(value, other))
        case _:
            deep: Any = holder[last]
            for _ in range(dice.choice((1, 3, 60, 1200))):
                deep = [deep] if dice.random() < 0.5 else {"a": deep}
            holder[last] = deep
    return value


def _places(value: Any, way: tuple[Any, ...]) -> Any:
    yield way
    if len(way) > 8:
        return
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _places(child, (*way, key))
    elif isinstance(value, list):
        for index, child in enumerate(value[:20]):
            yield from _places(child, (*way, index))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


def as_json(value: Any, dice: Random) -> bytes:
    """A JSON text of the value, as one program or another might write it."""
    try:
        text = json.dumps(value, ensure_ascii=dice.random() < 0.5, indent=dice.choice((None, 1, 2)))
    except RecursionError:
        text = "[" * 100_000
    if dice.random() < 0.05:
        text = text.replace(": 1", ": " + "9" * 5000, 1)
    return text.encode("utf-8", "surrogatepass")


def spoilt(content: bytes, dice: Random) -> bytes:
    """Bytes with an accident: cut, flipped, doubled, of another encoding, with a mark at their head."""
    accidents: list[Callable[[bytes], bytes]] = [
        lambda b: b[: dice.randrange(len(b) + 1)],
        lambda b: _flipped(b, dice),
        lambda b: b + b,
        lambda b: b"\xef\xbb\xbf" + b,
        lambda b: b.decode("utf-8", "replace").encode(dice.choice(("utf-16", "utf-16-le", "utf-32"))),
        lambda b: b.decode("utf-8", "replace").encode("latin-1", "replace"),
        lambda b: b.replace(b"\n", dice.choice((b"\r\n", b"\r", b"\n\n", b"\0"))),
        lambda b: _inserted(b, bytes(dice.randrange(256) for _ in range(dice.randrange(1, 9))), dice),
        lambda b: _inserted(b, dice.choice((b"\xff\xfe", b"\x1b[2J", b"\xed\xa0\x80", b"[" * 20_000)), dice),
    ]
    return dice.choice(accidents)(content)


def _flipped(content: bytes, dice: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(dice.randrange(1, 6)):
        if changed:
            changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def _inserted(content: bytes, more: bytes, dice: Random) -> bytes:
    at = dice.randrange(len(content) + 1)
    return content[:at] + more + content[at:]


def zip_of(files: dict[str, bytes], dice: Random) -> bytes:
    """A zip of the files with something wrong in its members, its headers or its bytes; or a sound one."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", dice.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))) as archive:
        for name, content in files.items():
            archive.writestr(_info(name, dice), content)
        for _ in range(dice.choice((0, 0, 1, 2))):
            archive.writestr(_info(dice.choice(NAMES) or "empty", dice), b"x")
        if dice.random() < 0.1:
            archive.writestr("tasks/shop/data/bomb.csv", b"0" * (6 << 20), zipfile.ZIP_DEFLATED)
        if dice.random() < 0.1:
            archive.writestr(dice.choice(list(files)), b"again")
    packed = bytearray(out.getvalue())
    for _ in range(dice.choice((0, 0, 1, 3))):
        _lie(packed, dice)
    return spoilt(bytes(packed), dice) if dice.random() < 0.3 else bytes(packed)


def _info(name: str, dice: Random) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    # Links, devices, folders that are files, and files that run.
    modes = (0o100644, 0o100644, 0o100644, 0o100755, 0o120777, 0o060644, 0o010644, 0o040755, 0)
    info.external_attr = dice.choice(modes) << 16 if dice.random() < 0.2 else 0o100644 << 16
    return info


def _lie(content: bytearray, dice: Random) -> None:
    """Change a field of a local header, of the directory or of its end."""
    marks = (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06")
    mark = dice.choice(marks)
    found = [at for at in range(len(content) - 30) if content[at : at + 4] == mark]
    if found:
        at = dice.choice(found) + 4 + dice.randrange(26)
        for offset in range(dice.choice((1, 2, 4))):
            if at + offset < len(content):
                content[at + offset] = dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))
