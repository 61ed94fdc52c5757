"""All settings in one file; the environment changes values, never structure."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import re
import secrets
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

from benchmark.packs.deploy import IMAGE

# A machine that dies says nothing. Without these, its last session keeps its row locked at the server for two
# hours, and a worker whose network broke waits a quarter of an hour for an answer that will not come.
POSTGRES_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
    "options": "-c tcp_keepalives_idle=20 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4",
}

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


def _image(name: str, default: str) -> str:
    raw = _text(name, default)
    if not IMAGE.fullmatch(raw):
        raise ImproperlyConfigured(f"{name}={raw[:80]!r} must be the name of an image such as {default}.")
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


def _networks(name: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    found = []
    for raw in filter(None, re.split(r"[,\s]+", _text(name, ""))):
        try:
            found.append(ipaddress.ip_network(raw))
        except ValueError:
            raise ImproperlyConfigured(
                f"{name}={raw[:60]!r} must be networks such as 10.0.0.0/8,fd00::/8, separated by commas."
            ) from None
    return found


def _token(name: str) -> str:
    raw = _text(name, "")
    if raw and not re.fullmatch(r"[!-~]{16,200}", raw):
        raise ImproperlyConfigured(f"{name} must be 16 to 200 letters, digits and signs without a blank.")
    return raw


def _header(name: str) -> str:
    """The name of a request's header in Django's form; empty where none is trusted."""
    raw = _text(name, "")
    if raw and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,60}", raw):
        raise ImproperlyConfigured(
            f"{name}={raw[:80]!r} must be the name of a header, such as X-Forwarded-For."
        )
    return f"HTTP_{raw.upper().replace('-', '_')}" if raw else ""


def _issuer(name: str) -> str:
    raw = _text(name, "")
    if not raw:
        return ""
    parts = urlsplit(raw)
    host = parts.hostname or ""
    is_here = host in ("localhost", "127.0.0.1", "::1") or host.endswith(".localhost")
    if (
        not host
        or parts.query
        or parts.fragment
        or not (parts.scheme == "https" or (is_here and parts.scheme == "http"))
    ):
        raise ImproperlyConfigured(
            f"{name}={raw[:80]!r} must be the issuer's https address, such as https://id.example.org."
        )
    return raw


def _needed_with(first: str, *names: str) -> None:
    missing = [name for name in names if not _text(name, "")]
    if _text(first, "") and missing:
        raise ImproperlyConfigured(f"{missing[0]} must be set where {first} is.")


def _words(name: str) -> list[str]:
    return [word for word in (part.strip() for part in _text(name, "").split(",")) if word]


def _roles_by_claim(name: str) -> dict[str, str]:
    """Roles by the value of a claim that gives them: `staff=lead, students=annotator`."""
    given = [word.rpartition("=") for word in _words(name)]
    for value, _, role in given:
        if not value or role.strip() not in ("lead", "annotator", "reader"):
            raise ImproperlyConfigured(
                f"{name} must be pairs such as staff=lead, students=annotator; roles are lead, annotator and reader."
            )
    return {value.strip(): role.strip() for value, _, role in given}


def _secret_key(folder: Path) -> str:
    given = os.environ.get("PROOFROOM_SECRET_KEY", "").strip()
    if given:
        # The value itself is in no sentence: it would stand in logs.
        if len(given) < 50 or len(set(given)) < 5 or given.startswith("django-insecure-"):
            raise ImproperlyConfigured(
                "PROOFROOM_SECRET_KEY must be at least 50 random characters; leave it out and one is made, or "
                "take what this prints: openssl rand -base64 48."
            )
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
    return parsed | {"CONN_MAX_AGE": 0, "OPTIONS": POSTGRES_PATIENCE | parsed.get("OPTIONS", {})}


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


def _blob_store(name: str, endpoint_name: str, *, folder: Path) -> dict[str, Any]:
    """Where blobs lie: below the data folder, or in a bucket that every machine reaches."""
    raw = _text(name, "")
    if not raw:
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(folder)},
        }
    found = re.fullmatch(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([A-Za-z0-9._/-]*))?", raw)
    prefix = (found[2] or "").strip("/") if found else ""
    if found is None or ".." in prefix.split("/"):
        raise ImproperlyConfigured(
            f"{name}={raw[:80]!r} must be s3://bucket or s3://bucket/prefix, or empty for the data folder."
        )
    endpoint = _text(endpoint_name, "")
    if endpoint and not _is_origin(endpoint.rstrip("/")):
        raise ImproperlyConfigured(
            f"{endpoint_name} must be an address without a path, a name or a password, such as http://minio:9000."
        )
    options: dict[str, Any] = {"bucket_name": found[1], "location": prefix, "signature_version": "s3v4"}
    if endpoint:
        # Stores of one's own seldom have a host name for each bucket.
        options |= {"endpoint_url": endpoint.rstrip("/"), "addressing_style": "path"}
    return {"BACKEND": "benchmark.s3_blobs.S3Blobs", "OPTIONS": options}


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

_OIDC = "allauth.socialaccount.providers.openid_connect"
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
    "axes",
    "people",
    "benchmark",
    "runs",
    "annotation",
]

MIDDLEWARE = [
    "proofroom.middleware.request_id",
    "proofroom.probes.probes",
    "proofroom.probes.observed",
    "proofroom.probes.StoreAwayAnswered",
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
    "proofroom.middleware.kept_apart",
    "axes.middleware.AxesMiddleware",
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

OIDC_ISSUER = _issuer("PROOFROOM_OIDC_ISSUER")
OIDC_NAME = _text("PROOFROOM_OIDC_NAME", "single sign-on") if OIDC_ISSUER else ""
OIDC_DOMAINS = [domain.lower() for domain in _words("PROOFROOM_OIDC_DOMAINS")]
OIDC_NEW_ACCOUNTS = _flag("PROOFROOM_OIDC_NEW_ACCOUNTS", default=True)
OIDC_ROLES = _roles_by_claim("PROOFROOM_OIDC_ROLES")
OIDC_ROLES_CLAIM = _text("PROOFROOM_OIDC_ROLES_CLAIM", "groups" if OIDC_ROLES else "")
LOCAL_PASSWORDS = _flag("PROOFROOM_LOCAL_PASSWORDS", default=True)
_needed_with("PROOFROOM_OIDC_ISSUER", "PROOFROOM_OIDC_CLIENT_ID", "PROOFROOM_OIDC_CLIENT_SECRET")
if not LOCAL_PASSWORDS and not OIDC_ISSUER:
    raise ImproperlyConfigured(
        "PROOFROOM_LOCAL_PASSWORDS=False needs PROOFROOM_OIDC_ISSUER: nobody could sign in otherwise."
    )
if OIDC_ISSUER:
    # Loaded only here: without a provider the site starts without the library, and has none of its tables.
    INSTALLED_APPS[:0] = ["allauth", "allauth.account", "allauth.socialaccount", _OIDC]
    MIDDLEWARE.append("allauth.account.middleware.AccountMiddleware")
    ACCOUNT_ADAPTER = "people.single_sign_on.adapters.Accounts"
    ACCOUNT_EMAIL_VERIFICATION = "none"
    ACCOUNT_UNIQUE_EMAIL = False
    ACCOUNT_LOGIN_METHODS = {"username"}
    ACCOUNT_SIGNUP_FIELDS = ["username*"]
    SOCIALACCOUNT_ADAPTER = "people.single_sign_on.adapters.Identities"
    SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
    SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "APPS": [
                {
                    "provider_id": "oidc",
                    "name": OIDC_NAME,
                    "client_id": _text("PROOFROOM_OIDC_CLIENT_ID", ""),
                    "secret": os.environ.get("PROOFROOM_OIDC_CLIENT_SECRET", "").strip(),
                    "settings": {
                        "server_url": OIDC_ISSUER,
                        "uid_field": "identity",
                        "oauth_pkce_enabled": True,
                    },
                }
            ]
        }
    }
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend" if LOCAL_PASSWORDS else "people.backends.WithoutPasswords",
]
CLIENT_ADDRESS_HEADER = _header("PROOFROOM_CLIENT_ADDRESS_HEADER")
AXES_HANDLER = "people.throttling.Throttle"
AXES_FAILURE_LIMIT = _number("PROOFROOM_SIGN_IN_TRIES", 5, lowest=3, highest=100)
AXES_COOLOFF_TIME = timedelta(minutes=_number("PROOFROOM_SIGN_IN_WAIT_MINUTES", 15, lowest=1, highest=1440))
# Each is counted by itself; how much each weighs stands in people.throttling.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"], "username", "ip_address"]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_USERNAME_CALLABLE = "people.throttling.counted_name"
AXES_CLIENT_IP_CALLABLE = "people.throttling.client_address"
# The log of the site says who signed in.
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False

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
    "blobs": _blob_store("PROOFROOM_BLOBS", "PROOFROOM_S3_ENDPOINT", folder=DATA_DIR / "blobs"),
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
HSTS_SECONDS = _number("PROOFROOM_HSTS_SECONDS", 31_536_000, lowest=60, highest=63_072_000)
if PUBLIC_URL.startswith("https://"):
    # Trusted here alone: a public https address means a web server in front that sets this header.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    # A program that was redirected would have sent its token in clear: it is refused instead.
    SECURE_REDIRECT_EXEMPT = ["^api/"]
    SECURE_HSTS_SECONDS = HSTS_SECONDS
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
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
SHUTDOWN_SECONDS = _number("PROOFROOM_SHUTDOWN_SECONDS", 10, lowest=3, highest=600)
LEAST_FREE_MB = _number("PROOFROOM_LEAST_FREE_MB", 64, lowest=0, highest=1_000_000)
# By default a browser for each processor, but two at least: one that waits leaves the other to work.
BROWSERS_AT_ONCE = _number("PROOFROOM_BROWSERS_AT_ONCE", max(2, os.cpu_count() or 1), lowest=1, highest=1000)
RUN_NICENESS = _number("PROOFROOM_RUN_NICENESS", 5, lowest=0, highest=19)
PREVIEWS_PER_USER = _number("PROOFROOM_PREVIEWS_PER_USER", 3, lowest=1, highest=100)
PREVIEWS_AT_ONCE = _number("PROOFROOM_PREVIEWS_AT_ONCE", 8, lowest=1, highest=1000)
PREVIEW_IDLE_SECONDS = _number("PROOFROOM_PREVIEW_IDLE_SECONDS", 900, lowest=10, highest=86_400)
WEBHOOKS_TO_PRIVATE = _flag("PROOFROOM_WEBHOOKS_TO_PRIVATE", default=False)
CHROMIUM = _text("PROOFROOM_CHROMIUM", "")
SANDBOX = _choice("PROOFROOM_SANDBOX", "auto", among=("auto", "bubblewrap", "docker", "podman", "none"))
COMMAND_MEMORY_MIB = _number("PROOFROOM_COMMAND_MEMORY_MIB", 0, lowest=0, highest=1 << 24)
COMMAND_DISK_MIB = _number("PROOFROOM_COMMAND_DISK_MIB", 4096, lowest=16, highest=1 << 24)
COMMAND_PROCESSES = _number("PROOFROOM_COMMAND_PROCESSES", 512, lowest=8, highest=1_000_000)
COMMAND_CPU_SECONDS = _number("PROOFROOM_COMMAND_CPU_SECONDS", 14_400, lowest=1, highest=10_000_000)
SANDBOX_IMAGE = _image("PROOFROOM_SANDBOX_IMAGE", "docker.io/library/node:22-bookworm")

DATA_UPLOAD_MAX_MEMORY_SIZE = 5 << 20
LOG_LEVEL = _choice("PROOFROOM_LOG_LEVEL", "WARNING", among=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOG_FORMAT = _choice("PROOFROOM_LOG_FORMAT", "line", among=("line", "json"))
METRICS_TOKEN = _token("PROOFROOM_METRICS_TOKEN")
METRICS_FROM = _networks("PROOFROOM_METRICS_FROM")
# Never in a log, whatever text they stand in.
LOG_HIDES = [
    *(
        SECRET_KEY,
        METRICS_TOKEN,
        str(DATABASES["default"].get("PASSWORD", "")),
        urlsplit(REDIS_URL).password or "",
    ),
    *(os.environ.get(name, "") for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")),
]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "runs.log_lines.LineFormatter",
            "fmt": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            "secrets": LOG_HIDES,
        },
        "json": {"()": "runs.log_lines.JsonLines", "secrets": LOG_HIDES},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "stream": sys.stderr}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
}
TEST_RUNNER = "django.test.runner.DiscoverRunner"
