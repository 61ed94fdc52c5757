"""Settings: each bad value of the environment is one sentence that names it, and exit 2."""

from __future__ import annotations

import os
import runpy
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parents[1]

BAD = [
    ("PROOFROOM_DEBUG", "yes", "'True' or 'False'"),
    ("PROOFROOM_WORKER_THREADS", "0", "a whole number from 1 to 64"),
    ("PROOFROOM_WORKER_THREADS", "9" * 5000, "a whole number from 1 to 64"),
    ("PROOFROOM_WORKER_THREADS", "two", "a whole number from 1 to 64"),
    ("PROOFROOM_LEASE_SECONDS", "1", "a whole number from 5 to 3600"),
    ("PROOFROOM_SWEEP_SECONDS", "-1", "a whole number from 1 to 300"),
    ("PROOFROOM_PREVIEWS_PER_USER", "1.5", "a whole number from 1 to 100"),
    ("PROOFROOM_PREVIEWS_AT_ONCE", "0", "a whole number from 1 to 1000"),
    ("PROOFROOM_PREVIEW_IDLE_SECONDS", "1", "a whole number from 10 to 86400"),
    ("PROOFROOM_PUBLIC_URL", "proofroom.localhost:8000", "an address without a path"),
    ("PROOFROOM_PUBLIC_URL", "http://x.localhost/path", "an address without a path"),
    ("PROOFROOM_PUBLIC_URL", "http://x.localhost:99999", "an address without a path"),
    ("PROOFROOM_PUBLIC_URL", "http://[::1", "an address without a path"),
    ("PROOFROOM_PUBLIC_URL", "http://me:secret@x.localhost", "an address without a path"),
    ("PROOFROOM_PUBLIC_URL", "https://x.org?a=1", "an address without a path"),
    ("PROOFROOM_PUBLIC_URL", "http://lab.example.org", "must begin with https://"),
    ("PROOFROOM_DATA_DIR", __file__, "a folder that can be written"),
    ("PROOFROOM_STATIC_DIR", f"{__file__}/below", "a folder that can be written"),
    ("PROOFROOM_TIME_ZONE", "Mars/Olympus", "a time zone such as"),
    ("PROOFROOM_TIME_ZONE", "../../etc/passwd", "a time zone such as"),
    ("PROOFROOM_LOG_LEVEL", "loud", "one of DEBUG, INFO"),
    ("PROOFROOM_BROWSERS_AT_ONCE", "0", "a whole number from 1 to 1000"),
    ("PROOFROOM_RUN_NICENESS", "20", "a whole number from 0 to 19"),
    ("PROOFROOM_BLOBS", "/srv/blobs", "must be s3://bucket or s3://bucket/prefix"),
    ("PROOFROOM_BLOBS", "s3://rooms/../other", "must be s3://bucket or s3://bucket/prefix"),
    ("PROOFROOM_METRICS_TOKEN", "short", "16 to 200 letters"),
    ("PROOFROOM_METRICS_FROM", "10.0.0.1/8", "networks such as"),
    ("PROOFROOM_LOG_FORMAT", "xml", "one of line, json"),
    ("DATABASE_URL", "mysql://u:secret@h/n", "must begin with postgres:// or sqlite://"),
    ("DATABASE_URL", "nonsense", "must be an address such as postgres://"),
    ("DATABASE_URL", "postgres://u:secret@h:port/n", "must be an address such as postgres://"),
    ("DATABASE_URL", "sqlite://:memory:", "must name a file"),
    ("REDIS_URL", "localhost:6379", "must begin with redis://"),
]

SHOW = """
from django.conf import settings
for name in {names!r}:
    print(repr(getattr(settings, name)))
"""


def environment(data: Path, **changed: str) -> dict[str, str]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PROOFROOM", "DJANGO")) and key not in {"DATABASE_URL", "REDIS_URL"}
    }
    return kept | {"PROOFROOM_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "proofroom.settings"} | changed


def shown(data: Path, *names: str, **changed: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", SHOW.format(names=names)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(data, **changed),
        timeout=60,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(("name", "value", "expected"), BAD, ids=lambda value: str(value)[:40])
def test_a_bad_value_is_one_sentence_that_names_it(tmp_path, monkeypatch, name, value, expected):
    for known in [known for known in os.environ if known.startswith("PROOFROOM")]:
        monkeypatch.delenv(known)
    monkeypatch.setenv("PROOFROOM_DATA_DIR", str(tmp_path))
    monkeypatch.setenv(name, value)

    with pytest.raises(ImproperlyConfigured) as refused:
        runpy.run_path(str(ROOT / "proofroom" / "settings.py"))

    sentence = str(refused.value)
    assert sentence.startswith(name)
    assert expected in sentence
    assert "\n" not in sentence
    assert len(sentence) < 300 + len(str(ROOT))
    assert "secret" not in sentence or name == "PROOFROOM_PUBLIC_URL"


def test_a_command_ends_with_that_sentence_alone_and_exit_2(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "runs", "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(tmp_path, PROOFROOM_DEBUG="yes"),
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "PROOFROOM_DEBUG='yes' must be 'True' or 'False'.\n"


def test_without_any_value_one_machine_is_enough(tmp_path):
    names = ("DEBUG", "PUBLIC_URL", "WORKER_THREADS", "LEASE_SECONDS", "TIME_ZONE", "CELERY_BROKER_URL")

    assert shown(tmp_path, *names) == [
        *("False", "'http://proofroom.localhost:8000'", "2", "30", "'UTC'", "'memory://localhost/'"),
    ]
    assert (tmp_path / "secret_key").is_file()


def test_redis_carries_the_broker_and_the_channel_layer(tmp_path):
    broker, layer = shown(
        tmp_path, "CELERY_BROKER_URL", "CHANNEL_LAYERS", REDIS_URL="redis://127.0.0.1:6379/3"
    )

    assert broker == "'redis://127.0.0.1:6379/3'"
    assert "channels_redis" in layer


def test_an_https_address_is_trusted_and_remembered_by_browsers(tmp_path):
    names = ("CSRF_TRUSTED_ORIGINS", "SECURE_HSTS_SECONDS", "SITE_HOST", "LIVE_URL")

    assert shown(tmp_path, *names, PROOFROOM_PUBLIC_URL="https://rooms.example.org/") == [
        "['https://rooms.example.org']",
        "31536000",
        "'rooms.example.org'",
        "'wss://rooms.example.org'",
    ]


def test_the_secret_key_is_made_once_kept_and_readable_by_its_owner_alone(tmp_path):
    first = shown(tmp_path, "SECRET_KEY")
    second = shown(tmp_path, "SECRET_KEY")

    assert first == second
    assert len(first[0]) > 50
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_processes_that_start_at_once_share_one_secret_key(tmp_path):
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SHOW.format(names=("SECRET_KEY",))],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=environment(tmp_path),
        )
        for _ in range(4)
    ]

    keys = {process.communicate(timeout=120)[0] for process in started}

    assert len(keys) == 1
    assert len(keys.pop()) > 50
