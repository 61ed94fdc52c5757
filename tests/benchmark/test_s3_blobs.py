"""Blobs in an S3 store, over real HTTP: the same promises as on disk, and whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import pytest
from django.core.files.storage import storages
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from benchmark import blobs, snapshots
from benchmark.serving import HELD, blob_response
from proofroom.probes import StoreAwayAnswered
from tests.apart import awaited
from tests.benchmark.s3_server import BUCKET, KEYS, bucket, s3_server

LAMP = hashlib.sha256(b"lamp").hexdigest()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def store(server: str, settings, monkeypatch) -> Any:
    """An empty bucket, which is the blob store, as somebody else sees it."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    use_bucket(settings, server)
    seen = bucket(server)
    seen.objects.all().delete()
    return seen


def use_bucket(settings, address: str) -> None:
    options = {"bucket_name": BUCKET, "location": "ours", "endpoint_url": address}
    settings.STORAGES = {
        **settings.STORAGES,
        "blobs": {
            "BACKEND": "benchmark.s3_blobs.S3Blobs",
            "OPTIONS": options | {"addressing_style": "path", "signature_version": "s3v4"},
        },
    }


def key(digest: str) -> str:
    return f"ours/{digest[:2]}/{digest[2:4]}/{digest}"


def test_bytes_and_files_come_back_under_their_digest_below_the_prefix(store, tmp_path):
    (tmp_path / "a").write_bytes(b"x" * (2 * blobs.CHUNK + 1))

    digests = [blobs.save_bytes(b"lamp"), blobs.save_file(tmp_path / "a"), blobs.save_bytes(b"")]
    blobs.copy_to(digests[1], tmp_path / "b")

    assert digests[0] == LAMP
    assert sorted(found.key for found in store.objects.all()) == sorted(map(key, digests))
    assert (blobs.read_blob(LAMP), blobs.read_blob(LAMP, at_most=2), blobs.size_of(LAMP)) == (
        b"lamp",
        b"la",
        4,
    )
    assert blobs.read_blob(digests[2]) == b""
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()


def test_what_is_stored_is_not_sent_again(store):
    blobs.save_bytes(b"lamp")
    store.Object(key(LAMP)).put(Body=b"lamp", Metadata={"seen": "before"})

    assert blobs.save_bytes(b"lamp") == LAMP

    assert store.Object(key(LAMP)).metadata == {"seen": "before"}


def test_the_store_is_told_the_digest_to_compare_with_what_arrives(store):
    blobs.save_bytes(b"lamp")

    told = store.meta.client.head_object(Bucket=BUCKET, Key=key(LAMP), ChecksumMode="ENABLED")

    assert base64.b64decode(told["ChecksumSHA256"]).hex() == LAMP


def test_bytes_that_were_changed_in_the_store_are_never_taken_for_the_right_ones(store, tmp_path):
    blobs.save_bytes(b"lamp")
    store.Object(key(LAMP)).put(Body=b"l4mp")

    for read in (lambda: blobs.read_blob(LAMP), lambda: blobs.copy_to(LAMP, tmp_path / "x")):
        with pytest.raises(blobs.BlobDamaged, match="are not what was stored"):
            read()
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_says_so_and_is_answered_with_its_hash(store):
    assert not blobs.is_stored(LAMP)
    for read in (blobs.open_blob, blobs.read_blob, blobs.size_of):
        with pytest.raises(blobs.BlobMissing, match="are not in the blob store"):
            read(LAMP)
    response = blob_response(LAMP, media_type="image/png", name="end.png")
    assert isinstance(response, HttpResponse)
    assert (response.status_code, LAMP in response.content.decode()) == (410, True)


def test_an_answer_from_the_store_is_as_inert_as_one_from_disk_and_streamed_where_it_is_large(store):
    content = bytes(range(256)) * (HELD // 256) + b"the end"
    small = blob_response(blobs.save_bytes(b"<script>"), media_type="text/html", name="x.html")
    large = blob_response(blobs.save_bytes(content), media_type="text/plain", name="log")
    assert isinstance(large, StreamingHttpResponse)

    async def collected() -> list[bytes]:
        return [part async for part in cast("AsyncIterator[bytes]", large.streaming_content)]

    assert (small["Content-Type"], small["Content-Disposition"]) == (
        "application/octet-stream",
        'attachment; filename="x.html"',
    )
    assert small["Content-Security-Policy"] == "default-src 'none'; sandbox"
    parts = awaited(collected)
    assert (len(parts) > 1, b"".join(parts)) == (True, content)


def test_a_workspace_travels_through_the_store(store, tmp_path):
    (tmp_path / "one" / "src").mkdir(parents=True)
    (tmp_path / "one" / "src" / "app.js").write_text("start()")
    (tmp_path / "one" / "run.sh").write_text("#!/bin/sh")
    (tmp_path / "one" / "run.sh").chmod(0o755)

    digest = snapshots.take(tmp_path / "one")
    snapshots.restore(digest, tmp_path / "two")

    assert (tmp_path / "two" / "src" / "app.js").read_text() == "start()"
    assert (tmp_path / "two" / "run.sh").stat().st_mode & 0o111
    assert snapshots.take(tmp_path / "two") == digest


def test_threads_share_one_client_and_one_object(store):
    threads = [threading.Thread(target=blobs.save_bytes, args=[b"y" * 300_000]) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(list(store.objects.all())) == 1


def test_a_store_that_is_away_is_one_sentence_without_a_secret(store, settings):
    use_bucket(settings, "http://127.0.0.1:9")

    with pytest.raises(blobs.BlobStoreAway) as away:
        blobs.read_blob(LAMP)
    response = blob_response(LAMP, media_type="text/plain", name="log")

    page = StoreAwayAnswered(lambda _: HttpResponse()).process_exception(
        RequestFactory().get("/trials/1/"), away.value
    )

    assert page is not None
    assert (page.status_code, "does not answer" in page.content.decode()) == (503, True)
    assert "does not answer" in str(away.value)
    assert "PROOFROOM_S3_ENDPOINT" in str(away.value)
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in str(away.value)
    assert response.status_code == 503


def test_a_bucket_that_was_not_made_is_said_to_whoever_asks_whether_all_is_well(store, settings):
    settings.STORAGES["blobs"]["OPTIONS"]["bucket_name"] = "forgotten"
    settings.STORAGES = dict(settings.STORAGES)

    with pytest.raises(blobs.BlobStoreAway, match="has no bucket 'forgotten'"):
        storages["blobs"].reach()  # type: ignore[attr-defined]
