"""Name a target in plain words: no selector ever shows in a rationale."""

from __future__ import annotations

import re
from typing import Any

from benchmark.rules.script_shapes import TARGET_WAYS

_TAGS = {
    "a": "link",
    "button": "button",
    "canvas": "drawing",
    "circle": "point",
    "dialog": "dialog",
    "footer": "footer",
    "form": "form",
    "h1": "heading",
    "h2": "heading",
    "h3": "heading",
    "h4": "heading",
    "header": "header",
    "img": "picture",
    "input": "field",
    "label": "label",
    "li": "list item",
    "main": "main part",
    "nav": "navigation",
    "option": "option",
    "p": "paragraph",
    "path": "line",
    "rect": "bar",
    "select": "drop-down",
    "svg": "drawing",
    "table": "table",
    "td": "cell",
    "textarea": "text field",
    "th": "column header",
    "tr": "row",
}
_ROLES = {
    "alert": "message",
    "alertdialog": "dialog",
    "article": "article",
    "cell": "cell",
    "columnheader": "column header",
    "combobox": "drop-down",
    "gridcell": "cell",
    "img": "picture",
    "listitem": "list item",
    "navigation": "navigation",
    "progressbar": "progress bar",
    "radio": "radio button",
    "rowheader": "row header",
    "searchbox": "search field",
    "spinbutton": "number field",
    "status": "status message",
    "switch": "switch",
    "tab": "tab",
    "textbox": "text field",
}
_LAST_COMPOUND = re.compile(r"""((?:\[[^\]]*\]|\([^)]*\)|"[^"]*"|'[^']*'|[^\s>+~])+)\s*$""")
_NAMING = re.compile(
    r"""\[(?:data-testid|data-test|name|id|aria-label|placeholder)[*^$~|]?=["']?([^"'\]]+)"""
)


def noun(target: Any) -> str:
    """Return what kind of thing a target is, without an article: `row`, `button "Add"`."""
    if isinstance(target, str):
        return _selector_noun(target)
    if "called" in target:
        return str(target["called"])
    way = next(way for way in TARGET_WAYS if way in target)
    value = target[way]
    if way == "any":
        return noun(value[0])
    if way == "css":
        plain = _selector_noun(value)
    elif way == "role":
        plain = _ROLES.get(value, value)
        if "name" in target:
            plain = f"{plain} {quoted(target['name'])}"
    else:
        kinds = {
            "label": "field",
            "placeholder": "field",
            "text": "text",
            "alt": "picture",
            "title": "element",
        }
        plain = f"{kinds.get(way, 'element')} {quoted(_spaced(value) if way == 'testid' else value)}"
    if "has_text" in target:
        plain = f"{plain} with {quoted(target['has_text'])}"
    return plain


def described(target: Any) -> str:
    """Return a target as a person would name it: `the button "Add" in the dialog`."""
    if isinstance(target, str):
        return f"the {noun(target)}"
    plain = _with_article(noun(target))
    if "nth" in target:
        position = target["nth"]
        order = "last" if position == -1 else ordinal(position + 1)
        plain = f"the {order} {plain.removeprefix('the ')}"
    if "within" in target and "called" not in target:
        plain = f"{plain} in {described(target['within'])}"
    return plain


def counted(target: Any, count: int) -> str:
    """Return a number of such things: `3 rows`, `1 row`, `no row`."""
    word = noun(target)
    if count == 1:
        return f"1 {_singular(word)}"
    return f"{count} {_plural(word)}"


def many(target: Any) -> str:
    """Return the plural: `rows`, `"product card" elements`."""
    return _plural(noun(target))


def quoted(value: Any) -> str:
    """Return a value in quotes, cut to what fits into a sentence."""
    text = " ".join(str(value).split())
    return f'"{text}"' if len(text) <= 120 else f'"{text[:117]}..."'


def capital(words: str) -> str:
    """Return words with a capital first letter."""
    return words[:1].upper() + words[1:]


def seconds(value: float) -> str:
    """Return a duration: `3 s`, `0.5 s`."""
    return f"{value:g} s"


def _selector_noun(selector: str) -> str:
    engine, separator, rest = selector.partition("=")
    if separator and engine == "text":
        return f"text {quoted(rest.strip(chr(34) + chr(39)))}"
    if separator and engine == "role":
        role = re.match(r"\w+", rest)
        named = re.search(r"""name=["']([^"']+)""", rest)
        word = _ROLES.get(role.group(), role.group()) if role else "element"
        return f"{word} {quoted(named.group(1))}" if named else word
    return _css_noun(rest if separator and engine == "css" else selector)


def _css_noun(selector: str) -> str:
    first = re.split(r",(?![^\[(]*[\])])", selector)[0]
    found = _LAST_COMPOUND.search(first)
    compound = found.group(1) if found else first
    tag = re.match(r"[a-zA-Z][\w-]*", compound)
    word = _TAGS.get(tag.group().lower(), "element") if tag else "element"
    if text := re.search(r""":(?:has-text|text-is|text)\(["']?([^"')]+)""", compound):
        return f"{word} with {quoted(text.group(1))}"
    if (
        name := _NAMING.search(compound)
        or re.search(r"[#]([\w-]+)", compound)
        or re.search(r"\.([\w-]+)", re.sub(r"\[[^\]]*\]|\([^)]*\)", "", compound))
    ):
        if word in {"row", "cell", "list item", "option", "column header"}:
            return word
        return f"{word} {quoted(_spaced(name.group(1)))}"
    return word


def _spaced(identifier: str) -> str:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", identifier)
    return re.sub(r"[-_]+", " ", apart).strip().lower()


def _with_article(word: str) -> str:
    return word if word.split(" ", maxsplit=1)[0] in {"the", "a", "an"} else f"the {word}"


def _singular(word: str) -> str:
    head, rest = _parted(word)
    if head.endswith("s") and not head.endswith("ss"):
        head = head[:-1]
    return f"{head}{rest}"


def _plural(word: str) -> str:
    head, rest = _parted(word)
    if not head.endswith("s") or head.endswith("ss"):
        head = f"{head[:-1]}ies" if head.endswith("y") and head[-2:-1] not in "aeiou" else f"{head}s"
    return f"{head}{rest}"


def _parted(word: str) -> tuple[str, str]:
    """Part a noun from the quoted name that follows it."""
    found = re.search(r'( with)? ".*$', word)
    return (word[: found.start()], found.group()) if found else (word, "")


def ordinal(position: int) -> str:
    ending = "th" if 10 <= position % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(position % 10, "th")
    return f"{position}{ending}"
