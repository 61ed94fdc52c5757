"""Keep account of one call to judge: what waits, what is being judged, what was lost how often."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from benchmark.rules.records import CriterionSpec


class Work:
    """The criteria of one call; a criterion that is lost more often than `retries` is given up.

    Two keys may not be the same. Criteria that were at work when the judge's process ended are
    suspects: they are asked for one by one, so that the one at fault takes no other with it.
    """

    def __init__(self, criteria: Sequence[CriterionSpec], *, retries: int) -> None:
        self._unsent = {criterion.key: criterion for criterion in criteria}
        self._sent: dict[str, CriterionSpec] = {}
        self._begun: set[str] = set()
        self._announced: set[str] = set()
        self._suspects: set[str] = set()
        self._losses: Counter[str] = Counter()
        self._retries = retries
        self._failed_starts = 0
        self._heard = time.monotonic()
        self.is_ready = True

    @property
    def is_unfinished(self) -> bool:
        return bool(self._unsent or self._sent)

    def to_send(self) -> list[CriterionSpec]:
        """Return what to ask for now: all, but suspects of having ended the child one by one."""
        if self._suspects:
            keys = [key for key in self._unsent if key in self._suspects][:1] if not self._sent else []
        else:
            keys = list(self._unsent)
        for key in keys:
            self._sent[key] = self._unsent.pop(key)
        return [self._sent[key] for key in keys]

    def begin(self, key: str) -> bool:
        """Note that a criterion began; answers whether this is news."""
        self._begun.add(key)
        is_news = key in self._sent and key not in self._announced
        self._announced.add(key)
        return is_news

    def finish(self, key: str) -> bool:
        self._begun.discard(key)
        self._suspects.discard(key)
        return self._sent.pop(key, None) is not None

    def lost(self) -> list[CriterionSpec]:
        """Take back what was sent; return what was lost too often."""
        given_up = []
        for key in list(self._sent):
            criterion = self._sent.pop(key)
            if key in self._begun:
                self._losses[key] += 1
                self._suspects.add(key)
            if self._losses[key] > self._retries:
                self._suspects.discard(key)
                given_up.append(criterion)
            else:
                self._unsent[key] = criterion
        self._begun.clear()
        return given_up

    def take_all(self) -> list[CriterionSpec]:
        taken = [*self._sent.values(), *self._unsent.values()]
        self._sent.clear()
        self._unsent.clear()
        return taken

    def wait_for_ready(self) -> None:
        self.is_ready = False
        self.heard()

    def may_start_again(self) -> bool:
        self._failed_starts += 1
        return self._failed_starts <= min(self._retries, 2)

    def heard(self) -> None:
        self._heard = time.monotonic()

    def silent_for(self) -> float:
        return time.monotonic() - self._heard
