"""The marks that the scripted judge gives every recorded round of asuka-mini (mode dag, T = 0.5)."""

from __future__ import annotations

from collections.abc import Mapping

from benchmark.rules.vocabulary import Mark

type Marks = Mapping[str, tuple[Mark, ...]]

_LETTERS = {"p": Mark.PASS, "f": Mark.FAIL, "s": Mark.SKIPPED}


def _marks(text: str) -> Marks:
    """Read `criterion:marks` pairs, a letter for each outcome."""
    pairs = (pair.split(":") for pair in text.split())
    return {key: tuple(_LETTERS[letter] for letter in letters) for key, letters in pairs}


EXPECTED: Mapping[tuple[str, str, int], Marks] = {
    ("recorded", "score-atlas", 1): _marks(
        "page:pp table:ppp chart:pp score:fff year:sss sort:ppp search:ppf filter:pp combined:pp "
        "tooltip:pf detail:ssss missing:sss empty-search:pf keyboard:ss reload:s narrow:pp"
    ),
    ("recorded", "score-atlas", 2): _marks(
        "page:pp table:ppp chart:pp score:ppp year:ppp sort:ppp search:ppp filter:pp combined:pp "
        "tooltip:pp detail:pppp missing:fpp empty-search:pp keyboard:pf reload:f narrow:fp"
    ),
    ("recorded", "score-atlas", 3): _marks(
        "page:pp table:ppp chart:pp score:ppp year:ppp sort:ppp search:ppp filter:pp combined:pp "
        "tooltip:pp detail:pppp missing:ppp empty-search:pp keyboard:pp reload:p narrow:pp"
    ),
    ("recorded", "corner-shop", 1): _marks(
        "catalogue:ppp basket-link:p categories:pp add:pp quantity:ppp totals:fff stock:ppp "
        "checkout-form:p order:sss validation:pfp empty-basket:pp reload:f odd-quantity:fp "
        "double-click:ss narrow:pfp console:p"
    ),
    ("recorded", "corner-shop", 2): _marks(
        "catalogue:ppp basket-link:p categories:pp add:pp quantity:ppp totals:ppp stock:ppp "
        "checkout-form:p order:ppp validation:ppp empty-basket:pp reload:p odd-quantity:fp "
        "double-click:fp narrow:pfp console:p"
    ),
    ("recorded", "corner-shop", 3): _marks(
        "catalogue:ppp basket-link:p categories:pp add:pp quantity:ppp totals:ppp stock:fff "
        "checkout-form:p order:ppp validation:ppp empty-basket:pp reload:p odd-quantity:ff "
        "double-click:pp narrow:ppp console:p"
    ),
    ("recorded", "shift-planner", 1): _marks(
        "board:ppp shifts:pp form:pp hours:ppf add:fpf conflict:sss move:pf undo:sss filter:pp export:pf "
        "night:ss bad-times:sss keyboard:fff unknown:fp reload:s narrow:fp"
    ),
    ("recorded", "shift-planner", 2): _marks(
        "board:ppp shifts:pp form:pp hours:ppp add:ppp conflict:pfp move:pp undo:ppf filter:pp export:pp "
        "night:pf bad-times:ppf keyboard:pfp unknown:pp reload:f narrow:pp"
    ),
    ("recorded", "shift-planner", 3): _marks(
        "board:ppp shifts:pp form:pp hours:ppp add:ppp conflict:ppp move:pp undo:ppp filter:pp export:pp "
        "night:pf bad-times:ppp keyboard:pfp unknown:pp reload:p narrow:pp"
    ),
    ("rival", "score-atlas", 1): _marks(
        "page:pp table:ppp chart:pp score:ppp year:ppp sort:pff search:ppp filter:pp combined:pp "
        "tooltip:ff detail:ffff missing:sss empty-search:pp keyboard:ss reload:f narrow:fp"
    ),
    ("rival", "score-atlas", 2): _marks(
        "page:pp table:ppp chart:pp score:ppp year:ppp sort:ppp search:ppp filter:pp combined:pp "
        "tooltip:ff detail:pfpp missing:fff empty-search:ff keyboard:ff reload:f narrow:fp"
    ),
    ("rival", "corner-shop", 1): _marks(
        "catalogue:ppp basket-link:p categories:pp add:pp quantity:pfp totals:ppp stock:fff "
        "checkout-form:p order:fpp validation:fff empty-basket:pp reload:p odd-quantity:ff "
        "double-click:pp narrow:ppp console:p"
    ),
    ("rival", "corner-shop", 2): _marks(
        "catalogue:ppp basket-link:p categories:pp add:pp quantity:ppp totals:pfp stock:ppp "
        "checkout-form:p order:fpp validation:ppf empty-basket:pp reload:p odd-quantity:fp "
        "double-click:pp narrow:ppp console:p"
    ),
    ("rival", "shift-planner", 1): _marks(
        "board:ppp shifts:pp form:pp hours:ppf add:ppp conflict:fpp move:ff undo:sss filter:pp export:pf "
        "night:ff bad-times:fff keyboard:sss unknown:fp reload:p narrow:fp"
    ),
}
"""By candidate, task and round."""
