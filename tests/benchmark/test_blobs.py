"""Blobs are stored once under what they hold."""

from __future__ import annotations

import hashlib
import shutil
import threading

import pytest

from benchmark import blobs


def test_bytes_come_back_under_their_digest():
    digest = blobs.save_bytes(b"lamp")

    assert digest == hashlib.sha256(b"lamp").hexdigest()
    assert blobs.is_stored(digest)
    assert blobs.read_blob(digest) == b"lamp"
    assert blobs.read_blob(digest, at_most=2) == b"la"
    assert blobs.size_of(digest) == 4
    assert b"".join(blobs.chunks_of(digest)) == b"lamp"


def test_a_file_is_stored_like_its_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * (blobs.CHUNK + 1))

    digest = blobs.save_file(tmp_path / "a")
    blobs.copy_to(digest, tmp_path / "b")

    assert digest == blobs.save_bytes(b"x" * (blobs.CHUNK + 1))
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


def test_a_write_that_breaks_off_leaves_no_half_blob_behind(own_blobs, monkeypatch):
    def full(source, target, length):
        target.write(source.read(10))
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfileobj", full)
        with pytest.raises(OSError, match="No space left"):
            blobs.save_bytes(b"z" * 100)
    digest = hashlib.sha256(b"z" * 100).hexdigest()
    assert not blobs.is_stored(digest)
    assert not [path for path in own_blobs.rglob("*") if path.is_file()]

    blobs.save_bytes(b"z" * 100)

    assert blobs.read_blob(digest) == b"z" * 100


def test_the_same_bytes_are_one_file_however_often_and_at_once_they_are_saved(own_blobs):
    content = b"y" * 300_000
    threads = [threading.Thread(target=blobs.save_bytes, args=[content]) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    stored = [path for path in own_blobs.rglob("*") if path.is_file()]
    assert [path.name for path in stored] == [hashlib.sha256(content).hexdigest()]


def test_what_is_missing_or_no_digest_says_so(tmp_path):
    missing = "0" * 64

    assert not blobs.is_stored(missing)
    for read in (blobs.open_blob, blobs.read_blob, blobs.size_of):
        with pytest.raises(blobs.BlobMissing, match="000000000000 are not in the blob store"):
            read(missing)
    with pytest.raises(blobs.BlobMissing):
        blobs.copy_to(missing, tmp_path / "x")
    with pytest.raises(ValueError, match=r"'\.\./secret' is not a SHA-256 digest"):
        blobs.read_blob("../secret")
    assert list(tmp_path.iterdir()) == []
