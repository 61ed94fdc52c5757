"""A written file is whole or not there, and what is no file is never replaced by one."""

import os
import stat
import threading

import pytest

from benchmark.whole_files import whole_file


class Trouble(Exception):
    pass


def write_half(target):
    with whole_file(target) as out:
        out.write(b"ne")
        raise Trouble


def test_the_old_content_stays_until_the_new_one_is_whole(tmp_path):
    target = tmp_path / "numbers.csv"
    target.write_bytes(b"old")

    with whole_file(target) as out:
        out.write(b"new")
        out.flush()
        assert target.read_bytes() == b"old"

    assert target.read_bytes() == b"new"


def test_what_fails_half_way_leaves_the_old_content_and_no_part(tmp_path):
    target = tmp_path / "numbers.csv"
    target.write_bytes(b"old")

    with pytest.raises(Trouble):
        write_half(target)

    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "numbers.csv"
    link.symlink_to(tmp_path / "there" / "numbers.csv")

    with whole_file(link) as out:
        out.write(b"new")

    assert link.is_symlink()
    assert (tmp_path / "there" / "numbers.csv").read_bytes() == b"new"


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    came: list[bytes] = []
    reader = threading.Thread(target=lambda: came.append(pipe.read_bytes()))
    reader.start()

    with whole_file(pipe) as out:
        out.write(b"new")
    reader.join(30)

    assert came == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_to_a_pipe_without_a_path_is_written_through(tmp_path):
    reading, writing = os.pipe()
    link = tmp_path / "out"
    link.symlink_to(f"/proc/self/fd/{writing}")
    if not link.exists():
        pytest.skip("this system gives open files no address below /proc")

    with whole_file(link) as out:
        out.write(b"new")
    os.close(writing)

    with os.fdopen(reading, "rb") as came:
        assert came.read() == b"new"
    assert link.is_symlink()
