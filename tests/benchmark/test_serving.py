"""Blobs as answers: shown only where that is harmless, streamed where they are large."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

import pytest
from django.http import HttpResponse, StreamingHttpResponse

from benchmark import blobs
from benchmark.serving import HELD, blob_response
from tests.apart import awaited


@pytest.mark.parametrize("media_type", ["image/png", "image/jpeg", "text/plain"])
def test_pictures_and_plain_text_are_shown(media_type):
    response = blob_response(blobs.save_bytes(b"some bytes"), media_type=media_type, name="end")

    assert response["Content-Type"].startswith(media_type)
    assert "Content-Disposition" not in response
    assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("media_type", ["image/svg+xml", "text/html", "application/json", "nonsense"])
def test_everything_else_is_a_download_of_opaque_bytes(media_type):
    response = blob_response(blobs.save_bytes(b"<script>"), media_type=media_type, name='a"b\n.svg')

    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == 'attachment; filename="a_b_.svg"'
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_a_large_blob_is_sent_a_chunk_at_a_time_and_whole():
    content = bytes(range(256)) * (HELD // 256) + b"the end"
    response = blob_response(blobs.save_bytes(content), media_type="text/plain", name="log")
    assert isinstance(response, StreamingHttpResponse)

    async def collected() -> list[bytes]:
        return [part async for part in cast("AsyncIterator[bytes]", response.streaming_content)]

    parts = awaited(collected)
    assert len(parts) > 1
    assert b"".join(parts) == content
    assert int(response["Content-Length"]) == len(content)


def test_a_lost_blob_is_said_with_its_hash():
    response = blob_response("0" * 64, media_type="image/png", name="end.png")

    assert isinstance(response, HttpResponse)
    assert response.status_code == 410
    assert "0" * 64 in response.content.decode()
