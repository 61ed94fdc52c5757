"""Known failures of the bench, told apart from failures of a candidate."""


class StageError(Exception):
    """The bench could not do its part; the message is one sentence for a person.

    The trial stays resumable and its marks are `error`, never `fail`.
    """


class Cancelled(Exception):
    """The run was cancelled while a stage was at work."""
