"""The layout of a rubric's graph."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from benchmark.display import Look
from benchmark.drawing import MOST_NODES, Node, drawing_of, layers_of


def test_a_criterion_lies_below_everything_it_needs():
    drawing = drawing_of(
        [
            Node(key="c0", label="Layout"),
            Node(key="c1", label="Search", needs=("c0",)),
            Node(key="c2", label="Filter", needs=("c0", "c1")),
        ],
        width=468,
    )

    heights = {box.node.key: box.y for box in drawing.boxes}
    assert heights["c0"] < heights["c1"] < heights["c2"]
    assert len(drawing.edges) == 3


def test_a_wide_layer_breaks_into_rows_instead_of_shrinking_its_words():
    drawing = drawing_of([Node(key=f"c{n}", label=f"Criterion {n}") for n in range(12)], width=468)

    assert all(box.width >= 100 for box in drawing.boxes)
    assert all(box.x >= 0 and box.x + box.width <= 468 for box in drawing.boxes)
    assert len({box.y for box in drawing.boxes}) == 3


def test_a_long_label_takes_two_lines_and_keeps_its_whole_text_as_title():
    label = "Both filters work together and say what is left"
    drawing = drawing_of([Node(key=f"c{n}", label=label) for n in range(4)], width=468)

    box = drawing.boxes[0]
    assert len(box.lines) == 2
    assert box.lines[1].endswith("…")
    assert box.title == label


def test_above_sixty_nodes_branches_that_passed_fold_and_a_failure_stays_visible():
    nodes = [Node(key="root", label="Root", look=Look.PASS)]
    nodes += [Node(key=f"p{n}", label="Fine", needs=("root",), look=Look.PASS) for n in range(80)]
    nodes += [Node(key="bad", label="Broken", needs=("root",), look=Look.FAIL)]

    drawing = drawing_of(nodes, width=880)

    keys = {box.node.key for box in drawing.boxes}
    assert {"root", "bad"} <= keys
    assert len(drawing.boxes) == 3
    assert "80 of 82 criteria are folded" in drawing.note


def test_a_graph_that_cannot_be_folded_is_not_drawn_and_says_so():
    chain = [Node(key=f"c{n}", label="x", needs=(f"c{n - 1}",) if n else ()) for n in range(200)]

    drawing = drawing_of(chain, width=880)

    assert drawing.is_empty
    assert "The list below holds all of them" in drawing.note


def test_five_thousand_criteria_without_prerequisites_fold_into_one_box():
    drawing = drawing_of([Node(key=f"c{n}", label="x") for n in range(5000)], width=880)

    assert [box.title for box in drawing.boxes] == ["5,000 criteria"]


def test_depth_of_a_long_chain_needs_no_recursion():
    depths = layers_of({str(n): [str(n - 1)] if n else [] for n in range(5000)})

    assert depths["4999"] == 4999


@given(st.lists(st.lists(st.integers(0, 29), max_size=2, unique=True), min_size=1, max_size=30))
def test_no_two_boxes_of_any_graph_overlap(needs):
    nodes = [
        Node(key=str(place), label="word " * 3, needs=tuple(str(n) for n in wanted if n < place))
        for place, wanted in enumerate(needs)
    ]

    drawing = drawing_of(nodes, width=700)

    assert len(drawing.boxes) == len(nodes) <= MOST_NODES
    rows: dict[float, list[tuple[float, float]]] = {}
    for box in drawing.boxes:
        rows.setdefault(box.y, []).append((box.x, box.x + box.width))
    for row in rows.values():
        row.sort()
        assert all(left[1] <= right[0] for left, right in pairwise(row))
