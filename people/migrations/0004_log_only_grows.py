"""Let the database itself refuse to change or remove an entry of the log."""

from django.db import migrations

SQLITE = {
    "people_auditentry_no_update": """
        CREATE TRIGGER people_auditentry_no_update BEFORE UPDATE ON people_auditentry
        BEGIN SELECT RAISE(ABORT, 'An audit entry is never changed.'); END
    """,
    "people_auditentry_no_delete": """
        CREATE TRIGGER people_auditentry_no_delete BEFORE DELETE ON people_auditentry
        BEGIN SELECT RAISE(ABORT, 'An audit entry is never removed.'); END
    """,
}
POSTGRESQL = (
    """
    CREATE OR REPLACE FUNCTION people_auditentry_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'An audit entry is never changed and never removed.'; END $$
    """,
    """
    CREATE TRIGGER people_auditentry_only_grows BEFORE UPDATE OR DELETE ON people_auditentry
    FOR EACH ROW EXECUTE FUNCTION people_auditentry_refuse()
    """,
)


def refuse_changes(apps, schema_editor):
    statements = {"sqlite": tuple(SQLITE.values()), "postgresql": POSTGRESQL}
    for statement in statements[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


def allow_changes(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for name in SQLITE:
            schema_editor.execute(f"DROP TRIGGER {name}", params=None)
    else:
        schema_editor.execute("DROP TRIGGER people_auditentry_only_grows ON people_auditentry", params=None)
        schema_editor.execute("DROP FUNCTION people_auditentry_refuse()", params=None)


class Migration(migrations.Migration):
    dependencies = [("people", "0003_tokens_and_log")]

    operations = [migrations.RunPython(refuse_changes, allow_changes)]
