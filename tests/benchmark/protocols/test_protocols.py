"""Promises that every protocol folder keeps, today's and tomorrow's."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchmark
from benchmark.protocols import all_protocols, protocol
from benchmark.rules.protocol import Protocol
from benchmark.rules.records import Scores
from benchmark.rules.vocabulary import Unit

HOME = Path(benchmark.__file__).parent
FOLDERS = sorted(path.name for path in (HOME / "protocols").iterdir() if (path / "__init__.py").exists())
each_protocol = pytest.mark.parametrize("recipe", all_protocols().values(), ids=list(all_protocols()))


def test_every_folder_is_found_and_nothing_else():
    assert list(all_protocols()) == FOLDERS
    assert "asuka" in FOLDERS


def test_protocols_are_looked_for_once():
    assert all_protocols() is all_protocols()


def test_unknown_protocol_is_named_beside_the_known_ones():
    with pytest.raises(LookupError, match=r"Unknown protocol 'nobody'; known are: .*asuka"):
        protocol("nobody")


@each_protocol
def test_folder_has_a_readme_with_a_recipe_and_its_decisions(recipe: Protocol):
    readme = (HOME / "protocols" / recipe.name / "README.md").read_text(encoding="utf-8")

    for heading in ("## Recipe", "## Decisions", "## Deviations"):
        assert heading in readme
    for setting in recipe.settings:
        assert f"`{setting.name}`" in readme
    for spec in recipe.metric_specs:
        assert f"`{spec.name}`" in readme


@each_protocol
def test_metrics_are_declared_once_each_with_words_and_a_definition(recipe: Protocol):
    names = [spec.name for spec in recipe.metric_specs]

    assert len(names) == len(set(names))
    for spec in recipe.metric_specs:
        assert spec.label
        assert spec.our_words
        assert spec.definition.endswith(".")


@each_protocol
def test_tables_and_charts_show_declared_metrics(recipe: Protocol):
    declared = {spec.name for spec in recipe.metric_specs}

    assert all(table.title and set(table.metrics) <= declared for table in recipe.tables)
    assert all(chart.title and set(chart.metrics) <= declared for chart in recipe.charts)


@each_protocol
def test_every_declared_metric_is_scored_and_nothing_else(recipe: Protocol):
    found = recipe.score([], recipe.complete_settings({}))

    assert isinstance(found, Scores)
    assert list(found.metrics) == [spec.name for spec in recipe.metric_specs]


@each_protocol
def test_defaults_are_values_that_the_settings_take(recipe: Protocol):
    defaults = recipe.complete_settings({})

    assert recipe.complete_settings(defaults) == defaults


@each_protocol
def test_decisions_are_sentences(recipe: Protocol):
    for sentence in recipe.decisions(recipe.complete_settings({})):
        assert sentence[0].isupper()
        assert sentence.endswith(".")


def test_decisions_of_asuka_name_threshold_mode_and_request():
    asuka = protocol("asuka")

    assert "T = 0.5" in asuka.decisions({})[0]
    assert "strict (T = 1)" in asuka.decisions({"threshold": 1})[0]
    assert asuka.decisions({"mode": "flat"})[0].startswith("Flat evaluation")
    assert "at most 5 rounds" in asuka.decisions({"max_rounds": 5})[1]
    assert "clarified PRD" in asuka.decisions({"request": "prd"})[1]


def test_counts_of_asuka_are_the_regressions():
    counts = [spec.name for spec in protocol("asuka").metric_specs if spec.unit is Unit.COUNT]

    assert counts == ["regressions", "regressions_unreached"]


def test_metric_names_are_in_the_glossary():
    glossary = (HOME / "GLOSSARY.md").read_text(encoding="utf-8")

    for recipe in all_protocols().values():
        for spec in recipe.metric_specs:
            name = spec.name.removesuffix("_state").removesuffix("_judged")
            assert f"`{name}`" in glossary, spec.name
