"""People in the admin: a change of roles is written down, and the log can be read, not written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.utils import timezone

from people import audit, tokens
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


@admin.register(AuditEntry)
class AuditEntryAdmin(_AuditAdmin):
    """What was done, by whom and when."""

    list_display = ["at", "username", "act", "subject"]
    list_filter = ["act"]
    search_fields = ["username", "subject"]
    date_hierarchy = "at"
    show_full_result_count = False

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
