"""Chromium is found where it is, and a sentence says what to do where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.adapters.browsers import chromium_arguments, find_chromium


def _program(path: Path, *, executable: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755 if executable else 0o644)
    return path


def test_an_explicit_setting_wins_over_everything(tmp_path: Path):
    named = _program(tmp_path / "mine")
    _program(tmp_path / "usr/lib/chromium/chromium-headless-shell")

    found = find_chromium(str(named), environment={}, root=tmp_path, home=tmp_path)

    assert (found.path, found.problem) == (named, "")


@pytest.mark.parametrize(
    ("name", "problem"),
    [("none", "there is no such file"), ("plain", "cannot be executed")],
)
def test_a_wrong_setting_is_a_sentence_and_nothing_else_is_tried(tmp_path: Path, name: str, problem: str):
    _program(tmp_path / "plain", executable=False)
    _program(tmp_path / "usr/lib/chromium/chromium")

    found = find_chromium(str(tmp_path / name), environment={}, root=tmp_path, home=tmp_path)

    assert found.path is None
    assert found.problem.startswith(f"PROOFROOM_CHROMIUM names {str(tmp_path / name)!r}")
    assert problem in found.problem


def test_playwrights_cache_comes_before_the_distribution_and_the_newest_revision_first(tmp_path: Path):
    _program(tmp_path / "usr/lib/chromium/chromium-headless-shell")
    cache = tmp_path / "cache"
    _program(cache / "chromium_headless_shell-999/chrome-linux/headless_shell")
    newest = _program(cache / "chromium_headless_shell-1200/chrome-linux/headless_shell")
    _program(cache / "chromium-1300/chrome-linux/chrome")

    found = find_chromium(environment={"PLAYWRIGHT_BROWSERS_PATH": str(cache)}, root=tmp_path, home=tmp_path)

    assert found.path == newest


def test_the_headless_shell_is_preferred_and_the_wrapper_script_never_taken(tmp_path: Path):
    _program(tmp_path / "usr/bin/chromium")
    nothing = find_chromium(environment={}, root=tmp_path, home=tmp_path)
    full = _program(tmp_path / "usr/lib/chromium/chromium")
    second = find_chromium(environment={}, root=tmp_path, home=tmp_path)
    shell = _program(tmp_path / "usr/lib/chromium/chromium-headless-shell")
    first = find_chromium(environment={}, root=tmp_path, home=tmp_path)

    assert nothing.path is None
    assert (second.path, first.path) == (full, shell)


def test_no_browser_is_a_sentence_with_the_way_out(tmp_path: Path):
    found = find_chromium(environment={}, root=tmp_path, home=tmp_path)

    assert found.path is None
    assert found.problem.startswith("No Chromium was found. Install one")
    assert "PROOFROOM_CHROMIUM" in found.problem


def test_only_root_goes_without_the_browsers_sandbox():
    assert "--no-sandbox" in chromium_arguments(is_root=True)
    assert "--no-sandbox" not in chromium_arguments(is_root=False)
