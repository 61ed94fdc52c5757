"""The closed lists of annotation: how a campaign is set up and what a person may say."""

from __future__ import annotations

from enum import StrEnum

from benchmark.rules.vocabulary import Mark


class CampaignState(StrEnum):
    """Being planned, at work, or over."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"


class AssignmentState(StrEnum):
    """Still to be worked on, handed in, or taken back from somebody who left."""

    OPEN = "open"
    SUBMITTED = "submitted"
    EXPIRED = "expired"


class MarkSet(StrEnum):
    """What is asked of an annotator: marks on outcomes, or ratings of a whole trial."""

    BINARY = "binary"
    THREE = "three"
    SCALES = "scales"

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks that a person may give, worst first; none where ratings are asked."""
        if self is MarkSet.BINARY:
            return (Mark.FAIL, Mark.PASS)
        return (Mark.FAIL, Mark.PARTIAL, Mark.PASS) if self is MarkSet.THREE else ()


class Centre(StrEnum):
    """What an annotator looks at."""

    LIVE = "live"
    EVIDENCE = "evidence"
    FILES = "files"


class SampleMethod(StrEnum):
    """How outcomes are drawn: all, so many of each project (task), or by strata."""

    ALL = "all"
    PER_PROJECT = "per_project"
    STRATIFIED = "stratified"


class Stratum(StrEnum):
    """What a stratified sample is balanced over."""

    AGENT = "agent"
    KIND = "kind"
    MARK = "mark"


class OverlapUnit(StrEnum):
    """What is given to several people: whole trials, or single outcomes."""

    TRIAL = "trial"
    OUTCOME = "outcome"


class Distribution(StrEnum):
    """Who gets which set: people take the next free one, or all are given out at the opening."""

    QUEUE = "queue"
    PLANNED = "planned"


class Change(StrEnum):
    """What one operation of an annotator does."""

    MARK = "mark"
    SCORE = "score"
    PROBLEM = "problem"
    NOTE = "note"
    CLEAR = "clear"
    UNDO = "undo"


class EnvironmentProblem(StrEnum):
    """Why an outcome cannot be judged here; never a fail of the candidate."""

    NOT_STARTED = "not_started"
    DIED = "died"
    BLOCKED = "blocked"
    TOOL = "tool"
    DATA = "data"
    OTHER = "other"

    @property
    def words(self) -> str:
        """The reason as people say it."""
        return _PROBLEM_WORDS[self]


class PictureSource(StrEnum):
    """How a screenshot of an annotator came."""

    PASTE = "paste"
    UPLOAD = "upload"
    CAPTURE = "capture"


_PROBLEM_WORDS = {
    EnvironmentProblem.NOT_STARTED: "The application did not start here",
    EnvironmentProblem.DIED: "The application died while I used it",
    EnvironmentProblem.BLOCKED: "My browser or network refused something",
    EnvironmentProblem.TOOL: "Proofroom itself did not work",
    EnvironmentProblem.DATA: "Data or an account that is needed is missing",
    EnvironmentProblem.OTHER: "Something else, see the note",
}
