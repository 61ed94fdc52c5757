"""Text files of a pack: UTF-8 with or without a BOM, one kind of line end, nothing a database refuses."""

from __future__ import annotations

import codecs
import re

from benchmark.packs.problems import Problems

SURROGATE = re.compile("[\ud800-\udfff]")


def decoded(content: bytes, file: str, problems: Problems) -> str | None:
    """Return the text of a file, or None after a problem was added."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        problems.add(file, "the file is UTF-16; save it as UTF-8.", line=1)
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        problems.add(file, f"the byte 0x{byte:02x} is not UTF-8; save the file as UTF-8.", line=line)
        return None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.add(file, "the text holds a NUL character; take it out.", line=line)
        return None
    return text


def tidy(text: str) -> str:
    """Return prose with one kind of line end and no blank space around it: those are not content."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def short_title(text: str, *, longest: int) -> str:
    """Return a text as a title: one line, cut at a word where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rsplit(" ", 1)[0] + "…"


def unstorable(text: str) -> str | None:
    """Return what no database takes in a text, in words, or None."""
    if "\0" in text:
        return "a NUL character"
    if SURROGATE.search(text):
        return "half of a surrogate pair"
    return None
