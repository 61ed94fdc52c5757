"""The blob store on S3 or what speaks like it: one client for all threads, streams both ways."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import IO, Any, cast

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.base import File
from storages.backends.s3 import S3Storage

from benchmark.blobs import BlobStoreAway

PATIENCE = Config(
    connect_timeout=5,
    read_timeout=60,
    retries={"mode": "standard", "max_attempts": 3},
    max_pool_connections=32,
)
NOT_THERE = (404, "404", "NoSuchKey", "NotFound")


class S3Blobs(S3Storage):  # type: ignore[misc]  # django-storages carries no types
    """Objects under their digests; written whole or not at all, and read as they arrive."""

    _making = threading.Lock()

    @cached_property
    def client(self) -> Any:
        """Boto's client, which threads may share: the site answers each request on a thread of its own."""
        with self._making:
            session = self._create_session()
            return session.client(
                "s3",
                region_name=self.region_name,
                endpoint_url=self.endpoint_url,
                config=self.client_config.merge(PATIENCE),
                verify=self.verify,
            )

    def exists(self, name: str) -> bool:
        """Whether there is an object of that name. Raises BlobStoreAway."""
        return self._head(name) is not None

    def size(self, name: str) -> int:
        """Number of bytes. Raises FileNotFoundError or BlobStoreAway."""
        head = self._head(name)
        if head is None:
            raise FileNotFoundError(name)
        return int(head["ContentLength"])

    def delete(self, name: str) -> None:
        """Remove an object, if it is there. Raises BlobStoreAway."""
        with self._answering():
            self.client.delete_object(Bucket=self.bucket_name, Key=self._key(name))

    def put_whole(self, name: str, content: IO[bytes], *, sha256: str) -> None:
        """Send an object in one request, which the store refuses if its bytes are not those of `sha256`.

        Raises BlobStoreAway.
        """
        with self._answering():
            self.client.put_object(
                Bucket=self.bucket_name,
                Key=self._key(name),
                Body=content,
                ContentType=self.default_content_type,
                ChecksumAlgorithm="SHA256",
                ChecksumSHA256=base64.b64encode(bytes.fromhex(sha256)).decode(),
            )

    def reach(self) -> None:
        """Ask whether the bucket is there and is ours to use. Raises BlobStoreAway."""
        try:
            with self._answering():
                self.client.head_bucket(Bucket=self.bucket_name)
        except FileNotFoundError:
            raise BlobStoreAway(f"The blob store has no bucket {self.bucket_name!r}; make it.") from None

    def _open(self, name: str, mode: str = "rb") -> File[Any]:
        try:
            with self._answering():
                answer = self.client.get_object(Bucket=self.bucket_name, Key=self._key(name))
        except FileNotFoundError:
            raise FileNotFoundError(name) from None
        return File(cast("IO[Any]", _Arriving(answer["Body"])), name)

    def _head(self, name: str) -> dict[str, Any] | None:
        try:
            with self._answering():
                return cast(
                    "dict[str, Any]", self.client.head_object(Bucket=self.bucket_name, Key=self._key(name))
                )
        except FileNotFoundError:
            return None

    def _key(self, name: str) -> str:
        return str(self._normalize_name(name))

    def _answering(self) -> AbstractContextManager[None]:
        return _as_sentences(self.bucket_name)


class _Arriving:
    """The body of an answer as a file that is read once, from its beginning to its end."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """The next bytes. Raises BlobStoreAway."""
        with _as_sentences("of blobs"):
            return cast("bytes", self._body.read(None if size < 0 else size))

    def close(self) -> None:
        """Let go of the connection."""
        self._body.close()
        self.closed = True


@contextmanager
def _as_sentences(bucket: str) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if code in NOT_THERE:
            raise FileNotFoundError(code) from None
        raise BlobStoreAway(f"The blob store refuses the bucket {bucket!r}: {code}.") from error
    except BotoCoreError as error:
        raise BlobStoreAway(
            f"The blob store with the bucket {bucket!r} does not answer ({type(error).__name__}); "
            "check PROOFROOM_S3_ENDPOINT, the keys, and that it runs."
        ) from error
