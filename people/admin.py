"""People in the admin: a change of roles is written down, and the log can be read, not written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.utils import timezone

from people import audit, tokens
from people.hiding import hidden_runs
from people.models import ApiToken, AuditEntry, Preferences
from people.roles import roles_now

if TYPE_CHECKING:
    _AuditAdmin = admin.ModelAdmin[AuditEntry]
    _TokenAdmin = admin.ModelAdmin[ApiToken]
    _PreferencesAdmin = admin.ModelAdmin[Preferences]
    _UserAdmin = UserAdmin[User]
else:
    _AuditAdmin = _TokenAdmin = _PreferencesAdmin = admin.ModelAdmin
    _UserAdmin = UserAdmin


admin.site.unregister(User)
if settings.OIDC_ISSUER:
    # A provider is named by the environment alone, and the site keeps no tokens of it.
    for _name in ("SocialApp", "SocialToken"):
        admin.site.unregister(apps.get_model("socialaccount", _name))


@admin.register(User)
class PersonAdmin(_UserAdmin):
    """Accounts; whose roles changed, by whom and from what to what goes into the log."""

    def save_model(self, request: Any, obj: Any, form: Any, change: Any) -> None:
        """Keep the roles as they were before the change."""
        form.roles_before = roles_now(obj.pk) if change else frozenset()
        super().save_model(request, obj, form, change)

    def save_related(self, request: Any, form: Any, formsets: Any, change: Any) -> None:
        """Groups are saved here, so that only now the roles are known."""
        super().save_related(request, form, formsets, change)
        after = roles_now(form.instance.pk)
        if after != form.roles_before:
            audit.note(
                request.user,
                "roles",
                f"user:{form.instance.pk}",
                username=form.instance.get_username(),
                before=sorted(form.roles_before),
                after=sorted(after),
            )

    def user_change_password(self, request: Any, id: str, form_url: str = "") -> Any:  # noqa: A002 - Django names it so
        """Set somebody's password, which ends that person's sessions, and write down that it was done."""
        answer = super().user_change_password(request, id, form_url)
        if request.method == "POST" and answer.status_code == 302:
            audit.note(request.user, "password_set", f"user:{id}")
        return answer

    def delete_model(self, request: Any, obj: Any) -> None:
        """Remove an account; its name stays in the log."""
        audit.note(request.user, "account_removed", f"user:{obj.pk}", username=obj.get_username())
        super().delete_model(request, obj)

    def delete_queryset(self, request: Any, queryset: Any) -> None:
        """Remove several."""
        for account in queryset:
            audit.note(request.user, "account_removed", f"user:{account.pk}", username=account.get_username())
        super().delete_queryset(request, queryset)


@admin.register(AuditEntry)
class AuditEntryAdmin(_AuditAdmin):
    """What was done, by whom and when."""

    list_display = ["at", "username", "act", "subject"]
    list_filter = ["act"]
    search_fields = ["username", "subject"]
    date_hierarchy = "at"
    show_full_result_count = False

    def has_view_permission(self, request: Any, obj: AuditEntry | None = None) -> bool:
        """Only who is not blind at the moment may read who gave which mark."""
        return super().has_view_permission(request, obj) and not hidden_runs(request.user)

    def has_add_permission(self, request: Any) -> bool:
        """Nobody writes into the log by hand."""
        return False

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        """An entry is never changed."""
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        """An entry is never removed."""
        return False


@admin.register(ApiToken)
class ApiTokenAdmin(_TokenAdmin):
    """Whose programs sign in; a token is made by its person alone, and revoked here where need be."""

    list_display = ["name", "user", "hint", "scopes", "expires_at", "last_used_at", "revoked_at"]
    list_filter = ["revoked_at"]
    search_fields = ["name", "user__username"]
    list_select_related = ["user"]
    actions = ["revoke"]
    exclude = ["digest"]

    @admin.action(description="Revoke the selected tokens")
    def revoke(self, request: Any, queryset: Any) -> None:
        """End them at once."""
        for token in queryset.select_related("user"):
            tokens.revoke(token, by=request.user, now=timezone.now())

    def has_add_permission(self, request: Any) -> bool:
        """Nobody makes a token for somebody else."""
        return False

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        """A token that could be changed could be widened."""
        return False


@admin.register(Preferences)
class PreferencesAdmin(_PreferencesAdmin):
    """What each person has set."""

    list_display = ["user", "uses_keys"]
    raw_id_fields = ["user"]
