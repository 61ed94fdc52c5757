"""What a keeper sees of memory that was held for less time than lies between two of its looks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runs.adapters.sandboxes import watching

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")

LIMIT = 100 << 20
# A process of its own, because children of the tests' process would be seen too.
WATCHER = f"""
import json, os, subprocess, sys
import watching

def hit(source, *, look):
    child = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    watch = watching.Watch({{"memory": {LIMIT}}}, ancestor=os.getpid(), roots=[])
    if look == "last":
        child.communicate()
        return watch.last_look(signal_number=0)
    found = watch.look()
    child.communicate(b"\\n")
    return found

print(json.dumps([hit(sys.argv[1], look=sys.argv[2])]))
"""
GIVEN_BACK = "held = b'x' * (130 << 20)\ndel held\nprint(flush=True)\ninput()"
DIED = "held = b'x' * (130 << 20)\nprint(flush=True)\nraise SystemExit(1)"
LITTLE = "print(flush=True)\ninput()"


def seen(source: str, *, look: str):
    done = subprocess.run(
        [sys.executable, "-c", WATCHER, source, look],
        env={"PYTHONPATH": str(Path(watching.__file__).parent)},
        capture_output=True,
        check=True,
        text=True,
    )
    (hit,) = json.loads(done.stdout)
    return hit


def test_memory_that_was_given_back_before_the_look_is_seen():
    hit = seen(GIVEN_BACK, look="first")

    assert (hit["kind"], hit["limit"]) == ("memory", LIMIT)
    assert hit["seen"] > LIMIT


def test_memory_of_a_process_that_has_died_since_is_seen_at_the_last_look():
    hit = seen(DIED, look="last")

    assert (hit["kind"], hit["limit"]) == ("memory", LIMIT)
    assert hit["seen"] > LIMIT


@pytest.mark.parametrize("look", ["first", "last"])
def test_a_process_below_the_limit_is_left_alone(look):
    assert seen(LITTLE, look=look) is None
