"""Out of memory of a candidate is told apart from out of memory of the machine."""

import pytest

from runs.adapters.sandboxes import Ending
from runs.adapters.sandboxes.reports import report_of
from runs.ports import LimitHit, LimitKind

LIMIT = 1000


def told(**changes):
    """Return what a keeper tells of a command that the kernel killed, with changes."""
    message = {
        "ending": "finished",
        "status": -9,
        "killed": 0,
        "left_behind": 0,
        "survivors": 0,
        "seconds": 7.0,
        "seconds_to_end": 0.1,
        "hit": None,
        "peak_memory": 100,
        "out_of_memory_kills": 1,
    }
    return report_of(message | changes, asked=None, deadline=None, memory_limit=LIMIT, ports_left=())


def test_small_command_that_the_kernel_killed_for_memory_is_no_fault_of_its_own():
    assert told().machine_out_of_memory


@pytest.mark.parametrize(
    "changes",
    [
        {"out_of_memory_kills": 0},
        {"status": 1},
        {"peak_memory": 900},
        {"ending": "cancelled"},
    ],
    ids=["nobody was killed for memory", "it ended by itself", "it was near its own limit", "we ended it"],
)
def test_otherwise_the_machine_is_not_blamed(changes):
    assert not told(**changes).machine_out_of_memory


def test_killed_command_in_a_box_tells_its_signal_as_a_code():
    assert told(status=137).machine_out_of_memory


def test_limit_that_the_keeper_names_and_the_deadline_are_both_told():
    hit = {"kind": "memory", "limit": 1000, "seen": 1200}
    assert told(ending="limit", hit=hit).limits_hit == (
        LimitHit(kind=LimitKind.MEMORY, limit=1000, seen=1200),
    )

    late = report_of(
        {
            "ending": "deadline",
            "status": -15,
            "killed": 0,
            "left_behind": 0,
            "survivors": 0,
            "seconds": 5.1,
            "seconds_to_end": 0,
            "hit": None,
            "peak_memory": 0,
            "out_of_memory_kills": 0,
        },
        asked=Ending.CANCELLED,
        deadline=5.0,
        memory_limit=None,
        ports_left=(),
    )
    assert late.limits_hit == (LimitHit(kind=LimitKind.WALL_CLOCK, limit=5.0, seen=5.1),)
    assert late.ending is Ending.DEADLINE
