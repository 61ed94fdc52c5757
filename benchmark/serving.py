"""Answer with a blob so that a browser can do nothing with it but show a picture or plain text."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

from benchmark import blobs

SHOWN = {
    "image/png": "image/png",
    "image/jpeg": "image/jpeg",
    "image/webp": "image/webp",
    "text/plain": "text/plain; charset=utf-8",
}
"""Media types that are shown in place; everything else is a download of opaque bytes."""

HELD = 4 << 20
"""Bytes up to which a blob is answered at once; a larger one is sent a chunk at a time."""


def blob_response(digest: str, *, media_type: str, name: str) -> HttpResponseBase:
    """Serve stored bytes; 410 with one sentence where the store has lost them."""
    try:
        size = blobs.size_of(digest)
    except blobs.BlobMissing:
        return HttpResponse(
            f"The bytes of {name} are missing from the blob store. Their hash is on record "
            f"(sha256 {digest}), so a restored backup fills them in.",
            status=410,
            content_type="text/plain; charset=utf-8",
        )
    except blobs.BlobStoreAway as away:
        return HttpResponse(f"{away} Try again.", status=503, content_type="text/plain; charset=utf-8")
    shown = SHOWN.get(media_type.split(";", maxsplit=1)[0].strip().lower())
    content_type = shown or "application/octet-stream"
    response: HttpResponseBase
    if size <= HELD:
        response = HttpResponse(blobs.read_blob(digest), content_type=content_type)
    else:
        response = StreamingHttpResponse(_chunks(digest), content_type=content_type)
    response["Content-Length"] = str(size)
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    if shown is None:
        response["Content-Disposition"] = f'attachment; filename="{_plain_name(name)}"'
    return _inert(response)


def text_response(text: str) -> HttpResponseBase:
    """Serve text that was made from a blob, as inert as the blob itself."""
    response = HttpResponse(text, content_type=SHOWN["text/plain"])
    response["Cache-Control"] = "private, no-cache"
    return _inert(response)


def _inert(response: HttpResponseBase) -> HttpResponseBase:
    response["X-Content-Type-Options"] = "nosniff"
    # Replaces the site's own policy, and lets a document opened by itself load and run nothing.
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


async def _chunks(digest: str) -> AsyncIterator[bytes]:
    # An asynchronous iterator, or the server would collect the whole blob before it sends a byte.
    # Whatever waits for the store waits on a thread: this one serves every visitor.
    whole = blobs.Whole(digest)
    blob = await asyncio.to_thread(blobs.open_blob, digest)
    try:
        while chunk := await asyncio.to_thread(blob.read, blobs.CHUNK):
            whole.add(chunk)
            yield chunk
    finally:
        await asyncio.to_thread(blob.close)
    # Too late for another answer; the broken-off connection tells the browser.
    whole.check()


def _plain_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[-120:] or "file"
