"""Lay out a rubric's graph: layers by depth, few crossings, large graphs folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from benchmark.display import Look

LINE_HEIGHT = 14
ONE_LINE = 30
TWO_LINES = 42
ROW_GAP = 26
NODE_GAP = 6
EDGE_MARGIN = 8
NARROWEST_NODE = 104
WIDEST_NODE = 190
MOST_NODES = 60
_CHARACTER = 6.3
_GLYPH = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What is drawn for one criterion, or for several that were folded into one (`folded` of them)."""

    key: str
    label: str
    needs: tuple[str, ...] = ()
    look: Look | None = None
    href: str = ""
    is_current: bool = False
    folded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A node at its place. `lines` are cut to fit; the whole text is `title`."""

    node: Node
    x: float
    y: float
    width: float
    height: int
    lines: tuple[str, ...]
    title: str
    parents: str
    children: str

    @property
    def text_x(self) -> float:
        return self.x + (_GLYPH if self.node.look else 10)

    @property
    def placed_lines(self) -> tuple[tuple[float, str], ...]:
        """Each line with the height of its base line."""
        first = self.y + self.height / 2 + 4 - LINE_HEIGHT * (len(self.lines) - 1) / 2
        return tuple((first + LINE_HEIGHT * place, line) for place, line in enumerate(self.lines))

    @property
    def glyph_x(self) -> float:
        return self.x + 7

    @property
    def glyph_y(self) -> float:
        return self.y + self.height / 2 - 7

    @property
    def ring(self) -> tuple[float, float, float, float]:
        return (self.x - 2.5, self.y - 2.5, self.width + 5, self.height + 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A curve from a prerequisite down to what needs it."""

    path: str
    is_skipped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Boxes and edges on a plane of `width` x `height`; `note` says what was folded or left out."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    note: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.boxes


def drawing_of(nodes: Sequence[Node], *, width: int) -> Drawing:
    """Draw nodes top-down within `width`; above 60 nodes, satisfied branches and twigs fold."""
    shown, note = _folded(nodes)
    if len(shown) > MOST_NODES:
        return Drawing(
            width=width,
            height=0,
            boxes=(),
            edges=(),
            note=f"This graph of {len(nodes):,} criteria is too large to draw. The list below holds all of them.",
        )
    known = {node.key for node in shown}
    shown = [replace(node, needs=tuple(key for key in node.needs if key in known)) for node in shown]
    rows = _rows(_ordered(_layers(shown)), width)
    return _placed(rows, width=width, note=note)


def layers_of(needs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The depth of each key: 0 without prerequisites, else one more than its deepest one."""
    depths: dict[str, int] = {}
    for start in needs:
        pending = [start]
        while pending:
            key = pending[-1]
            open_ones = [need for need in needs[key] if need in needs and need not in depths]
            if key in depths or not open_ones:
                pending.pop()
                depths.setdefault(key, 1 + max((depths[n] for n in needs[key] if n in depths), default=-1))
            else:
                pending.extend(open_ones)
    return depths


def _folded(nodes: Sequence[Node]) -> tuple[list[Node], str]:
    if len(nodes) <= MOST_NODES:
        return list(nodes), ""
    left = _fold(nodes, _satisfied_branches(nodes), "passed")
    if len(left) > MOST_NODES:
        left = _fold(left, _twigs(left), "criteria")
    hidden = sum(node.folded for node in left)
    return left, f"{hidden:,} of {len(nodes):,} criteria are folded; the list holds all of them."


def _satisfied_branches(nodes: Sequence[Node]) -> set[str]:
    """Keys of criteria that passed and all of whose dependants, near and far, passed as well."""
    needed_by = _dependants(nodes)
    by_key = {node.key: node for node in nodes}
    depths = layers_of({node.key: node.needs for node in nodes})
    foldable: set[str] = set()
    for key in sorted(by_key, key=lambda key: -depths[key]):
        if by_key[key].look is Look.PASS and needed_by[key] <= foldable:
            foldable.add(key)
    return foldable


def _twigs(nodes: Sequence[Node]) -> set[str]:
    """Keys of criteria that nothing depends on and that are not already folds."""
    needed_by = _dependants(nodes)
    return {node.key for node in nodes if not needed_by[node.key] and not node.folded}


def _fold(nodes: Sequence[Node], keys: set[str], noun: str) -> list[Node]:
    kept = [node for node in nodes if node.key not in keys]
    names = {node.key for node in kept}
    bundles: dict[tuple[str, ...], list[Node]] = defaultdict(list)
    for node in nodes:
        if node.key in keys:
            bundles[tuple(need for need in node.needs if need in names)].append(node)
    for number, (needs, bundle) in enumerate(bundles.items()):
        looks = {node.look for node in bundle}
        kept.append(
            Node(
                key=f"fold {number} {noun}",
                label=f"{len(bundle):,} {noun}",
                needs=needs,
                look=looks.pop() if len(looks) == 1 else None,
                folded=len(bundle),
            )
        )
    return kept


def _dependants(nodes: Sequence[Node]) -> dict[str, set[str]]:
    needed_by: dict[str, set[str]] = {node.key: set() for node in nodes}
    for node in nodes:
        for need in node.needs:
            if need in needed_by:
                needed_by[need].add(node.key)
    return needed_by


def _layers(nodes: Sequence[Node]) -> list[list[Node]]:
    depths = layers_of({node.key: node.needs for node in nodes})
    layers: list[list[Node]] = [[] for _ in range(1 + max(depths.values(), default=-1))]
    for node in nodes:
        layers[depths[node.key]].append(node)
    return layers


def _ordered(layers: list[list[Node]]) -> list[list[Node]]:
    """Order each layer by the mean place of its neighbours, down and up a few times."""
    if not layers:
        return layers
    needed_by = _dependants([node for layer in layers for node in layer])
    for _ in range(3):
        for upper, lower in pairwise(layers):
            _sort_by_neighbours(lower, upper, {node.key: set(node.needs) for node in lower})
        for lower, upper in pairwise(reversed(layers)):
            _sort_by_neighbours(upper, lower, needed_by)
    return layers


def _sort_by_neighbours(layer: list[Node], other: list[Node], near: Mapping[str, set[str]]) -> None:
    places = {node.key: place / max(len(other), 1) for place, node in enumerate(other)}
    own = {node.key: place / max(len(layer), 1) for place, node in enumerate(layer)}

    def centre(node: Node) -> float:
        found = [places[key] for key in near[node.key] if key in places]
        return sum(found) / len(found) if found else own[node.key]

    layer.sort(key=centre)


def _rows(layers: list[list[Node]], width: int) -> list[list[Node]]:
    """Break layers that are too wide for the plane, so that text is never scaled down."""
    most = max(1, (width - 2 * EDGE_MARGIN + NODE_GAP) // (NARROWEST_NODE + NODE_GAP))
    rows: list[list[Node]] = []
    for layer in layers:
        count = -(-len(layer) // most)
        size = -(-len(layer) // count)
        rows.extend(layer[start : start + size] for start in range(0, len(layer), size))
    return rows


def _placed(rows: list[list[Node]], *, width: int, note: str) -> Drawing:
    fullest = max((len(row) for row in rows), default=1)
    room = (width - 2 * EDGE_MARGIN - (fullest - 1) * NODE_GAP) / fullest
    node_width = min(WIDEST_NODE, room)
    needed_by = _dependants([node for row in rows for node in row])
    lines = {
        node.key: _lines(node.label, node_width - (_GLYPH if node.look else 10) - 6)
        for row in rows
        for node in row
    }
    height = TWO_LINES if any(len(each) > 1 for each in lines.values()) else ONE_LINE
    boxes: dict[str, Box] = {}
    y = float(EDGE_MARGIN)
    for row in rows:
        gap = min(28.0, _spread(row, width, node_width))
        x = (width - len(row) * node_width - (len(row) - 1) * gap) / 2
        for node in row:
            boxes[node.key] = Box(
                node=node,
                x=round(x, 1),
                y=y,
                width=round(node_width, 1),
                height=height,
                lines=lines[node.key],
                title=node.label,
                parents=" ".join(node.needs),
                children=" ".join(sorted(needed_by[node.key])),
            )
            x += node_width + gap
        y += height + ROW_GAP
    edges = [
        Edge(path=_curve(boxes[need], box), is_skipped=box.node.look is Look.SKIPPED)
        for box in boxes.values()
        for need in box.node.needs
    ]
    tall = int(y - ROW_GAP + EDGE_MARGIN) if rows else 0
    return Drawing(width=width, height=tall, boxes=tuple(boxes.values()), edges=tuple(edges), note=note)


def _spread(row: list[Node], width: int, node_width: float) -> float:
    free = width - 2 * EDGE_MARGIN - len(row) * node_width
    return max(float(NODE_GAP), free / (len(row) + 1))


def _curve(upper: Box, lower: Box) -> str:
    x1, y1 = upper.x + upper.width / 2, upper.y + upper.height
    x2, y2 = lower.x + lower.width / 2, lower.y
    bend = min(22.0, (y2 - y1) / 2 + 3)
    return f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"


def _lines(label: str, room: float) -> tuple[str, ...]:
    """The label on one line, or broken at a blank into two, the second one cut to fit."""
    most = max(3, int(room / _CHARACTER))
    if len(label) <= most:
        return (label,)
    break_at = label.rfind(" ", 0, most + 1)
    if break_at < most // 3:
        return (_cut(label, most),)
    return (label[:break_at], _cut(label[break_at + 1 :], most))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
