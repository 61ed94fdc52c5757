"""The environment of foreign commands, built from nothing: what is not named here is not passed on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

CERTIFICATE_VARIABLES = (
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
)
"""Without these npm and pip hang or fail behind a company's own certificate authority."""

SYSTEM_CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
)
"""Where Linux distributions keep every authority that this machine trusts, in one file."""

NETWORK_VARIABLES = tuple(
    spelling
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
    for spelling in (name, name.lower())
)
"""How this machine reaches package registries; only installs get them."""

_OURS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")
_OUR_PREFIXES = ("DJANGO_", "PROOFROOM_", "CELERY_", "PG", "AWS_SECRET")


def clean_environment(
    home: Path, *, extra: Mapping[str, str] | None = None, network: bool = False
) -> dict[str, str]:
    """Return PATH, a HOME of its own, UTF-8, certificates and `extra`; with `network` also proxies."""
    names = CERTIFICATE_VARIABLES + (NETWORK_VARIABLES if network else ())
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        **_trusted_by_the_system(),
        **{name: os.environ[name] for name in names if name in os.environ},
        **(extra or {}),
    }


def _trusted_by_the_system() -> dict[str, str]:
    # A Node.js that is not the distribution's knows its own authorities only: behind a company's
    # own one npm asks again and again for minutes.
    for bundle in SYSTEM_CERTIFICATES:
        if Path(bundle).is_file():
            return {"NODE_EXTRA_CA_CERTS": bundle}
    return {}


def passed_variables(names: Iterable[str]) -> dict[str, str]:
    """Return those of our variables that somebody asked to pass on; absent ones are left out.

    Raises ValueError for a variable that holds a secret of the site itself.
    """
    names = tuple(names)
    for name in names:
        if name in _OURS or name.startswith(_OUR_PREFIXES):
            raise ValueError(
                f"The variable {name!r} belongs to the site and is never passed on; name another one."
            )
    return {name: os.environ[name] for name in names if name in os.environ}
