"""Logs keep their beginning and end, and what is kept can be shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.adapters.sandboxes import BoundedLog, readable


def test_short_log_is_kept_whole():
    log = BoundedLog(keep_bytes=100)
    log.add(b"one\n")
    log.add(b"two\n")

    assert log.text() == "one\ntwo\n"


def test_long_log_keeps_both_ends_and_counts_the_middle():
    log = BoundedLog(keep_bytes=10)
    for digit in b"0123456789ABCDEFGHIJ":
        log.add(bytes([digit]))

    # 20 bytes came, 5 + 5 are kept.
    assert log.text() == "01234\n[... 10 bytes left out ...]\nFGHIJ"


@given(st.lists(st.binary(max_size=30)), st.integers(2, 40))
def test_every_byte_is_kept_or_counted(pieces, keep):
    log = BoundedLog(keep_bytes=keep)
    for piece in pieces:
        log.add(piece)
    whole = b"".join(pieces)
    half = keep // 2

    assert log.seen == len(whole)
    if len(whole) <= 2 * half:
        assert log.text() == readable(whole)
    else:
        assert log.text().startswith(readable(whole[:half]))
        assert log.text().endswith(readable(whole[-half:]))
        assert f"{len(whole) - 2 * half:,} bytes left out" in log.text()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"a\x00b\x07", "a\ufffdb\ufffd"),
        (b"caf\xc3\xa9 \xff", "café \\xff"),
        (b"one\r\ntwo\rthree\ttab", "one\ntwo\nthree\ttab"),
    ],
)
def test_text_is_made_readable(raw, shown):
    assert readable(raw) == shown


@given(st.binary())
def test_readable_text_fits_any_database(raw):
    text = readable(raw)

    text.encode()
    assert "\0" not in text
    assert "\x1b" not in text
