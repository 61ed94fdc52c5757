"""Who the provider says somebody is: its signed statement, checked in full before anything is believed."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings

from people.linking import identity_of

if TYPE_CHECKING:
    from django.http import HttpRequest

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key alone: never `none`, never one made with a shared secret."""
CLOCKS_DIFFER_BY = 60
_KEPT = ("sub", "email", "email_verified", "preferred_username", "name", "given_name", "family_name")
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class ProviderBroken(OAuth2Error):  # type: ignore[misc]
    """Raised where the provider's own description of itself cannot be trusted."""


class CheckedIdentity(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """The library's side of the protocol; what it may leave out is checked here every time."""

    def __init__(self, request: HttpRequest, provider_id: str, *, nonce: str) -> None:
        super().__init__(request, provider_id)
        self._nonce = nonce

    def require_sound(self) -> None:
        """Raise ProviderBroken unless the description is of the configured issuer, and its addresses are safe."""
        described = self.openid_config
        if described.get("issuer") != settings.OIDC_ISSUER:
            raise ProviderBroken(f"It describes the issuer {described.get('issuer')!r}.")
        safe = urlsplit(settings.OIDC_ISSUER).scheme
        for name in _ENDPOINTS:
            if urlsplit(described[name]).scheme not in ("https", safe):
                raise ProviderBroken(f"Its {name} is no {safe} address.")

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """Return the library's login of a checked identity; raises OAuth2Error for any doubt."""
        self.require_sound()
        statement = kwargs["response"].get("id_token")
        if not isinstance(statement, str):
            raise OAuth2Error("There is no ID token.")
        said = self._checked(statement, client=app.client_id)
        if "userinfo_endpoint" in self.openid_config:
            more = self._fetch_user_info(token.token)
            # The second answer is unsigned: it must speak of the person of the signed one.
            if more.get("sub") != said["sub"]:
                raise OAuth2Error("The user information is of somebody else.")
            said = {
                **said,
                **{name: value for name, value in more.items() if name not in ("iss", "sub", "aud")},
            }
        claim = settings.OIDC_ROLES_CLAIM
        kept = {name: said[name] for name in (*_KEPT, *([claim] if claim else [])) if name in said}
        person = kept | {"identity": identity_of(settings.OIDC_ISSUER, str(said["sub"]))}
        return self.get_provider().sociallogin_from_response(request, {"userinfo": person})

    def _checked(self, statement: str, *, client: str) -> Mapping[str, Any]:
        try:
            said: dict[str, Any] = jwt.decode(
                statement,
                key=self._key_of(statement),
                algorithms=list(ALGORITHMS),
                audience=client,
                issuer=settings.OIDC_ISSUER,
                leeway=CLOCKS_DIFFER_BY,
                options={"require": ["iss", "sub", "aud", "exp", "iat", "nonce"]},
            )
        except jwt.PyJWTError as problem:
            raise OAuth2Error(f"The ID token is not valid: {problem}") from problem
        if not self._nonce or not hmac.compare_digest(str(said["nonce"]).encode(), self._nonce.encode()):
            raise OAuth2Error("The ID token was made for another sign-in.")
        if isinstance(said["aud"], list) and len(said["aud"]) > 1 and said.get("azp") != client:
            raise OAuth2Error("The ID token was made for another application.")
        if not said["sub"]:
            raise OAuth2Error("The ID token names nobody.")
        return said

    def _key_of(self, statement: str) -> jwt.PyJWK:
        wanted = jwt.get_unverified_header(statement).get("kid")
        with get_adapter().get_requests_session() as session:
            answer = session.get(self.openid_config["jwks_uri"])
            answer.raise_for_status()
            keys = [
                key
                for key in jwt.PyJWKSet.from_dict(answer.json()).keys
                if key.public_key_use in (None, "sig")
            ]
        # Without a name of a key it must be the only one.
        fitting = [key for key in keys if key.key_id == wanted] if wanted else keys
        if len(fitting) != 1:
            raise jwt.InvalidKeyError("no key of the provider fits its signature")
        return fitting[0]
