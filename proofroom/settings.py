"""All settings in one file; the environment changes values, never structure."""

from __future__ import annotations

import importlib.util
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

BASE_DIR = Path(__file__).resolve().parent.parent


def _text(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def _flag(name: str, *, default: bool) -> bool:
    raw = _text(name, str(default))
    if raw not in ("True", "False"):
        raise ImproperlyConfigured(f"{name}={raw!r} must be 'True' or 'False'.")
    return raw == "True"


def _number(name: str, default: int, *, lowest: int, highest: int) -> int:
    raw = _text(name, str(default))
    if not raw.isdecimal() or len(raw) > 18 or not lowest <= int(raw) <= highest:
        raise ImproperlyConfigured(f"{name}={raw[:40]!r} must be a whole number from {lowest} to {highest}.")
    return int(raw)


def _choice(name: str, default: str, *, among: tuple[str, ...]) -> str:
    raw = _text(name, default)
    if raw not in among:
        raise ImproperlyConfigured(f"{name}={raw!r} must be one of {', '.join(among)}.")
    return raw


def _time_zone(name: str, default: str) -> str:
    raw = _text(name, default)
    try:
        ZoneInfo(raw)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ImproperlyConfigured(f"{name}={raw!r} must be a time zone such as Europe/Lisbon.") from None
    return raw


def _folder(name: str, default: Path) -> Path:
    folder = Path(_text(name, str(default))).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}={str(folder)!r} must be a folder that can be written: {error.strerror}."
        ) from None
    return folder


def _public_url(name: str, default: str) -> str:
    raw = _text(name, default).rstrip("/")
    if not _is_origin(raw):
        raise ImproperlyConfigured(
            f"{name}={raw!r} must be an address without a path, "
            "such as http://proofroom.localhost:8000 or https://proofroom.example.org."
        )
    parts = urlsplit(raw)
    host = parts.hostname or ""
    local = host == "localhost" or host.endswith(".localhost")
    if parts.scheme == "http" and not local:
        raise ImproperlyConfigured(
            f"{name}={raw!r} must begin with https://, or its host must end in .localhost: "
            "browsers keep the sign-in cookie of plain http for .localhost alone."
        )
    return raw


def _is_origin(address: str) -> bool:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    is_bare = parts.scheme in ("http", "https") and not (parts.path or parts.query or parts.fragment)
    return is_bare and bool(parts.hostname) and "@" not in parts.netloc and port != 0


def _secret_key(folder: Path) -> str:
    given = os.environ.get("PROOFROOM_SECRET_KEY", "")
    if given:
        return given
    path = folder / "secret_key"
    try:
        # Exclusive creation: of two processes that start at once, one key wins for both.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _written_key(path)
    except OSError as error:
        raise ImproperlyConfigured(
            f"PROOFROOM_DATA_DIR={str(folder)!r} must be a folder that can be written: {error.strerror}."
        ) from None
    with os.fdopen(descriptor, "w") as out:
        key = secrets.token_urlsafe(50)
        out.write(key)
    return key


def _written_key(path: Path) -> str:
    for _ in range(100):
        try:
            key = path.read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{str(path)!r} cannot be read: {error.strerror}.") from None
        if key:
            return key
        # Another process has made the file this very moment and is about to write it.
        time.sleep(0.02)
    raise ImproperlyConfigured(f"{str(path)!r} is empty; remove it, or set PROOFROOM_SECRET_KEY.")


def _database(name: str, folder: Path) -> dict[str, Any]:
    raw = os.environ.get(name, "").strip()
    if not raw:
        return _sqlite(folder / "proofroom.sqlite3")
    try:
        # The parser is typed for its own structure; Django takes any mapping.
        parsed: dict[str, Any] = dict(dj_database_url.parse(raw))
    except (dj_database_url.ParseError, dj_database_url.UnknownSchemeError, ValueError):
        # The value may hold a password, so the sentence does not repeat it.
        raise ImproperlyConfigured(
            f"{name} must be an address such as postgres://user:password@host:5432/name."
        ) from None
    if parsed["ENGINE"] == "django.db.backends.sqlite3":
        if parsed["NAME"] in ("", ":memory:"):
            raise ImproperlyConfigured(
                f"{name} must name a file, such as sqlite:////var/lib/proofroom.sqlite3: "
                "a database in memory is gone with the process."
            )
        return _sqlite(Path(parsed["NAME"]))
    if parsed["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured(f"{name} must begin with postgres:// or sqlite://.")
    # The site answers each request on a thread of its own, so that a connection which outlives its
    # request is never used again: kept ones would use up the server's within seconds.
    return parsed | {"CONN_MAX_AGE": 0}


def _sqlite(path: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            # Measured: without these three, concurrent writers meet "database is locked".
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
        # A file as in use: in memory, threads share one connection and WAL does not exist.
        "TEST": {"NAME": path.with_name("test.sqlite3")},
    }


def _folder_of(package: str) -> Path:
    # Found without importing it: as an app, django-ninja would cost every command a third of its start.
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


_NINJA = _folder_of("ninja")
DATA_DIR = _folder("PROOFROOM_DATA_DIR", BASE_DIR / "var")
SECRET_KEY = _secret_key(DATA_DIR)
DEBUG = _flag("PROOFROOM_DEBUG", default=False)
PUBLIC_URL = _public_url("PROOFROOM_PUBLIC_URL", "http://proofroom.localhost:8000")
SITE_HOST = urlsplit(PUBLIC_URL).netloc
PREVIEW_ORIGINS = f"{urlsplit(PUBLIC_URL).scheme}://*.{SITE_HOST}"
LIVE_URL = f"{'wss' if PUBLIC_URL.startswith('https') else 'ws'}://{SITE_HOST}"

# SiteHost (proofroom.middleware) decides by PUBLIC_URL and explains itself; Django's own check
# would answer a bare 400 before it.
ALLOWED_HOSTS = ["*"]

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",  # tables are loaded by urls.py, not by every command
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "people",
    "benchmark",
    "runs",
    "annotation",
]

MIDDLEWARE = [
    "proofroom.middleware.request_id",
    "proofroom.middleware.site_host",
    "proofroom.middleware.own_pages_only",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "proofroom.middleware.same_origin_writes",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "proofroom.middleware.SignedInOnly",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "proofroom.middleware.own_agent_cluster",
]

ROOT_URLCONF = "proofroom.urls"
ASGI_APPLICATION = "proofroom.asgi.application"
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates", _NINJA / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "people.context.person",
            ],
        },
    }
]

DATABASES = {"default": _database("DATABASE_URL", DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

LANGUAGE_CODE = "en-us"
TIME_ZONE = _time_zone("PROOFROOM_TIME_ZONE", "UTC")
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = _folder("PROOFROOM_STATIC_DIR", DATA_DIR / "static")
STATICFILES_DIRS = [folder for folder in (BASE_DIR / "static", _NINJA / "static") if folder.is_dir()]
WHITENOISE_USE_FINDERS = True
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "blobs": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(DATA_DIR / "blobs")},
    },
}

# __Host- cookies cannot be set or overwritten from a preview's origin (docs/security.md).
SESSION_COOKIE_NAME = "__Host-session"
SESSION_COOKIE_SECURE = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "__Host-csrf"
CSRF_COOKIE_SECURE = True
CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
CSRF_FAILURE_VIEW = "runs.views.failures.csrf_failure"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# All cookies of the site are __Host- cookies; any other comes from a preview's script and is expired.
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
if PUBLIC_URL.startswith("https://"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF, CSP.NONCE],
    "img-src": [CSP.SELF, "data:", "blob:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF, LIVE_URL],
    "frame-src": [CSP.SELF, PREVIEW_ORIGINS],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}

REDIS_URL = os.environ.get("REDIS_URL", "").strip()
if REDIS_URL and not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
    raise ImproperlyConfigured("REDIS_URL must begin with redis://, rediss:// or unix://.")
CHANNEL_LAYERS: dict[str, Any] = {
    "default": (
        {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    )
}

WORKER_THREADS = _number("PROOFROOM_WORKER_THREADS", 2, lowest=1, highest=64)
# The database is the only state; Celery is a doorbell, so nothing depends on its guarantees.
JOBS_APPLICATION = "proofroom.celery"
CELERY_BROKER_URL = REDIS_URL or "memory://localhost/"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = (
    {"unacked_restore_interval": 2, "unacked_restore_throttle": 1} if REDIS_URL else {"polling_interval": 0.2}
)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Trials wait for browsers and servers, and threads hear of a shutdown: forked workers would not.
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = WORKER_THREADS
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"

LEASE_SECONDS = _number("PROOFROOM_LEASE_SECONDS", 30, lowest=5, highest=3600)
SWEEP_SECONDS = _number("PROOFROOM_SWEEP_SECONDS", 3, lowest=1, highest=300)
PREVIEWS_PER_USER = _number("PROOFROOM_PREVIEWS_PER_USER", 3, lowest=1, highest=100)
PREVIEWS_AT_ONCE = _number("PROOFROOM_PREVIEWS_AT_ONCE", 8, lowest=1, highest=1000)
PREVIEW_IDLE_SECONDS = _number("PROOFROOM_PREVIEW_IDLE_SECONDS", 900, lowest=10, highest=86_400)
WEBHOOKS_TO_PRIVATE = _flag("PROOFROOM_WEBHOOKS_TO_PRIVATE", default=False)
CHROMIUM = _text("PROOFROOM_CHROMIUM", "")

DATA_UPLOAD_MAX_MEMORY_SIZE = 5 << 20
LOG_LEVEL = _choice("PROOFROOM_LOG_LEVEL", "WARNING", among=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "stream": sys.stderr}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
}
TEST_RUNNER = "django.test.runner.DiscoverRunner"
