"""Answer with a blob so that a browser can do nothing with it but show a picture or plain text."""

from __future__ import annotations

import re

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

from benchmark import blobs

SHOWN = {"image/png": "image/png", "text/plain": "text/plain; charset=utf-8"}
"""Media types that are shown in place; everything else is a download of opaque bytes."""


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
    shown = SHOWN.get(media_type.split(";", maxsplit=1)[0].strip().lower())
    response = StreamingHttpResponse(
        blobs.chunks_of(digest), content_type=shown or "application/octet-stream"
    )
    response["Content-Length"] = str(size)
    response["X-Content-Type-Options"] = "nosniff"
    # Replaces the site's own policy, and lets a document opened by itself load and run nothing.
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    if shown is None:
        response["Content-Disposition"] = f'attachment; filename="{_plain_name(name)}"'
    return response


def _plain_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[-120:] or "file"
