"""Take the code agent's name out of what a candidate left behind, for eyes that must not know it."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

HIDDEN = "▒▒▒"
"""What stands where a name was."""

_MAKERS = frozenset(
    [
        "aider",
        "amp",
        "claude",
        "cline",
        "codex",
        "continue",
        "copilot",
        "crush",
        "cursor",
        "deepseek",
        "devin",
        "droid",
        "gemini",
        "goose",
        "gpt",
        "haiku",
        "jules",
        "kilo",
        "kimi",
        "kiro",
        "llama",
        "mini",
        "mistral",
        "opencode",
        "openhands",
        "opus",
        "qwen",
        "roo",
        "sonnet",
        "trae",
        "warp",
        "windsurf",
        "zed",
    ]
)
_SHELL = frozenset({"sh", "bash", "zsh", "env", "python", "python3", "node", "npx", "uvx", "uv", "timeout"})
_MODEL_OPTIONS = frozenset({"-m", "--model", "--agent", "--provider"})
_NOTES_FOR_AGENTS = re.compile(
    r"(?:claude|agents?|gemini|qwen|codex|copilot-instructions|opencode|crush|warp|goose)\.(?:local\.)?(?:md|jsonc?)"
    r"|\.?(?:claude|codex|gemini|qwen|cursor|aider|opencode|openhands|continue|windsurf|cline|roo|kilo(?:code)?"
    r"|kiro|trae|amp|crush|goose|junie|factory|clinerules|cursorrules|windsurfrules|goosehints)(?:\..*|rules|ignore)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenNames:
    """Which words and files are held back; nothing where `names` is None."""

    names: tuple[str, ...] | None = None

    def taken_out_of(self, text: str) -> str:
        """Return the text with each of the names replaced."""
        if not self.names or not text:
            return text
        words = "|".join(re.escape(name) for name in self.names)
        return re.sub(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])", HIDDEN, text, flags=re.IGNORECASE)

    def hides_file(self, path: str) -> bool:
        """Whether a file is a note to a particular agent, which names it to whoever sees the list."""
        if self.names is None:
            return False
        *folders, name = path.split("/")
        # A folder of the application may well be called `cursor`; one with a dot is an agent's.
        return any(
            folder.startswith(".") and _NOTES_FOR_AGENTS.fullmatch(folder) for folder in folders
        ) or bool((name.startswith(".") or "." in name) and _NOTES_FOR_AGENTS.fullmatch(name))


def names_of(*, label: str, agent_settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names that tell which agent and model made a candidate, the longest first.

    An ordinary word ("recorded") is left out: a gap in a sentence would tell it, not hide it.
    """
    found = {label.strip()}
    for setting, value in agent_settings.items():
        if not isinstance(value, str):
            continue
        if setting == "command":
            found.update(_of_command(value))
        elif setting in ("model", "candidate", "label"):
            found.update((value.strip(), value.strip().rstrip("/").rpartition("/")[2]))
    names = {name for name in found if _tells(name)}
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


def _of_command(line: str) -> Iterator[str]:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    programs: Iterable[str] = (
        word for word in words if word.rpartition("/")[2] not in _SHELL and "=" not in word
    )
    yield next(iter(programs), "").rpartition("/")[2]
    for option, value in itertools.pairwise(words):
        if option in _MODEL_OPTIONS:
            yield value
            yield value.rpartition("/")[2]
    for word in words:
        option, equals, value = word.partition("=")
        if equals and option in _MODEL_OPTIONS:
            yield value
            yield value.rpartition("/")[2]


def _tells(name: str) -> bool:
    if len(name) < 3:
        return False
    parts = re.split(r"[^a-z]+", name.lower())
    return bool(_MAKERS.intersection(parts)) or (
        any(c.isdigit() for c in name) and any(c.isalpha() for c in name)
    )
