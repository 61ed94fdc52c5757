"""An S3 server of the tests' own: moto over real HTTP on a free loopback port, gone with the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import boto3
from moto.server import ThreadedMotoServer

KEYS = {
    "AWS_ACCESS_KEY_ID": "tests",
    "AWS_SECRET_ACCESS_KEY": "tests-only",
    "AWS_DEFAULT_REGION": "us-east-1",
}
BUCKET = "rooms"


@contextmanager
def s3_server(*, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve S3 with the bucket `rooms`; yields the address."""
    server = ThreadedMotoServer(ip_address=host, port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        bucket(address).create()
        yield address
    finally:
        server.stop()


def bucket(address: str):
    """The bucket as somebody else's program sees it."""
    return boto3.resource(
        "s3",
        endpoint_url=address,
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        region_name=KEYS["AWS_DEFAULT_REGION"],
    ).Bucket(BUCKET)
