"""Threads about an outcome: between an annotator and the leads, or among the leads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from annotation.blindness import blind_campaigns
from annotation.models import Annotation, Assignment, Campaign, Comment, Item
from annotation.texts import storable
from people.roles import is_lead

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

LONGEST = 4000


class BadComment(ValueError):
    """Raised with a sentence that says what is wrong with a contribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A contribution that opened a thread, and the answers to it."""

    root: Comment
    answers: Sequence[Comment]

    @property
    def newest(self) -> Comment:
        return self.answers[-1] if self.answers else self.root

    @property
    def is_settled(self) -> bool:
        return self.root.settled_at is not None

    @property
    def waits_for_lead(self) -> bool:
        """Whether the set's annotator spoke last and nobody has settled it."""
        annotator = self.root.assignment.annotator_id if self.root.assignment else None
        return not self.is_settled and annotator is not None and self.newest.author_id == annotator


def waiting_for_leads(campaign: Campaign) -> int:
    """Count a campaign's open threads in which the set's annotator spoke last: one query."""
    newest = Comment.objects.filter(Q(pk=OuterRef("pk")) | Q(parent=OuterRef("pk"))).order_by("-pk")
    open_ones = Comment.objects.filter(campaign=campaign, parent=None, settled_at=None).order_by()
    last = open_ones.annotate(last=Subquery(newest.values("author")[:1]))
    return last.filter(last=F("assignment__annotator")).count()


def may_talk(user: User | AnonymousUser, assignment: Assignment) -> bool:
    """Tell whether a person may read and add to a set's threads: its annotator, and leads who are not blind."""
    if assignment.annotator_id is not None and assignment.annotator_id == user.pk:
        return True
    return is_lead(user) and assignment.campaign_id not in blind_campaigns(user)


def of_assignment(assignment: Assignment) -> QuerySet[Comment]:
    """Return every contribution to a set's threads, oldest first."""
    return Comment.objects.filter(assignment=assignment).select_related("author").order_by("pk")


def of_items(items: Iterable[Item]) -> QuerySet[Comment]:
    """Return every contribution about some items, of annotators' threads and of the leads' own."""
    return (
        Comment.objects.filter(item__in=list(items))
        .select_related("author", "assignment__annotator")
        .order_by("pk")
    )


def threads(comments: Iterable[Comment]) -> list[Thread]:
    """Return contributions as threads, those that began first in front; an answer to an answer joins its thread."""
    roots: list[Comment] = []
    answers: dict[int, list[Comment]] = defaultdict(list)
    root_of: dict[int, int] = {}
    for comment in comments:
        root = root_of.get(comment.parent_id) if comment.parent_id else None
        if root is None:
            roots.append(comment)
            root_of[comment.pk] = comment.pk
        else:
            answers[root].append(comment)
            root_of[comment.pk] = root
    return [Thread(root=root, answers=answers[root.pk]) for root in roots]


def add_to_assignment(annotation: Annotation, *, by: User, text: str, parent: int | None = None) -> Comment:
    """Add to the thread between a set's annotator and the leads; raises BadComment."""
    return _add(
        annotation.assignment.campaign,
        annotation.item,
        annotation.assignment,
        by=by,
        text=text,
        parent=parent,
    )


def add_among_leads(item: Item, *, by: User, text: str, parent: int | None = None) -> Comment:
    """Add to the leads' own thread about an item, which no annotator sees; raises BadComment."""
    return _add(item.campaign, item, None, by=by, text=text, parent=parent)


def answer(root: Comment, *, by: User, text: str) -> Comment:
    """Add to the thread that a contribution belongs to; raises BadComment."""
    return _add(root.campaign, root.item, root.assignment, by=by, text=text, parent=root.pk)


def settle(root: Comment) -> None:
    """Say that nothing more is to be said; the thread stays readable."""
    Comment.objects.filter(pk=root.pk, settled_at=None).update(settled_at=timezone.now())


def _add(
    campaign: Campaign, item: Item, assignment: Assignment | None, *, by: User, text: str, parent: int | None
) -> Comment:
    text = storable(text).replace("\r\n", "\n").strip()
    if not text:
        raise BadComment("The comment is empty.")
    if len(text) > LONGEST:
        raise BadComment(f"The comment has {len(text):,} characters; it takes at most {LONGEST:,}.")
    root = None
    if parent is not None:
        # Only within the same thread: an answer never carries words to somebody who may not see them.
        root = Comment.objects.filter(pk=parent, item=item, assignment=assignment).first()
        if root is None:
            raise BadComment("What this answers is not part of this thread.")
        root = root.parent or root
        # Who answers has something to say: the thread is open again.
        Comment.objects.filter(pk=root.pk).update(settled_at=None)
    return Comment.objects.create(
        campaign=campaign, item=item, assignment=assignment, parent=root, author=by, text=text
    )
