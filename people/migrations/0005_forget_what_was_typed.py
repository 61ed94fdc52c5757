"""Remove counted sign-in failures of earlier versions: what was typed stood beside them."""

from django.db import migrations


def forget(apps, schema_editor):
    # They count for some minutes only; whoever was locked out may try again at once.
    apps.get_model("axes", "AccessAttempt").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("people", "0004_log_only_grows"), ("axes", "0010_accessattemptexpiration")]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
