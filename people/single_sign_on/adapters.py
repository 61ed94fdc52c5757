"""What the library asks of the site: who may come in, under which account, and what is said of it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.base.constants import AuthError
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login as begin_session
from django.urls import reverse

from people import audit
from people.linking import give_roles, is_of_allowed_domain, roles_said
from people.single_sign_on.refusals import refused
from people.throttling import client_address

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts of the site: no e-mail is sent, and no page of the library is shown."""

    def login(self, request: HttpRequest, user: User) -> None:
        """Begin the session and write it down."""
        begin_session(request, user, backend=settings.AUTHENTICATION_BACKENDS[-1])
        audit.note(user, "sign_in", f"user:{user.pk}", how="single sign-on", address=client_address(request))

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        """Say that the account is shut off."""
        return refused(request, "Your account on this site is shut off. Ask an administrator of this site.")

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        """Say how linking ended; the library's other sentences are not shown."""
        name = settings.OIDC_NAME
        if message_template == "socialaccount/messages/account_connected_other.txt":
            messages.error(
                request, f"That account of {name} belongs to another person here. Nothing was changed."
            )
        elif message_template and "account_connected" in message_template:
            messages.info(request, f"You can sign in through {name} from now on.")
            audit.note(request.user, "identity_linked", f"user:{request.user.pk}")

    def send_mail(self, template_prefix: str, email: str, context: Any) -> None:
        """Nothing: the log of the site says what happened."""


class Identities(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Who may come in with an identity that was checked."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Refuse who may not come in; an account that exists is found by the provider's number alone."""
        claims = sociallogin.account.extra_data["userinfo"]
        # The library would look for accounts with the same address.
        sociallogin.email_addresses = []
        if not is_of_allowed_domain(claims):
            domains = ", ".join(settings.OIDC_DOMAINS)
            _refuse(request, f"Only people with a confirmed e-mail address of {domains} may sign in here.")
        roles = roles_said(claims)
        if roles is not None and not roles:
            _refuse(
                request, f"{settings.OIDC_NAME} gives you no role on this site. Ask an administrator of it."
            )
        is_sign_in = sociallogin.state.get("process") != "connect"
        if roles is not None and is_sign_in and sociallogin.is_existing:
            give_roles(sociallogin.user, roles)

    def authenticate_by_email(self, sociallogin: Any) -> None:
        """Nobody: an e-mail address proves nothing about an account of this site."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Tell whether somebody unknown gets an account; where not, the answer says what to do."""
        if not settings.OIDC_NEW_ACCOUNTS:
            _refuse(
                request,
                "You have no account on this site, or it is not linked yet. Ask an administrator for one, sign in "
                "with its password and link it on your account page.",
            )
        return True

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Always: there is no form in between."""
        return True

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        """Make the account, under a name that nobody has, with the roles that the provider gives."""
        user: User = super().save_user(request, sociallogin, form)
        roles = roles_said(sociallogin.account.extra_data["userinfo"])
        if roles is not None:
            give_roles(user, roles)
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        """Return the account page."""
        return reverse("people:account")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Any = None,
        extra_context: Any = None,
    ) -> None:
        """Answer with a sentence of ours instead of the library's page."""
        name = settings.OIDC_NAME
        if error == AuthError.CANCELLED:
            _refuse(request, f"You did not finish signing in at {name}. Nothing was changed.")
        logging.getLogger(__name__).info("Single sign-on failed: %r", exception)
        raise ImmediateHttpResponse(
            refused(
                request,
                f"What {name} answered does not belong to a sign-in that you began here in the last ten minutes, "
                "or could not be verified. Begin again.",
                reason=repr(exception),
            )
        )


def _refuse(request: HttpRequest, sentence: str) -> None:
    raise ImmediateHttpResponse(refused(request, sentence))
