"""What the project promises of itself: nothing leaks, documents are true, every exception has a reason."""

import os
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MARKDOWN = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


@cache
def tracked_texts() -> dict[str, str]:
    """Return every tracked file that is text, by its path."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("the project is not a clone here, so nothing says which files belong to it")
    texts = {}
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and b"\0" not in (content := path.read_bytes())[:8000]:
            texts[name] = content.decode(errors="replace")
    return texts


def lines_that_match(pattern: str, *, of: str = "") -> list[str]:
    wanted = re.compile(pattern)
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in tracked_texts().items()
        if name.endswith(of)
        for number, line in enumerate(text.splitlines(), 1)
        if wanted.search(line)
    ]


def test_no_file_names_the_host_of_a_package_registry():
    # Written in pieces, or this file would be the one that names them.
    hosts = [
        "registry.npm" + "js",
        "registry.yarn" + "pkg",
        "py" + "pi.org",
        "python" + "hosted",
        "deb.deb" + "ian",
    ]

    assert lines_that_match("|".join(map(re.escape, hosts))) == []


def test_no_file_names_a_folder_of_one_machine():
    folders = [
        "/ro" + "ot/",
        "/ho" + "me/[a-z]",
        "/Use" + "rs/[a-z]",
        "/wo" + "rk/(?:wt|main|venv|shared)",
        "/tmp/" + "tmp",
    ]

    assert lines_that_match("|".join(rf"(?<![\w.}}]){folder}" for folder in folders)) == []


def test_no_file_holds_an_unfinished_merge():
    assert lines_that_match(r"^(?:<{7}|>{7}) ") == []


def test_no_lock_file_of_another_tool_is_kept():
    # These write the host of a registry into every entry.
    assert [
        name for name in tracked_texts() if Path(name).name in {"uv.lock", "pylock.toml", "poetry.lock"}
    ] == []


def canonical(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


@pytest.mark.parametrize(
    ("lock", "group"), [("requirements.lock", "dev"), ("requirements-node.lock", "node")]
)
def test_every_requirement_is_locked_with_a_hash(lock, group):
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = {canonical(requirement) for requirement in described["dependency-groups"][group]}
    if group == "dev":
        wanted |= {canonical(requirement) for requirement in described["project"]["dependencies"]}
    text = (ROOT / lock).read_text()
    entries = re.split(r"\n(?=[a-z0-9])", re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE))
    locked = {canonical(entry) for entry in entries}

    assert wanted <= locked
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry or "==" not in entry] == []


def test_every_ignored_lint_rule_has_its_reason_beside_it():
    text = (ROOT / "pyproject.toml").read_text()
    rules = text[text.index("\nignore = [") : text.index("[tool.ruff.lint.flake8-tidy-imports]")]

    assert [line for line in rules.splitlines() if re.search(r'"[A-Z]+\d*"', line) and "#" not in line] == []


def test_every_setting_is_documented():
    settings = (ROOT / "proofroom" / "settings.py").read_text()
    names = set(re.findall(r'"((?:PROOFROOM|DATABASE|REDIS)_[A-Z_]+)"', settings))
    documented = "\n".join(path.read_text() for path in DOCUMENTS if path.is_file())

    assert names
    assert sorted(name for name in names if f"`{name}`" not in documented) == []


@MARKDOWN
def test_every_command_of_a_document_exists(document):
    text = document.read_text()
    code = "\n".join(re.findall(r"^```.*?^```|`[^`\n]+`", text, flags=re.MULTILINE | re.DOTALL))
    targets = set(
        re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[0].split()
    )
    commands = set(get_commands())

    assert {name for name in re.findall(r"\bmake ([a-z]+)", code) if name not in targets} == set()
    assert {
        name for name in re.findall(r"(?<![\w/-])(?<!-A )proofroom ([a-z]+)", code) if name not in commands
    } == set()


@MARKDOWN
def test_every_link_inside_the_project_leads_somewhere(document):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text())
    own = [link for link in links if "://" not in link and not link.startswith("mailto:")]

    assert [link for link in own if not (document.parent / link).exists()] == []


def test_changelog_has_a_place_for_what_is_not_released_yet():
    assert re.search(r"^## Unreleased$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)


def test_text_marked_safe_in_a_template_says_why():
    unexplained = []
    for name, text in tracked_texts().items():
        if not name.startswith("templates/"):
            continue
        lines = text.splitlines()
        for number, line in enumerate(lines):
            # This is the check of that word, no use of it: a reason stands in the line or in the one above.
            if "|safe" in line and "{#" not in line + (lines[number - 1] if number else ""):
                unexplained.append(f"{name}:{number + 1}")

    assert unexplained == []


def test_no_comment_is_a_banner():
    assert lines_that_match(r"^\s*(?:#|//)\s*[-=*#~─━]{4,}", of=".py") == []
    assert lines_that_match(r"^\s*(?:#|//)\s*[-=*#~─━]{4,}", of=".js") == []


def test_every_target_of_the_makefile_says_what_it_does():
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^\.PHONY: (.*)$", text, flags=re.MULTILINE)[0].split()

    assert [name for name in targets if not re.search(rf"^{name}:.*## ", text, flags=re.MULTILINE)] == []


def test_programs_can_be_started():
    assert [name for name in (".ci/run",) if not os.access(ROOT / name, os.X_OK)] == []


@pytest.mark.parametrize("script", [".ci/run", "bootstrap/setup.sh", "bootstrap/find_python.sh"])
def test_shell_script_can_be_parsed(script):
    shell = "bash" if (ROOT / script).read_text().startswith("#!/bin/bash") else "sh"

    assert subprocess.run([shell, "-n", ROOT / script], capture_output=True, text=True).stderr == ""
