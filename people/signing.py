"""Sign in and out, and change a password: each is written down, and guessing is slowed down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from people import audit
from people.roles import RoleMissing
from people.throttling import client_address, locked_until

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.auth.forms import AuthenticationForm


class SignIn(LoginView):
    """The form, and beside it the way through another provider where one is configured."""

    template_name = "sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check a name and a password; refused where local passwords are turned off."""
        if not settings.LOCAL_PASSWORDS:
            raise Http404("Local passwords are turned off.")
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Begin the session and write it down."""
        answer = super().form_valid(form)
        audit.note(form.get_user(), "sign_in", _account(form.get_user()), **_from(self.request))
        return answer

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Say the same for a wrong password, an unknown name and an account that is shut off."""
        name = form.cleaned_data.get("username", "")
        until = locked_until(self.request, name)
        known = User.objects.filter(username=name).first() if name else None
        # A name that nobody has may be a password in the wrong field, so it is not written down.
        subject = _account(known) if known is not None else "user:unknown"
        if until:
            # Once a while: whoever hammers at a closed door does not fill the log.
            audit.note_once(None, "sign_in_locked", subject, **_from(self.request))
        else:
            audit.note(None, "sign_in_failed", subject, **_from(self.request))
        context = self.get_context_data(form=form, locked=_try_again(until) if until else "")
        answer = self.render_to_response(context, status=429 if until else 200)
        if until:
            answer["Retry-After"] = str(_seconds_until(until))
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Tell the page whether there are passwords, and through whom one may sign in besides."""
        ways = {"local_passwords": settings.LOCAL_PASSWORDS, "provider_name": settings.OIDC_NAME}
        return super().get_context_data(**kwargs) | ways


class SignOut(LogoutView):
    """End the session and write it down."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Only a form ends a session, never a link."""
        if request.user.is_authenticated:
            audit.note(request.user, "sign_out", _account(request.user))
        return super().post(request, *args, **kwargs)


sign_in = SignIn.as_view()
sign_out = SignOut.as_view()


@login_not_required
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Lead to the one sign-in page: what holds there then holds for the tables too."""
    following = request.GET.get("next", reverse("admin:index"))
    if not request.user.is_authenticated:
        return redirect(f"{reverse('sign_in')}?{urlencode({'next': following})}")
    if not request.user.is_staff:
        raise RoleMissing("The tables are for administrators of this site.")
    return redirect("admin:index")


class OwnPasswordForm(PasswordChangeForm):
    """The password so far, and the new one twice; wrong ones count as failed sign-ins."""

    def __init__(self, user: User, data: Any = None, *, request: HttpRequest) -> None:
        super().__init__(user, data)
        self.request = request
        self.locked_until: datetime | None = None

    def clean_old_password(self) -> str:
        """Return it; raises ValidationError with one sentence where it is wrong or too often was."""
        given: str = self.cleaned_data["old_password"]
        name = self.user.get_username()
        if authenticate(self.request, username=name, password=given) is None:
            self.locked_until = locked_until(self.request, name)
            raise ValidationError(
                _try_again(self.locked_until) if self.locked_until else "This is not your password so far."
            )
        return given


@require_http_methods(["GET", "HEAD", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """Change the own password; every other session of this person ends with it."""
    user = request.user
    assert user.is_authenticated  # the middleware lets nobody else in
    if not settings.LOCAL_PASSWORDS or not user.has_usable_password():
        raise Http404("This account has no password here.")
    form = OwnPasswordForm(user, request.POST if request.method == "POST" else None, request=request)
    if request.method == "POST" and form.is_valid():
        form.save()
        # Sessions carry a hash of the password: this one gets the new hash, all others end.
        update_session_auth_hash(request, user)
        audit.note(user, "password", _account(user), **_from(request))
        messages.info(request, "Your password is changed. You are signed out everywhere else.")
        return redirect("people:account")
    if form.errors:
        audit.note(user, "password_refused", _account(user), **_from(request))
    status = 429 if form.locked_until else 422 if form.errors else 200
    answer = render(
        request,
        "people/password.html",
        {"area": "account", "form": form, "rules": password_validators_help_texts()},
        status=status,
    )
    if form.locked_until:
        answer["Retry-After"] = str(_seconds_until(form.locked_until))
    return answer


def _account(user: Any) -> str:
    return f"user:{user.pk}"


def _from(request: HttpRequest) -> dict[str, str]:
    return {"address": client_address(request)}


def _try_again(until: datetime) -> str:
    at = timezone.localtime(until)
    return (
        f"Too many wrong tries. Try again after {at:%H:%M} ({settings.TIME_ZONE}), "
        "or ask an administrator of this site."
    )


def _seconds_until(moment: datetime) -> int:
    return max(1, round((moment - timezone.now()).total_seconds()))
