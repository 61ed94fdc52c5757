"""Which workers live, and what they count together: in Redis where there is one, else in this process."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import redis
from django.conf import settings

from runs.adapters.browser_places import held_here
from runs.queues import Queue

log = logging.getLogger(__name__)

LEASE_EXPIRIES = "lease_expiries"
SILENT_AFTER = 30.0
"""Seconds after which a worker that told nothing counts as gone; longer than any sweep that is usual."""

_WORKERS, _COUNTS = "proofroom:workers", "proofroom:counts"

_lock = threading.Lock()
_own_worker: dict[str, str] = {}
_own_counts: dict[str, int] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LivingWorker:
    """One worker process: where it is, what it takes, how much at once, and its browsers."""

    name: str
    host: str
    queues: tuple[Queue, ...]
    threads: int
    browsers: int
    heard: float
    """Seconds since it told of itself."""


def beat(*, queues: frozenset[Queue], threads: int) -> None:
    """Tell that this worker lives; a Redis that is away makes it silent, nothing more.

    The file `worker.alive` in the data folder is touched as well, for a probe that looks at this process.
    """
    Path(settings.DATA_DIR, "worker.alive").touch()
    told = {
        "host": socket.gethostname(),
        "queues": sorted(queue.value for queue in queues),
        "threads": threads,
        "browsers": held_here(),
    }
    name = f"{socket.gethostname()}:{os.getpid()}"
    client = _client()
    if client is None:
        with _lock:
            _own_worker[name] = json.dumps(told | {"at": time.time()})
        return
    try:
        # By the server's clock: those of the machines may differ.
        client.hset(_WORKERS, name, json.dumps(told | {"at": _server_time(client)}))
    except redis.RedisError as error:
        log.warning("Redis is not told that this worker lives (%s).", error)


def leave() -> None:
    """Tell that this worker ends, so that nobody counts on it."""
    name = f"{socket.gethostname()}:{os.getpid()}"
    client = _client()
    if client is None:
        with _lock:
            _own_worker.pop(name, None)
        return
    try:
        client.hdel(_WORKERS, name)
    except redis.RedisError:
        log.info("Redis is not told that this worker ends; it will be missed soon.")


def living() -> list[LivingWorker]:
    """The workers that were heard of lately, by name. Raises redis.RedisError."""
    client = _client()
    if client is None:
        with _lock:
            told, now = dict(_own_worker), time.time()
    else:
        told, now = cast("dict[str, str]", client.hgetall(_WORKERS)), _server_time(client)
        if gone := [name for name, text in told.items() if now - json.loads(text)["at"] > 100 * SILENT_AFTER]:
            client.hdel(_WORKERS, *gone)
    found = (_worker(name, json.loads(text), now=now) for name, text in sorted(told.items()))
    silent_after = max(SILENT_AFTER, 3.0 * settings.SWEEP_SECONDS)
    return [worker for worker in found if worker.heard <= silent_after]


def count(name: str) -> None:
    """Count one more of something that happens seldom; lost where Redis is away."""
    client = _client()
    if client is None:
        with _lock:
            _own_counts[name] = _own_counts.get(name, 0) + 1
        return
    try:
        client.hincrby(_COUNTS, name, 1)
    except redis.RedisError as error:
        log.warning("One of %s is not counted (%s).", name, error)


def counts() -> Mapping[str, int]:
    """What was counted so far, by every process together. Raises redis.RedisError."""
    client = _client()
    if client is None:
        with _lock:
            return dict(_own_counts)
    found = cast("dict[str, str]", client.hgetall(_COUNTS))
    return {name: int(number) for name, number in found.items()}


def _worker(name: str, told: Mapping[str, Any], *, now: float) -> LivingWorker:
    return LivingWorker(
        name=name,
        host=told["host"],
        queues=tuple(Queue(queue) for queue in told["queues"]),
        threads=told["threads"],
        browsers=told["browsers"],
        heard=max(0.0, now - told["at"]),
    )


def _server_time(client: redis.Redis) -> float:
    seconds, microseconds = client.time()
    return seconds + microseconds / 1_000_000


def _client() -> redis.Redis | None:
    return _connected(settings.REDIS_URL) if settings.REDIS_URL else None


@cache
def _connected(address: str) -> redis.Redis:
    return redis.Redis.from_url(address, decode_responses=True, socket_timeout=2, socket_connect_timeout=2)
