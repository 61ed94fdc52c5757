"""The sample benchmark asuka-mini: its shape, its scripts, its data and what its rounds are to show."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmark.packs.reading import opened_pack
from benchmark.packs.specs import PackSpec
from benchmark.rules.graph import in_dependency_order, layers
from benchmark.rules.marks import CriterionState, effective_states, is_satisfied
from benchmark.rules.records import CriterionSpec, TaskSpec
from benchmark.rules.vocabulary import Mark, Mode
from tests.samples.asuka_mini_marks import EXPECTED, Marks

PACK = Path(__file__).parents[2] / "benchmark" / "protocols" / "asuka" / "sample" / "asuka-mini"
TASKS = ("score-atlas", "corner-shop", "shift-planner")
ROUNDS = sorted(EXPECTED)
THRESHOLD = 0.5
TEXT_FILES = {".html", ".css", ".js", ".jsx", ".json", ".csv", ".py", ".svg", ".md", ".toml"}
# The namespace of SVG is a name, not a place to fetch from.
NAMESPACE = "http://www.w3.org/2000/svg"


@pytest.fixture(scope="module")
def pack() -> PackSpec:
    with opened_pack(PACK) as found:
        return found


@pytest.fixture(scope="module")
def tasks(pack: PackSpec) -> dict[str, TaskSpec]:
    return {task.spec.key: task.spec for task in pack.tasks}


def files_of_the_pack() -> Iterator[Path]:
    return (path for path in PACK.rglob("*") if path.is_file())


def steps_of(criterion: CriterionSpec) -> Iterator[Mapping[str, Any]]:
    yield from criterion.before
    for outcome in criterion.outcomes:
        yield from outcome.script or ()


def states_of(task: TaskSpec, marks: Marks, *, threshold: float = THRESHOLD) -> dict[str, CriterionState]:
    ordered = in_dependency_order(task.criteria)
    return effective_states(ordered, marks, threshold=threshold, mode=Mode.DAG)


def passed(marks: Sequence[Mark]) -> bool:
    return set(marks) == {Mark.PASS}


def completes(marks: Marks) -> bool:
    return all(passed(each) for each in marks.values())


def recorded_trials() -> dict[str, list[Marks]]:
    return {
        task: [
            marks
            for (candidate, key, _), marks in sorted(EXPECTED.items())
            if (candidate, key) == ("recorded", task)
        ]
        for task in TASKS
    }


def test_the_pack_is_accepted_with_its_three_tasks_in_order(pack: PackSpec) -> None:
    assert pack.facts.key == "asuka-mini"
    assert tuple(task.spec.key for task in pack.tasks) == TASKS


@pytest.mark.parametrize("key", TASKS)
def test_a_task_has_ten_to_sixteen_criteria_of_all_three_kinds(
    tasks: Mapping[str, TaskSpec], key: str
) -> None:
    criteria = tasks[key].criteria
    assert 10 <= len(criteria) <= 16
    assert {criterion.kind for criterion in criteria} == {"presence", "functionality", "robustness"}
    assert all(1 <= criterion.weight <= 5 for criterion in criteria)
    assert len({criterion.weight for criterion in criteria}) >= 3
    assert all(1 <= len(criterion.outcomes) <= 4 for criterion in criteria)


@pytest.mark.parametrize("key", TASKS)
def test_prerequisites_are_at_least_three_layers_deep_and_some_criterion_has_two(
    tasks: Mapping[str, TaskSpec], key: str
) -> None:
    assert len(layers(tasks[key].criteria)) >= 3
    assert any(len(criterion.needs) >= 2 for criterion in tasks[key].criteria)


@pytest.mark.parametrize("key", TASKS)
def test_every_outcome_has_a_script_that_expects_something(tasks: Mapping[str, TaskSpec], key: str) -> None:
    for criterion in tasks[key].criteria:
        for outcome in criterion.outcomes:
            assert outcome.script, outcome.text
            assert "expect_" in json.dumps(outcome.script), outcome.text


@pytest.mark.parametrize("key", TASKS)
def test_every_step_says_in_words_what_it_does(tasks: Mapping[str, TaskSpec], key: str) -> None:
    for criterion in tasks[key].criteria:
        assert [step for step in steps_of(criterion) if not step.get("note")] == []


@pytest.mark.parametrize("key", TASKS)
def test_a_request_is_short_and_its_prd_says_more(tasks: Mapping[str, TaskSpec], key: str) -> None:
    task = tasks[key]
    assert 60 <= len(task.request.split()) <= 120
    assert len(task.prd.split()) > 2 * len(task.request.split())


def test_the_files_are_small_text_and_no_lock_file_is_among_them() -> None:
    paths = list(files_of_the_pack())
    assert sum(path.stat().st_size for path in paths) < 1_500_000
    assert all(path.stat().st_size < 64_000 for path in paths)
    assert {path.suffix for path in paths} <= TEXT_FILES
    assert [path for path in paths if "lock" in path.name] == []


def test_no_application_fetches_anything_from_elsewhere() -> None:
    for path in files_of_the_pack():
        text = path.read_text(encoding="utf-8").replace(NAMESPACE, "")
        # A server may say where it listens; nothing else names an address.
        addresses = [found for found in re.findall(r"https?://\S+", text) if "{address" not in found]
        assert addresses == [], path


def test_packages_are_named_with_exact_versions_and_are_react_and_vite_alone() -> None:
    found = sorted(PACK.glob("candidates/*/*/*/package.json"))
    assert found
    for path in found:
        package = json.loads(path.read_text(encoding="utf-8"))
        wanted = {**package["dependencies"], **package["devDependencies"]}
        assert set(wanted) == {"react", "react-dom", "vite"}
        assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())


def test_every_recorded_round_has_expected_marks_and_the_other_way_round(pack: PackSpec) -> None:
    recorded = {(each.candidate, each.task, each.number) for each in pack.recorded}
    assert recorded == set(EXPECTED)


@pytest.mark.parametrize(("candidate", "key", "number"), ROUNDS)
def test_expected_marks_fit_the_rubric_and_skip_what_the_rules_skip(
    tasks: Mapping[str, TaskSpec], candidate: str, key: str, number: int
) -> None:
    task = tasks[key]
    marks = EXPECTED[candidate, key, number]
    assert list(marks) == [criterion.key for criterion in task.criteria]
    assert {name: state.outcomes for name, state in states_of(task, marks).items()} == dict(marks)


@pytest.mark.parametrize("key", TASKS)
def test_a_failed_prerequisite_really_skips_others_in_round_one(
    tasks: Mapping[str, TaskSpec], key: str
) -> None:
    marks = recorded_trials()[key][0]
    skipped = [name for name, each in marks.items() if set(each) == {Mark.SKIPPED}]
    assert skipped
    states = states_of(tasks[key], marks)
    needs = {criterion.key: criterion.needs for criterion in tasks[key].criteria}
    assert any(
        not is_satisfied(states[parent], threshold=THRESHOLD) for name in skipped for parent in needs[name]
    )


@pytest.mark.parametrize("key", TASKS)
def test_round_two_mends_something_of_round_one(key: str) -> None:
    first, second = recorded_trials()[key][:2]
    assert [name for name in first if not passed(first[name]) and passed(second[name])]


def test_a_failed_criterion_that_is_satisfied_lets_its_dependants_through_at_half_and_not_at_one(
    tasks: Mapping[str, TaskSpec],
) -> None:
    task, marks = tasks["score-atlas"], recorded_trials()["score-atlas"][0]
    assert not passed(marks["search"])
    lenient = states_of(task, marks)["empty-search"]
    strict = states_of(task, marks, threshold=1.0)["empty-search"]
    assert lenient.is_executed
    assert strict.mark is Mark.SKIPPED


def test_score_atlas_alone_completes_and_only_in_its_last_round() -> None:
    trials = recorded_trials()
    done = [
        (key, number)
        for key in TASKS
        for number, marks in enumerate(trials[key], start=1)
        if completes(marks)
    ]
    assert done == [("score-atlas", len(trials["score-atlas"]))]


@pytest.mark.parametrize(
    ("key", "criterion", "worked", "broken"),
    [("score-atlas", "narrow", 1, 2), ("corner-shop", "stock", 2, 3)],
)
def test_a_round_breaks_what_worked_before(key: str, criterion: str, worked: int, broken: int) -> None:
    rounds = recorded_trials()[key]
    assert passed(rounds[worked - 1][criterion])
    assert Mark.FAIL in rounds[broken - 1][criterion]


def test_corner_shop_never_mends_its_impossible_quantities() -> None:
    assert [passed(marks["odd-quantity"]) for marks in recorded_trials()["corner-shop"]] == [False] * 3


def test_shift_planner_gets_better_each_round_and_ends_incomplete() -> None:
    rounds = recorded_trials()["shift-planner"]
    counts = [sum(passed(each) for each in marks.values()) for marks in rounds]
    assert counts == sorted(set(counts))
    assert not completes(rounds[-1])


@pytest.mark.parametrize("key", TASKS)
def test_the_rival_ends_behind_the_first_agent(key: str) -> None:
    last = {
        candidate: max(number for name, task, number in EXPECTED if (name, task) == (candidate, key))
        for candidate in ("recorded", "rival")
    }
    ours, theirs = (
        sum(passed(each) for each in EXPECTED[candidate, key, number].values())
        for candidate, number in last.items()
    )
    assert theirs < ours


def test_the_scores_that_scripts_expect_follow_from_the_data(tasks: Mapping[str, TaskSpec]) -> None:
    scores = scores_by_room_and_year()
    assert f"{scores['Lantern House', 2025]:.1f}" == "78.0"
    assert f"{scores['Marram Reading Room', 2025]:.1f}" == "48.4"
    assert f"{scores['Ferry Hall', 2025]:.1f}" == "51.1"
    assert f"{scores['The Signal Box', 2025]:.1f}" == "47.4"
    assert f"{scores['Samphire Library', 2024]:.1f}" == "58.0"
    assert f"{scores['Causeway Room', 2024]:.1f}" == "36.0"
    assert f"{scores['Ferry Hall', 2023]:.1f}" == "47.8"
    assert scores["Causeway Room", 2025] is None
    assert scores["Breakwater Rooms", 2023] is None
    rubric = json.dumps([[dict(step) for step in steps_of(c)] for c in tasks["score-atlas"].criteria])
    for score in ("78.0", "48.4", "51.1", "47.4", "58.0", "36.0", "47.8"):
        assert score in rubric


def test_the_free_delivery_of_the_shop_is_tried_at_exactly_its_limit() -> None:
    shop = json.loads((PACK / "tasks" / "corner-shop" / "data" / "products.json").read_text(encoding="utf-8"))
    prices = {product["name"]: product["price_cents"] for product in shop["products"]}
    tried = ("Olive oil", "Linen tea towel", "Cardamom buns")
    assert sum(prices[name] for name in tried) == shop["delivery"]["free_from_cents"]


@pytest.mark.parametrize("key", TASKS)
def test_a_workspace_brings_the_task_data_unchanged(key: str) -> None:
    wanted = {path.name: path.read_bytes() for path in (PACK / "tasks" / key / "data").iterdir()}
    for folder in PACK.glob(f"candidates/*/{key}/round_*/data"):
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == wanted


def test_the_head_of_the_pack_states_the_settings_of_a_run() -> None:
    head = tomllib.loads((PACK / "benchmark.toml").read_text(encoding="utf-8"))
    assert head["settings"] == {"threshold": 0.5, "mode": "dag", "max_rounds": 3}


def scores_by_room_and_year() -> dict[tuple[str, int], float | None]:
    """Compute every score from the data, as the PRD says it."""
    folder = PACK / "tasks" / "score-atlas" / "data"
    rooms = json.loads((folder / "rooms.json").read_text(encoding="utf-8"))
    with (folder / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["room"], int(row["year"])): row for row in csv.DictReader(file)}
    return {
        (room["name"], year): weighted_mean(rows.get((room["id"], year), {}), rooms["indicators"])
        for room in rooms["rooms"]
        for year in rooms["years"]
    }


def weighted_mean(row: Mapping[str, str], indicators: Sequence[Mapping[str, Any]]) -> float | None:
    usable = [
        (float(row[each["key"]]), float(each["weight"]))
        for each in indicators
        if re.fullmatch(r"\d+(\.\d+)?", row.get(each["key"], "")) and float(row[each["key"]]) <= 100
    ]
    if len(usable) < 3:
        return None
    return sum(value * weight for value, weight in usable) / sum(weight for _, weight in usable)
