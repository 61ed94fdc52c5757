"""People in the admin: the log can be read, not written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from people.models import AuditEntry, Preferences

if TYPE_CHECKING:
    _AuditAdmin = admin.ModelAdmin[AuditEntry]
    _PreferencesAdmin = admin.ModelAdmin[Preferences]
else:
    _AuditAdmin = _PreferencesAdmin = admin.ModelAdmin


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


@admin.register(Preferences)
class PreferencesAdmin(_PreferencesAdmin):
    """What each person has set."""

    list_display = ["user", "uses_keys"]
    raw_id_fields = ["user"]
